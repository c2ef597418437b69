"""Building the views of a region: fresh indices, merging, and what outputs have in common.

Rules: ``docs/spec/fusion.md`` §2.1.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from enum import Enum

from fuseloom.dataflow.fusion.carried import carriers
from fuseloom.dataflow.fusion.sharing import shareable
from fuseloom.dataflow.fusion.views import Instance, Leaf, Reduction, Shifts, View, walk
from fuseloom.errors import LoweringError
from fuseloom.program.primes import unused
from fuseloom.program.types import Program, Statement
from fuseloom.program.walks import Steps, unwound
from fuseloom.wording import counted

FEW_VIEWS, VIEWS_PER_STATEMENT = 200, 8
"""A region may have so many views, and so many more per statement.  A statement has a view for each
way in which what reads it iterates: chains of products that read a result twice double them."""


class SharingPreference(Enum):
    """The sharing between the uses of a region's tensors; the order is that of preference.

    Each level leaves out what the one before it has: views that trees of several outputs share,
    indices of outputs, and at last reductions that share an index with what surrounds them.
    """

    ALL = "indices and views"
    OUTPUTS = "indices of outputs"
    NOTHING = "nothing among outputs"
    APART = "nothing, nor reductions with what surrounds them"

    def less(self, outputs: int) -> tuple[SharingPreference, ...]:
        """The levels with less in common that make a difference to so many outputs."""
        levels = list(SharingPreference)
        rest = levels[levels.index(self) + 1 :]
        return tuple(rest if outputs > 1 else rest[-1:])


_Key = tuple[str, tuple[str, ...], Shifts]


class TooManyViewsError(LoweringError):
    """A region that would compute its results over and over in too many places."""


class _ViewBuilder:
    """Builds the views of one region; ``shared`` fixes names of reduction indices."""

    def __init__(
        self,
        program: Program,
        statements: tuple[Statement, ...],
        merge: bool,
        shared: dict[Reduction, str],
        share: SharingPreference,
    ) -> None:
        self.program = program
        self.producers = {s.out.tensor: s for s in statements}
        self.merge = merge
        self.shared = shared
        self.share = share
        self.carriers = carriers(statements)
        self.shown: dict[tuple[int, int], str] = {}  # a carrier and how many times over: its name
        self.extents: dict[str, int] = {}
        self.latest: dict[str, str] = {}  # by an index of the program, its latest name
        self.taken: set[str] = set()  # names that mean something in the tree being built
        self.tree = 0  # number of the output whose tree is being built
        self.memo: dict[_Key, View] = {}
        self.earlier: dict[_Key, View] = {}  # views of the trees of other outputs
        self.count = 0

    def fresh(self, tensor: str, index: str) -> str:
        """A name that is new to the tree being built, for an index of a statement.

        Which index it is follows from what carries it; only how it is shown from its name in the
        program.
        """
        carrier = self.carriers[tensor][index]
        for again in itertools.count():
            known = self.shown.get((carrier, again))
            if known is None:
                known = self.shown[carrier, again] = self._name(index)
                self.extents[known] = self.program.sizes[tensor][index]
            if known not in self.taken:
                self.taken.add(known)
                return known
        raise AssertionError  # itertools.count has no end

    def _name(self, index: str) -> str:
        """The name, with as few primes as make it new to the region."""
        self.latest[index] = name = unused(self.latest.get(index, index), self.extents)
        return name

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

    def view(self, name: str, indices: tuple[str, ...], shifts: Shifts = ()) -> Steps[View]:
        """The view of a tensor at these indices, and all below it."""
        shifts = tuple((x, offset) for x, offset in shifts if x in indices)
        key = (name, indices, shifts)
        if self.merge and key in self.memo:
            return self.memo[key]
        if (found := self._reused(key)) is not None:
            return found
        self.count += 1
        most = FEW_VIEWS + VIEWS_PER_STATEMENT * len(self.producers)
        if self.count > most:
            many = Counter(key[0] for key in (*self.memo, *self.earlier))
            often = next((n for n, _ in many.most_common() if n in self.producers), name)
            raise TooManyViewsError(
                f"fusing {counted(len(self.producers), 'statement')} would compute what some of "
                f"them give in {counted(most, 'place')} and more, {often} most often",
                hint="cut the region, so that what is read several times is written to memory",
            )
        statement = self.producers.get(name)
        if statement is None:
            built: View = Leaf(name, indices, shifts)
        else:
            rename = dict(zip(statement.out.indices, indices, strict=True))
            sizes = self.program.sizes[name]
            reduced = []
            for x in statement.reduced:
                u = self.shared.get((self.tree, name, indices, x))
                if u is None or u in rename.values():
                    u = self.fresh(name, x)
                self.extents.setdefault(u, sizes[x])  # a shared name may not be there yet
                self.taken.add(u)
                rename[x] = u
                reduced.append(u)
            operands: list[View] = []
            inside = self._inner(statement, rename, shifts)
            for a, inner in zip(statement.operands, inside, strict=True):
                operand: View = yield self.view(
                    a.tensor, tuple(rename[x] for x in a.indices), inner
                )
                operands.append(operand)
            renaming = tuple(rename.items())
            built = Instance(statement, indices, tuple(operands), tuple(reduced), renaming, shifts)
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
        # All outputs are named before any reduction index is, so that they are named as the
        # program does.
        named: dict[str, tuple[str, ...]] = {}
        for name in outputs:
            self.taken = set(
                self.extents
                if self.share in (SharingPreference.NOTHING, SharingPreference.APART)
                else ()
            )
            out = self.producers[name].out.indices
            named[name] = tuple(self.fresh(name, x) for x in out)
        result = []
        for self.tree, (name, indices) in enumerate(named.items()):
            self.taken = set(indices if self.share is SharingPreference.ALL else self.extents)
            self.earlier |= self.memo
            self.memo = {}
            root = unwound(self.view(name, indices))
            assert isinstance(root, Instance)
            result.append(root)
        return tuple(result)


def build_views(
    program: Program,
    statements: tuple[Statement, ...],
    outputs: tuple[str, ...],
    *,
    merge: bool = True,
    share: SharingPreference = SharingPreference.ALL,
) -> tuple[tuple[Instance, ...], dict[str, int]]:
    """Build the fused form of a region.

    Parameters
    ----------
    merge : bool
        Share views of the same tensor with the same indices.
    share : SharingPreference
        Which indices that the region's tensors carry (:mod:`fuseloom.dataflow.fusion.carried`) the
        trees of several outputs have in common.  But for the last level, a reduction index is
        also identified with one of the surrounding statements where both run over the same
        intermediate (``max_u S[i,u]`` beside ``S[i,m]``: u becomes m), so that a softmax holds
        one copy of its logits, not four.

    Returns
    -------
    roots : tuple of Instance
        One per output.
    extents : dict
        Size of every index variable, in order of first appearance.
    """
    shared: dict[Reduction, str] = {}
    while True:
        builder = _ViewBuilder(program, statements, merge, shared, share)
        roots = builder.roots(outputs)
        found = shareable(roots, shared) if share is not SharingPreference.APART else None
        if found is None:
            return roots, builder.extents
        shared[found[0]] = found[1]
