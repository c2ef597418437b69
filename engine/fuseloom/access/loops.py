"""Nests of loops over buffers: views that are copied, multiplied, reduced and padded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

from fuseloom.access.meaning import require_room
from fuseloom.access.shapes import Dims
from fuseloom.access.views import (
    ElementView,
    TupleView,
    added,
    aligned,
    elements,
    of_buffer,
    part_of,
    plus,
    steps,
    times,
)
from fuseloom.codegen.imperative import (
    ArrayParameter,
    BinaryOperation,
    Command,
    ElementAccess,
    Expr,
    For,
    Increase,
    Int,
    Put,
    Real,
    Routine,
    Set,
    Var,
    every,
)

TOGETHER = 8
"""Nests of loops in a routine."""
SUM = "total"
LEAST = BinaryOperation("*", Real(-1e308), Real(10.0))
"""Minus infinity."""
LEAST_LANES = 4
"""The smallest extent whose loop runs innermost: vectors of four float64 are common."""
MOST_LANES = 64
"""The largest such loop: ``CHUNK`` rows of as many elements are 4 KiB, which stay in L1."""
LINE = 8
"""Elements of a cache line, which are copied together where neighbours do not stay neighbours."""
CHUNK = 8
"""Products that are summed before a result is stored; fewer stores, and registers suffice."""
MOST_IN_CHUNK = 12
"""The largest chunk that is made of whole dimensions."""
TILE = 4096
"""Results that are visited again and again for chunk after chunk: 32 KiB, in L1 or L2."""
PACKED_FROM = 8
"""Reads of a copied element from which the copy is worth it."""
MOST_PACKED = 2**24
"""The most elements that are copied to be read in order: 128 MiB."""


_Tile: TypeAlias = Mapping[int, tuple[Expr, int]]
"""Per dimension, the outermost first, where a tile begins and how many elements it has."""


@dataclass(frozen=True)
class ResultPlace:
    """Places for results.

    Attributes
    ----------
    view : ElementView
        Each element is a place of a buffer, and no two are the same.
    add : bool
        Whether they are added to what is there.
    """

    view: ElementView
    add: bool = False


@dataclass(frozen=True)
class _FactorProduct:
    """Factors and their target, read by indices of the same extents.

    Attributes
    ----------
    factors : list of ElementView
        Indices of the target, then those that are summed over.
    place : ElementView
    add : bool
    outer, inner : tuple of int
        Extents of the target, and those that are summed over.
    """

    factors: list[ElementView]
    place: ElementView
    add: bool
    outer: Dims
    inner: Dims

    def term(self, indices: Sequence[Expr]) -> Expr:
        return every("*", [factor.read(indices) for factor in self.factors])


class LoopNests:
    """Nests of loops, one after another, each of which fills a buffer or a part of one.

    Parameters
    ----------
    given : sequence of str
        Names of the arrays that are there before.

    Attributes
    ----------
    buffers : dict
        Names of the buffers, and their elements.

    Examples
    --------
    >>> nests = LoopNests(["r0"])
    >>> nests.reduced([of_buffer("r0", (2, 3))], (2,), largest=False).buffer
    'r1'
    >>> (routine,) = nests.routines()
    >>> nests.buffers, [(array.name, array.written) for array in routine.arrays]
    ({'r1': 2}, [('r0', False), ('r1', True)])
    """

    def __init__(self, given: Sequence[str]) -> None:
        self.given = tuple(given)
        self.buffers: dict[str, int] = {}
        self._body: list[Command] = []
        self._variables = 0

    def routines(self) -> tuple[Routine, ...]:
        """All nests, some per routine: compilers take long for long ones."""
        starts = range(0, len(self._body), TOGETHER)
        return tuple(self._routine(tuple(self._body[k : k + TOGETHER])) for k in starts)

    def _routine(self, body: tuple[Command, ...]) -> Routine:
        used = _arrays(body)
        arrays = [
            ArrayParameter(name, True, name in self.buffers)
            for name in (*self.given, *self.buffers)
            if name in used
        ]
        return Routine((), tuple(arrays), (SUM,), body)

    def buffer(self, dims: Dims) -> ElementView:
        """A new buffer."""
        require_room("a buffer", prod(dims))
        name = f"r{len(self.given) + len(self.buffers)}"
        self.buffers[name] = max(prod(dims), 1)
        return of_buffer(name, dims)

    def _variable(self) -> str:
        self._variables += 1
        return f"v{self._variables - 1}"

    def _loops(self, dims: Dims, body: Callable[[list[Expr]], list[Command]]) -> list[Command]:
        """Commands in loops over all indices; an extent of 1 needs none."""
        names = ["" if extent == 1 else self._variable() for extent in dims]
        commands = body([Var(name) if name else Int(0) for name in names])
        for name, extent in reversed(list(zip(names, dims, strict=True))):
            if name:
                commands = [For(name, Int(0), Int(extent), tuple(commands))]
        return commands

    def plain(self, view: ElementView | TupleView) -> ElementView:
        """A view with an index per dimension: tuples, and what is flattened, are copied."""
        if isinstance(view, ElementView):
            return self.filled([view], view.dims, 0) if view.groups else view
        rest, axis = view.parts[0].dims, view.axis
        made = self.buffer((*rest[:axis], len(view.parts), *rest[axis:]))
        for part, place in zip(view.parts, elements(made, axis), strict=True):
            self.put(part, ResultPlace(place))
        return made

    def filled(self, views: Sequence[ElementView], dims: Dims, number: int) -> ElementView:
        """Views one after the other along a dimension, in a buffer of their own."""
        made = self.buffer(dims)
        start = 0
        for view in views:
            self._put_from(view, made, number, start)
            start += view.dims[number] if view.dims else 0
        return made

    def _put_from(self, view: ElementView, made: ElementView, number: int, start: int) -> None:
        place = part_of(made, view.dims, number, start)
        assert place is not None
        self.put(view, ResultPlace(place))

    def padded(
        self, view: ElementView, dims: Dims, number: int, before: int, value: Expr
    ) -> ElementView:
        """A view with a value before and behind it along a dimension, in a buffer of its own."""
        made = self.buffer(dims)
        self.put(ElementView(dims, lambda _: value), ResultPlace(made))
        self._put_from(view, made, number, before)
        return made

    def put(self, view: ElementView, target: ResultPlace) -> None:
        """Copy a view, or add it; neighbours in the target come after each other."""
        made = self._product([view], target)
        extents, source = made.outer, made.factors[0]
        (apart,) = steps(made.place)
        order = sorted(range(len(extents)), key=lambda k: -apart[k])
        sizes = list(extents)
        if order and not source.keeps_order(order[-1]):
            near = [k for k in order[:-1] if any(moves[k] == 1 for moves in steps(source))]
            if near and extents[near[-1]] >= LINE:
                sizes[near[-1]] = LINE
                order.remove(near[-1])
                order.append(near[-1])

        def element(indices: list[Expr]) -> Command:
            return _store(made.place, indices, [made.term(indices)], made.add)

        self._body += self._blocks(
            [(k, sizes[k]) for k in order], extents, lambda tile: self._through(tile, element)
        )

    def reduced(
        self,
        views: Sequence[ElementView],
        access: Dims,
        *,
        largest: bool,
        target: ResultPlace | None = None,
    ) -> ElementView:
        """Sums, or largest values, over all but the access dimensions of several views."""
        target = target or ResultPlace(self.buffer(access))
        if largest:
            self._totals([self._product([view], target) for view in views], largest=True)
        else:
            for number, view in enumerate(views):
                self.summed([view], access, ResultPlace(target.view, target.add or number > 0))
        return target.view

    def summed(
        self, factors: Sequence[ElementView], access: Dims, target: ResultPlace | None = None
    ) -> ElementView:
        """Products of the elements of several views, summed over all but the access dimensions.

        The innermost loop runs through neighbours in the target where the factors' elements are
        neighbours too, or are copied once to become it and are read often; else through what is
        summed.
        """
        target = target or ResultPlace(self.buffer(access))
        made = self._product(factors, target)
        lane = _lane(made)
        if lane is None:
            self._totals([made], largest=False)
            return target.view
        factors = [f if f.keeps_order(lane) else self._packed(made, f, lane) for f in made.factors]
        made = _FactorProduct(factors, made.place, made.add, made.outer, made.inner)
        self._body += self._tiles(made, lane)
        return target.view

    def _product(self, factors: Sequence[ElementView], target: ResultPlace) -> _FactorProduct:
        """Factors and target by common indices; flattened factors are copied if there are none."""
        made = aligned([*factors, target.view])
        if made is None:
            made = aligned([*map(self.plain, factors), target.view])
            assert made is not None
        *parts, place = made
        inner = parts[0].extents[len(place.extents) :]
        return _FactorProduct(parts, place, target.add, place.extents, inner)

    def _packed(self, made: _FactorProduct, factor: ElementView, lane: int) -> ElementView:
        """A copy of a factor in which the elements of a lane are neighbours."""
        extents = made.outer + made.inner
        order = [k for k in factor.uses() if k != lane] + [lane]
        dims = tuple(extents[k] for k in order)

        def read(x: Sequence[Expr]) -> Expr:
            return factor.read([x[order.index(k)] if k in order else Int(0)
                                for k in range(len(extents))])  # fmt: skip

        copy = self.buffer(dims)
        self.put(ElementView(dims, read), ResultPlace(copy))
        return ElementView(extents, lambda x: copy.read([x[k] for k in order]))

    def _totals(self, parts: Sequence[_FactorProduct], *, largest: bool) -> None:
        """Sums, or largest values, one after the other, each in a variable."""
        place, add, access = parts[0].place, parts[0].add, parts[0].outer

        def position(outer: list[Expr]) -> list[Command]:
            commands: list[Command] = [Set(SUM, LEAST if largest else Real(0.0))]
            for part in parts:

                def more(inner: list[Expr], part: _FactorProduct = part) -> list[Command]:
                    value = part.term([*outer, *inner])
                    if largest:
                        return [Set(SUM, maximum(Var(SUM), value))]
                    return [Increase(SUM, value)]

                commands += self._loops(part.inner, more)
            return [*commands, _store(place, outer, [Var(SUM)], add)]

        self._body += self._loops(access, position)

    def _tiles(self, made: _FactorProduct, lane: int) -> list[Command]:
        """Loops over tiles of the target, which stay near while chunk after chunk is added."""
        rows = _rows(made, lane)
        sizes = {lane: min(made.outer[lane], MOST_LANES)}
        room = TILE // sizes[lane]
        for k in reversed(rows):
            sizes[k] = max(min(made.outer[k], room), 1)
            room //= sizes[k]
        return self._blocks(
            [(k, sizes[k]) for k in (*rows, lane)], made.outer, lambda tile: self._tile(made, tile)
        )

    def _blocks(
        self,
        sizes: Sequence[tuple[int, int]],
        extents: Dims,
        body: Callable[[_Tile], list[Command]],
        tile: _Tile | None = None,
    ) -> list[Command]:
        """Loops over blocks of dimensions, and over what is left of each."""
        tile = tile or {}
        if not sizes:
            return body(tile)
        (k, size), *rest = sizes
        whole, left = divmod(extents[k], size)

        def block(start: Expr, size: int) -> list[Command]:
            return self._blocks(rest, extents, body, {**tile, k: (start, size)})

        commands = self._loops((whole,), lambda x: block(times(x[0], size), size)) if whole else []
        return [*commands, *(block(Int(whole * size), left) if left else [])]

    def _through(self, tile: _Tile, body: Callable[[list[Expr]], Command]) -> list[Command]:
        """A command in loops over a tile, of which the last dimension is the innermost."""

        def element(x: list[Expr]) -> list[Command]:
            indices = {k: added(tile[k][0], within) for k, within in zip(tile, x, strict=True)}
            return [body([indices[k] for k in range(len(tile))])]

        return self._loops(tuple(size for _, size in tile.values()), element)

    def _tile(self, made: _FactorProduct, tile: _Tile) -> list[Command]:
        """All chunks of a tile; the first one is stored, and the others are added."""
        inner, most = made.inner, _chunk(made.inner)

        def chunk(blocks: list[Expr], sizes: list[int], *, add: bool) -> list[Command]:
            def element(indices: list[Expr]) -> Command:
                terms = [
                    made.term([*indices, *map(plus, blocks, step)])
                    for step in product(*map(range, sizes))
                ]
                return _store(made.place, indices, terms, add)

            return self._through(tile, element)

        def chunks(blocks: list[Expr], sizes: list[int], *, add: bool) -> list[Command]:
            k = len(blocks)
            if k == len(inner):
                return chunk(blocks, sizes, add=add)
            size = most[k]
            whole, left = divmod(inner[k], size)
            later = [] if add else chunks([*blocks, Int(0)], [*sizes, size], add=False)
            first = 0 if add else 1
            if whole > first:
                later += self._loops(
                    (whole - first,),
                    lambda x: chunks(
                        [*blocks, times(plus(x[0], first), size)], [*sizes, size], add=True
                    ),
                )
            if left:
                later += chunks([*blocks, Int(whole * size)], [*sizes, left], add=True)
            return later

        return chunks([], [], add=made.add)


def maximum(left: Expr, right: Expr) -> Expr:
    """The larger of two values.

    Examples
    --------
    >>> maximum(Var("x"), Real(0.0)).op
    'max'
    """
    return BinaryOperation("max", left, right)


def _store(view: ElementView, indices: Sequence[Expr], terms: list[Expr], add: bool) -> Put:
    place = view.read(indices)
    assert isinstance(place, ElementAccess)
    return Put(place.array, place.index, every("+", [place, *terms] if add else terms))


def _lane(made: _FactorProduct) -> int | None:
    """The dimension of the target that the innermost loop runs through; None: what is summed."""
    extents = made.outer + made.inner
    (apart,) = steps(made.place)
    for k, extent in enumerate(made.outer):
        if extent < LEAST_LANES or apart[k] != 1:
            continue
        for factor in made.factors:
            if factor.keeps_order(k):
                continue
            used = factor.uses()
            reads = prod(n for j, n in enumerate(made.outer) if j not in used)
            if reads < PACKED_FROM or prod(extents[j] for j in used) > MOST_PACKED:
                break
        else:
            return k
    return None


def _rows(made: _FactorProduct, lane: int) -> list[int]:
    """The other dimensions; last those that change only what lanes have in common.

    Compilers jam such loops, so that an element of a lane is loaded for several rows at once.
    """
    common = [factor for factor in made.factors if lane not in factor.uses()]
    changing = set().union(*(factor.uses() for factor in common))
    rows = [k for k in range(len(made.outer)) if k != lane]
    return sorted(rows, key=lambda k: k in changing)


def _chunk(inner: Dims) -> list[int]:
    """Per dimension how many elements of it are summed at once; the last ones whole."""
    sizes = [1] * len(inner)
    for k in reversed(range(len(inner))):
        count = prod(sizes)
        if count * inner[k] > MOST_IN_CHUNK:
            sizes[k] = max(CHUNK // count, 1)
            break
        sizes[k] = inner[k]
    return sizes


def _arrays(command: Any) -> set[str]:
    """Names of the arrays that commands and expressions touch."""
    if isinstance(command, tuple):
        return set().union(*map(_arrays, command))
    if not is_dataclass(command):
        return set()
    own = {command.array} if isinstance(command, ElementAccess | Put) else set()
    return own.union(*(_arrays(getattr(command, field.name)) for field in fields(command)))
