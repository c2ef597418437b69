"""The expected work of a loop nest on a CPU, and the choice of the cheapest of many nests.

Loops run through what the code's loops run through (:mod:`.kernels.loops`).  Per tensor, the counts
of its levels are exact (:mod:`.occupancy`); coordinates of different tensors are taken to be
independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from math import log2, prod

from fuseloom.contraction.kernels.loops import split, touches_few
from fuseloom.contraction.kernels.parts import pruned
from fuseloom.contraction.kernels.references import Bound, Key, bind
from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, Where, workspaces
from fuseloom.contraction.occupancy import Occupancy, suitable_levels
from fuseloom.contraction.tree import ContractionTree
from fuseloom.program import Access, LevelFormat

NEAR, FAR = 2**15, 2**20
"""Bytes that the first and the second cache hold."""
LINE = 64
PAGE, PAGES = 4096, 64
"""Bytes of a page, and how many of them a processor finds at once."""
WORD = 8


@dataclass(frozen=True)
class Amounts:
    """The amount of each kind of work.

    Attributes
    ----------
    enter : float
        Loops that are entered.
    step : float
        Steps of loops over the coordinates of a compressed level.
    dense_step : float
        Steps of loops over all of an index.
    search : float
        Steps in which a level's coordinates are searched for another's.
    product : float
        Multiplications that add to elements one after the other, several at a time.
    scatter : float
        Those that add to elements here and there.
    add_up : float
        Those that add to one number, one after the other.
    near, far : float
        Lines that come from the second cache, and from beyond it or from one page after another.
    clear : float
        Elements that are emptied.
    """

    enter: float = 0.0
    step: float = 0.0
    dense_step: float = 0.0
    search: float = 0.0
    product: float = 0.0
    scatter: float = 0.0
    add_up: float = 0.0
    near: float = 0.0
    far: float = 0.0
    clear: float = 0.0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class Weights(Amounts):
    """Nanoseconds of one of each, on one core.

    Found by least squares of relative errors on measured kernels; ``benchmarks/ranking.py`` does it
    again and says how well they do on networks that they were not found on.
    """

    enter: float = 1.8
    step: float = 0.1
    dense_step: float = 0.1
    search: float = 9.0
    product: float = 0.14
    scatter: float = 0.7
    add_up: float = 0.6
    near: float = 0.05
    far: float = 1.0
    clear: float = 0.45

    def nanoseconds(self, amounts: Amounts) -> float:
        """Return the expected time of an amount of work."""
        return float(sum(a * b for a, b in zip(astuple(self), astuple(amounts), strict=True)))


NAMES = tuple(field.name for field in fields(Amounts))


@dataclass(frozen=True)
class NestWork:
    """The expected work of a nest.

    Attributes
    ----------
    products : float
        Multiplications.
    steps : float
        Of all loops.
    cleared : float
        Elements of workspaces that are emptied.
    workspace : int
        Elements of all workspaces together.
    nanoseconds : float
    amounts : Amounts
    """

    products: float
    steps: float
    cleared: float
    workspace: int
    nanoseconds: float
    amounts: Amounts


def work(
    nest: Nest,
    tree: ContractionTree,
    held: Mapping[str, Occupancy],
    weights: Weights | None = None,
    levels: Mapping[str, tuple[LevelFormat, ...]] | None = None,
) -> NestWork:
    """Estimate a nest.

    Parameters
    ----------
    held : mapping
        Occupancy of each given tensor.
    levels : mapping, optional
        Of each given tensor, outermost first; by default those that suit what it holds.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> from fuseloom.contraction.occupancy import occupancies
    >>> tree = binary(from_einsum("ij,j->i", {"i": 20, "j": 20}))
    >>> nest = parse_nest("forall(i, forall(j, R(i) += A(i,j) * B(j)))")
    >>> work(nest, tree, occupancies({"A": np.eye(20), "B": np.ones(20)})).products
    20.0
    """
    bound = bind(nest, tree, suitable_levels(held) if levels is None else levels)
    return _Estimate(bound, held).total(weights or Weights())


@dataclass(frozen=True)
class _Loop:
    """A loop around what is looked at.

    Attributes
    ----------
    index : str
    visits : float
        How often what is within is executed, of all executions of the nest.
    dense : bool
        Whether it runs through all of its index.
    """

    index: str
    visits: float
    dense: bool


class _Estimate:
    def __init__(self, bound: Bound, held: Mapping[str, Occupancy]) -> None:
        self.bound = bound
        self.held = held
        self.extents = bound.tree.extents
        self.products = self.steps = self.cleared = 0.0
        self.amounts = dict.fromkeys(NAMES, 0.0)

    def total(self, weights: Weights) -> NestWork:
        self._visit(self.bound.nest, ())
        made = sum(self._size(a) for a in self.bound.workspaces)
        self.amounts["clear"] += self.cleared + self._size(self.bound.result)
        amounts = Amounts(**self.amounts)
        return NestWork(
            self.products, self.steps, self.cleared, made, weights.nanoseconds(amounts), amounts
        )

    def _size(self, access: Access) -> int:
        return prod(self.extents[x] for x in access.indices)

    def _visit(self, nest: Nest, loops: tuple[_Loop, ...]) -> None:
        """Add up what a part does."""
        match nest:
            case Assign():
                self._assign(nest, loops)
            case Where(consumer=consumer, producer=producer):
                for name in workspaces(nest):
                    self._empty(name, producer, loops)
                self._visit(producer, loops)
                self._visit(consumer, loops)
            case Forall(index=index, body=body):
                for needed, part in split(self.bound, index, body):
                    self._visit(part, (*loops, self._loop(index, needed, part, loops)))

    # -- loops

    def _loop(
        self, index: str, needed: tuple[Key, ...], body: Nest, loops: tuple[_Loop, ...]
    ) -> _Loop:
        visits, extent = _visits(loops), self.extents[index]
        add = self.amounts
        add["enter"] += visits
        around = {loop.index for loop in loops}
        lengths = {key: self._length(key, index, around) for key in needed}
        if not lengths:
            self.steps += visits * extent
            if not isinstance(body, Assign):
                add["dense_step"] += visits * extent
            return _Loop(index, visits * extent, dense=True)
        shortest = min(lengths.values())
        inside = visits * extent
        for length in lengths.values():
            inside *= min(1.0, length / extent)
        self.steps += visits * shortest
        add["step"] += visits * shortest
        for length in sorted(lengths.values())[1:]:
            far = log2(max(2.0, length / max(shortest, 1.0)))
            add["search"] += visits * max(shortest, 1.0) * far
        for key in needed:
            self._read_level(key, index, loops, visits)
        return _Loop(index, inside, dense=False)

    def _access(self, key: Key) -> Access:
        return self.bound.assigns[key[0]].operands[key[1]]

    def _modes(self, key: Key, count: int) -> frozenset[int]:
        layout = self.bound.layouts[key]
        return frozenset(layout.format.mode_order[:count])

    def _length(self, key: Key, index: str, around: set[str]) -> float:
        """Return the average number of coordinates in a fiber, of the fibers that are visited."""
        access, layout = self._access(key), self.bound.layouts[key]
        depth = access.indices.index(index)
        occupancy = self.held[access.tensor]
        count = occupancy.count(self._modes(key, depth + 1))
        if depth == 1 and layout.format.levels[0] is LevelFormat.DENSE:
            return count / self.extents[access.indices[0]]  # those that are empty as well
        parents = occupancy.count(self._modes(key, depth))
        return count / parents if parents else 0.0

    def _read_level(self, key: Key, index: str, loops: tuple[_Loop, ...], visits: float) -> None:
        """Lines of a compressed level that are read again after a loop that it does not have."""
        access = self._access(key)
        depth = access.indices.index(index)
        again = [n for n, loop in enumerate(loops) if loop.index not in access.indices]
        within = {loop.index for loop in loops[max(again, default=-1) + 1 :]}
        occupancy = self.held[access.tensor]
        count = occupancy.count(self._modes(key, depth + 1))
        outside = frozenset(
            self.bound.layouts[key].format.mode_order[n]
            for n, x in enumerate(access.indices[:depth])
            if x not in within
        )
        size = 2 * WORD * count / max(1, occupancy.count(outside))
        self._lines(visits * self._length(key, index, set()) * 2 * WORD / LINE, size)

    # -- assignments

    def _assign(self, assign: Assign, loops: tuple[_Loop, ...]) -> None:
        visits = _visits(loops)
        self.products += visits
        add, out = self.amounts, assign.out.indices
        last = loops[-1] if loops else None
        factors = max(1, len(assign.operands) - 1)
        if last is None or last.index not in out:
            add["add_up"] += visits * factors
        elif last.dense and all(self._runs(access, last.index) for access in self._dense(assign)):
            add["product"] += visits * factors
        else:
            add["scatter"] += visits * factors
        for access in self._dense(assign):
            self._touch(access, loops)

    def _runs(self, access: Access, index: str) -> bool:
        """Return whether a loop visits adjacent elements in memory, or does not index them."""
        return index not in access.indices or access.indices[-1] == index

    def _dense(self, assign: Assign) -> Iterator[Access]:
        """References to dense arrays."""
        yield assign.out
        for place, access in enumerate(assign.operands):
            layout = self.bound.layouts.get((assign.out.tensor, place))
            if layout is None:
                own = self.bound.assigns[access.tensor].out.indices
                yield Access(access.tensor, own)
            elif layout.format.all_dense:
                yield access

    def _touch(self, access: Access, loops: tuple[_Loop, ...]) -> None:
        """Lines of a dense array, by how much of it is used again, and after how much else."""
        own = [n for n, loop in enumerate(loops) if loop.index in access.indices]
        if not own:
            return
        inner = loops[own[-1]]
        touched = inner.visits
        if inner.index == access.indices[-1]:
            touched *= WORD / LINE  # a line's elements one after the other, or most of them
        again = [n for n in range(own[-1]) if loops[n].index not in access.indices]
        first = max(again, default=-1) + 1
        within = [loops[n].index for n in own if n >= first]
        elements = prod(self.extents[x] for x in within)
        size = WORD * elements
        if access.indices[-1] not in within:  # each of them in a line of its own
            size = LINE * elements
            beside = access.indices[access.indices.index(inner.index) + 1 :]
            if WORD * prod(self.extents[x] for x in beside) >= PAGE and elements > PAGES:
                self.amounts["far"] += touched
                return
        outside = loops[first - 1].visits if first else 1.0
        few = LINE * touched / max(outside, 1.0)
        self._lines(touched, min(size, few) if again else size)

    def _lines(self, count: float, size: float) -> None:
        if size > FAR:
            self.amounts["far"] += count
        elif size > NEAR:
            self.amounts["near"] += count

    # -- emptying

    def _empty(self, name: str, producer: Nest, loops: tuple[_Loop, ...]) -> None:
        visits = _visits(loops)
        out = self.bound.assigns[name].out
        if not out.indices:
            self.cleared += visits
            return
        touching = pruned(producer, {name})
        assert touching is not None
        if loops and touches_few(self.bound, name, touching):
            apart = _Estimate(self.bound, self.held)
            apart._visit(touching, loops)
            self.cleared += apart.products
            for kind in ("enter", "step", "dense_step", "scatter"):
                self.amounts[kind] += apart.amounts[kind]
        else:
            self.cleared += visits * self._size(out)


def _visits(loops: tuple[_Loop, ...]) -> float:
    return loops[-1].visits if loops else 1.0
