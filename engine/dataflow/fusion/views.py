"""Views: the fused form of a region as a graph of uses of tensors.

Every use of a stored tensor is a :class:`Leaf`, every use of an intermediate an
:class:`Instance` with its own (fresh) reduction indices.  Source: ``fusion.md`` §2.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.errors import LoweringError
from engine.program.types import Program, Statement

MAX_VIEWS = 5_000


Shifts = tuple[tuple[str, int], ...]
"""Indices that a concat around a view counts from an offset of its own, and that offset."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """One use of a tensor that the region reads from memory."""

    tensor: str
    indices: tuple[str, ...]
    shifts: Shifts = ()

    def __str__(self) -> str:
        return f"{self.tensor}[{','.join(self.indices)}]"


@dataclass(frozen=True, eq=False)
class Instance:
    """One use of a tensor that the region computes.

    Attributes
    ----------
    indices : tuple of str
        Output indices, in the order of the statement's left-hand side.
    reduced : tuple of str
        Reduction indices of this instance, fresh in the region.
    renaming : tuple of (str, str)
        Index names of the statement paired with those of the region.
    shifts : tuple of (str, int)
        Where in a concat's index an operand of it begins, for the indices of this view.
    """

    statement: Statement
    indices: tuple[str, ...]
    operands: tuple[View, ...]
    reduced: tuple[str, ...]
    renaming: tuple[tuple[str, str], ...]
    shifts: Shifts = ()

    @property
    def tensor(self) -> str:
        return self.statement.out.tensor

    @property
    def local(self) -> tuple[str, ...]:
        """L(e) of rule S1: output indices and reductions."""
        return self.indices + self.reduced

    def __str__(self) -> str:
        return f"{self.tensor}[{','.join(self.indices)}]"


@dataclass(frozen=True, eq=False)
class Cut(Instance):
    """A producer's result re-read as a stream of its own (rule J3 of ``fusion.md`` §3.2).

    ``indices`` are what the consumer sees; ``reduced`` holds the producer's alias of the one
    index whose coordinates must not be filtered by the consumer.
    """

    @property
    def index(self) -> str:
        """The consumer's name of the aliased index."""
        (producer,) = self.operands
        return next(x for x in self.indices if x not in producer.indices)


View = Leaf | Instance


def walk(*roots: View) -> Iterator[View]:
    """Yield every view once, producers before consumers, operands from left to right."""
    seen: set[int] = set()

    def visit(view: View) -> Iterator[View]:
        if id(view) in seen:
            return
        seen.add(id(view))
        if isinstance(view, Instance):
            for operand in view.operands:
                yield from visit(operand)
        yield view

    for root in roots:
        yield from visit(root)


def view_names(roots: tuple[Instance, ...]) -> dict[str, View]:
    """Views by name: the tensor's for its first use, then with primes."""
    names: dict[str, View] = {}
    for view in walk(*roots):
        name = view.tensor
        while name in names:
            name += "'"
        names[name] = view
    return names


def instances(*roots: View) -> tuple[Instance, ...]:
    """The instances among :func:`walk`."""
    return tuple(v for v in walk(*roots) if isinstance(v, Instance))


_Key = tuple[str, tuple[str, ...], Shifts]


class _Builder:
    """Builds the views of one region; ``shared`` fixes names of reduction indices."""

    def __init__(
        self,
        program: Program,
        statements: tuple[Statement, ...],
        merge: bool,
        shared: dict[tuple[str, tuple[str, ...], str], str],
        reuse_names: bool,
    ) -> None:
        self.program = program
        self.producers = {s.out.tensor: s for s in statements}
        self.merge = merge
        self.shared = shared
        self.reuse_names = reuse_names
        self.extents: dict[str, int] = {}
        self.taken: set[str] = set()  # names that mean something in the tree being built
        self.memo: dict[_Key, View] = {}
        self.earlier: dict[_Key, View] = {}  # views of the trees of other outputs
        self.count = 0

    def fresh(self, name: str, size: int) -> str:
        """The name, with as few primes as make it new to the tree being built."""
        candidate, base = name, name.rstrip("'")
        primes = len(name) - len(base)
        while candidate in self.taken or self.extents.get(candidate, size) != size:
            primes += 1
            candidate = base + "'" * primes
        self.extents.setdefault(candidate, size)
        self.taken.add(candidate)
        return candidate

    def _reused(self, key: _Key) -> View | None:
        """A view of another output's tree, if what it is computed over means nothing here."""
        view = self.earlier.get(key)
        if view is None or not self.merge:
            return None
        inside = list(walk(view))
        names = {x for v in inside for x in (v.local if isinstance(v, Instance) else v.indices)}
        if not self.taken.isdisjoint(names.difference(key[1])):
            return None
        self.taken |= names
        for v in inside:
            self.memo.setdefault((v.tensor, v.indices, v.shifts), v)
        return view

    def view(self, name: str, indices: tuple[str, ...], shifts: Shifts = ()) -> View:
        shifts = tuple((x, offset) for x, offset in shifts if x in indices)
        key = (name, indices, shifts)
        if self.merge and key in self.memo:
            return self.memo[key]
        if (found := self._reused(key)) is not None:
            return found
        self.count += 1
        if self.count > MAX_VIEWS:
            raise LoweringError(
                f"fusing this region makes more than {MAX_VIEWS} views",
                hint="fuse fewer statements, or turn view merging on",
            )
        statement = self.producers.get(name)
        if statement is None:
            built: View = Leaf(name, indices, shifts)
        else:
            rename = dict(zip(statement.out.indices, indices, strict=True))
            sizes = self.program.sizes[name]
            reduced = []
            for x in statement.reduced:
                u = self.shared.get((name, indices, x)) or self.fresh(x, sizes[x])
                self.extents.setdefault(u, sizes[x])  # a shared name may not be there yet
                self.taken.add(u)
                rename[x] = u
                reduced.append(u)
            operands = tuple(
                self.view(a.tensor, tuple(rename[x] for x in a.indices), inner)
                for a, inner in zip(
                    statement.operands, self._inner(statement, rename, shifts), strict=True
                )
            )
            renaming = tuple(rename.items())
            built = Instance(statement, indices, operands, tuple(reduced), renaming, shifts)
        self.memo[key] = built
        return built

    def _inner(
        self, statement: Statement, rename: dict[str, str], shifts: Shifts
    ) -> Iterator[Shifts]:
        """The shifts of each operand: along its axis a concat begins each where the last ends."""
        axis = statement.axis
        if axis is None:
            yield from (shifts for _ in statement.operands)
            return
        before = dict(shifts).get(rename[axis], 0)
        for access in statement.operands:
            yield (*(s for s in shifts if s[0] != rename[axis]), (rename[axis], before))
            before += self.program.tensor(access.tensor).shape[access.indices.index(axis)]

    def roots(self, outputs: tuple[str, ...]) -> tuple[Instance, ...]:
        # Outputs share index names where sizes agree, so that they can share streams; all are
        # named before any reduction index is, so that they are named as the program does.
        named: dict[str, tuple[str, ...]] = {}
        for name in outputs:
            sizes = self.program.sizes[name]
            self.taken = set()
            out = self.producers[name].out.indices
            named[name] = tuple(self.fresh(x, sizes[x]) for x in out)
        result = []
        for name, indices in named.items():
            self.taken = set(indices if self.reuse_names else self.extents)
            self.earlier |= self.memo
            self.memo = {}
            root = self.view(name, indices)
            assert isinstance(root, Instance)
            result.append(root)
        return tuple(result)


def build_views(
    program: Program,
    statements: tuple[Statement, ...],
    outputs: tuple[str, ...],
    *,
    merge: bool = True,
    share_reductions: bool = True,
    reuse_names: bool = True,
) -> tuple[tuple[Instance, ...], dict[str, int]]:
    """Build the fused form of a region.

    Parameters
    ----------
    merge : bool
        Share views of the same tensor with the same indices.
    share_reductions : bool
        Also identify a reduction index with an index of the surrounding statements where both
        run over the same intermediate (``max_u S[i,u]`` beside ``S[i,m]``: u becomes m), so
        that a softmax holds one copy of its logits, not four.
    reuse_names : bool
        Give reduction indices of one output's tree names that another tree has used, so that
        both can share views.  Their orders are then constrained together.

    Returns
    -------
    roots : tuple of Instance
        One per output.
    extents : dict
        Size of every index variable, in order of first appearance.
    """
    shared: dict[tuple[str, tuple[str, ...], str], str] = {}
    while True:
        builder = _Builder(program, statements, merge, shared, reuse_names)
        roots = builder.roots(outputs)
        found = _shareable(roots) if share_reductions else None
        if found is None or found[0] in shared:
            return roots, builder.extents
        shared[found[0]] = found[1]


def _shareable(
    roots: tuple[Instance, ...],
) -> tuple[tuple[str, tuple[str, ...], str], str] | None:
    """A reduction index u and the index j of an ancestor it can be identified with.

    Wanted: a reduction over u of an intermediate ``S[..u..]`` below a view that uses
    ``S[..j..]``, the same but for j in u's place, where j means nothing to the reduction yet.
    """

    visited: set[int] = set()

    def search(
        view: Instance, scope: tuple[Instance, ...]
    ) -> tuple[tuple[str, tuple[str, ...], str], str] | None:
        if id(view) in visited:
            return None
        visited.add(id(view))
        scope = (*scope, view)
        for name, u in view.renaming:
            if u not in view.reduced:
                continue
            over = [v for v in view.operands if u in v.indices]
            operand = over[0]
            # Another operand's coordinates would filter what is shared.
            alone = all((v.tensor, v.indices) == (operand.tensor, operand.indices) for v in over)
            if isinstance(operand, Instance) and alone:
                at = operand.indices.index(u)
                for ancestor, below in zip(scope[-2::-1], scope[:0:-1], strict=True):
                    for other in ancestor.operands:
                        if not isinstance(other, Instance) or other.tensor != operand.tensor:
                            continue
                        if other.shifts != operand.shifts:
                            continue
                        j = other.indices[at]
                        rest = other.indices[:at] + other.indices[at + 1 :]
                        same = rest == operand.indices[:at] + operand.indices[at + 1 :]
                        # What leads to the reduction must lack j, or j's coordinates would be
                        # filtered before the reduction sees them (rule J3).
                        if same and j not in view.local and j not in below.indices:
                            return (view.tensor, view.indices, name), j
        for operand in view.operands:
            if isinstance(operand, Instance) and (found := search(operand, scope)):
                return found
        return None

    for root in roots:
        if found := search(root, ()):
            return found
    return None
