"""Candidates for executing some statements as one region: copies, orders, look-ups, lanes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, combinations, islice, permutations, product
from math import inf

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.fusion.classes import NestClass, nest_classes
from fuseloom.dataflow.fusion.directives import Permute, Span
from fuseloom.dataflow.fusion.fuse import fuse_statements, less_shared
from fuseloom.dataflow.fusion.region import FusedRegion, RegionOptions
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.views import Leaf
from fuseloom.dataflow.look_ups import searchable, with_look_ups
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.space.instances import StatementInstances
from fuseloom.dataflow.space.lower_bounds import RecomputationBound
from fuseloom.errors import FuseloomError, LoweringError, OrderError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.primes import bare
from fuseloom.program.types import Program, Statement
from fuseloom.results.method import SAME_GRAPH, Budget, Deferred, Part, Refusal

MOST_LEVELS = 3
"""Levels of which every choice to look up or scan is a candidate; of more, the best found."""
RANKED = 50
"""Orders of a region that are looked at in the order of what they take at least."""
FAR, MANY = 1.2, 4.0
"""Multiples of the best candidate's cycles at which others are deferred."""
MOST_REGIONS = 12
"""Regions, with different inputs stored twice, that are looked at to bound what they take."""
EFFORT = 3e6
"""The most work of choosing among more levels, in elements of executions on coordinates."""


@dataclass(frozen=True, eq=False)
class RegionCandidate:
    """A region under one order.

    Attributes
    ----------
    make : callable
        Compiles it, when somebody asks.
    order : tuple of str
        Its order, without indices that the compiler added.
    copies : tuple of Permute
        Inputs that are stored a second time, in another mode order.
    ordered : bool
        False if its order is the only one, which the compiler finds by itself.
    """

    make: Callable[[], CompiledRegion] = field(repr=False)
    order: tuple[str, ...]
    options: RegionOptions
    copies: tuple[Permute, ...] = ()
    ordered: bool = True

    @cached_property
    def compiled(self) -> CompiledRegion:
        return self.make()

    @classmethod
    def of(
        cls, compiled: CompiledRegion, copies: tuple[Permute, ...] = (), ordered: bool = True
    ) -> RegionCandidate:
        """The candidate of a region that is compiled."""
        options = compiled.region.options
        return cls(lambda: compiled, compiled.own_order, options, copies, ordered)

    @property
    def lanes(self) -> int:
        """The most copies of a node side by side."""
        return max((factor for _, factor in self.options.lanes), default=1)

    @property
    def text(self) -> str:
        """The special features of the candidate, for people."""
        text = f", order {','.join(self.order)}" if self.order else ""
        text += "".join(f", {index} by {factor}" for index, factor in self.options.lanes)
        text += "".join(f", {view}.{x} looked up" for view, x in sorted(self.options.looked_up))
        text += "" if self.options.locate else ", dense levels scanned"
        return text + "".join(
            f", {c.view} stored as {','.join(c.indices)}, too" for c in self.copies
        )


@dataclass(frozen=True)
class DeferredCandidates:
    """Candidates under an order under which a region takes long, and cycles that none is below."""

    least: float
    open: Callable[[], Iterator[RegionCandidate | Refusal]]


class RegionCandidates:
    """Candidates of regions of one program on what is known of it.

    Parameters
    ----------
    rest : Schedule
        Settings that hold for every region.
    instances : StatementInstances
        What statements do, by coordinates.
    sized : bool
        Whether channels have the capacities that no data can deadlock.
    """

    def __init__(
        self,
        program: Program,
        rest: Schedule,
        context: EstimateContext,
        instances: StatementInstances,
        sized: bool = False,
    ) -> None:
        self.program = program
        self.rest = rest
        self.context = context
        self.instances = instances
        self.sized = sized
        self._first: dict[Hashable, CompiledRegion] = {}

    def compile(self, region: FusedRegion, order: Sequence[str] | None = None) -> CompiledRegion:
        """A region compiled, its channels as wide as it is asked for."""
        made = compile_region(region, order)
        if not self.sized:
            return made
        return replace(made, graph=size_buffers(made.graph, region.extents))

    def region(
        self, statements: tuple[Statement, ...], copies: tuple[Permute, ...] = ()
    ) -> FusedRegion:
        """Statements fused into one region.

        Raises
        ------
        OrderError
            If their constraints form a cycle, so that one region is not enough.
        FuseloomError
            If a copy does not fit.
        """
        rest = replace(self.rest, settings=(*self.rest.settings, *copies))
        made = fuse_statements(self.program, rest, statements)
        if len(made) > 1:
            raise OrderError(f"constraints of {span_of(statements).name} form a cycle")
        return made[0]

    def regions(self, statements: tuple[Statement, ...], budget: Budget) -> list[FusedRegion]:
        """Every region of which there are candidates; none where they are too many to be listed.

        Raises
        ------
        FuseloomError
            If there is no candidate.
        """
        plain = self.region(statements)
        found = [plain, *less_shared(plain, self.rest)]
        for copies in self.copies(plain, budget.copies):
            if len(found) >= MOST_REGIONS:
                return []
            try:
                found.append(self.region(statements, copies))
            except FuseloomError:
                continue
        return found

    def first(self, statements: tuple[Statement, ...]) -> CompiledRegion:
        """Statements as the compiler has them by itself.

        Raises
        ------
        FuseloomError
            If it cannot build them as one.
        """
        key = tuple(s.out.tensor for s in statements)
        if key not in self._first:
            self._first[key] = self.compile(self.region(statements))
        return self._first[key]

    def renamed(
        self,
        candidate: RegionCandidate,
        theirs: tuple[Statement, ...],
        mine: tuple[Statement, ...],
    ) -> RegionCandidate:
        """The same candidate for statements that are equal but for the names of tensors."""
        names = {
            old.tensor: new.tensor
            for a, b in zip(theirs, mine, strict=True)
            for old, new in zip((a.out, *a.operands), (b.out, *b.operands), strict=True)
        }

        def view(name: str) -> str:
            stem = bare(name)
            return names.get(stem, stem) + name[len(stem) :]

        options = replace(
            candidate.options,
            looked_up=frozenset((view(v), x) for v, x in candidate.options.looked_up),
            scanned=frozenset((view(v), x) for v, x in candidate.options.scanned),
        )
        copies = tuple(
            replace(c, view=view(c.view), region=span_of(mine)) for c in candidate.copies
        )

        def make() -> CompiledRegion:
            if not candidate.ordered:
                return self._apart(self.region(mine))
            region = replace(self.region(mine, copies), options=options)
            return self.compile(region, candidate.order)

        return RegionCandidate(make, candidate.order, options, copies, candidate.ordered)

    def of(
        self,
        statements: tuple[Statement, ...],
        budget: Budget,
        so_far: Callable[[], float] = lambda: inf,
    ) -> Iterator[RegionCandidate | Refusal | DeferredCandidates]:
        """Every candidate that fits the lanes and copies of a budget, the likely best first.

        Parameters
        ----------
        so_far : callable
            Cycles expected of the best candidate so far; orders that are known to be far above are
            left for later.
        """
        seen: set[Graph] = set()
        try:
            plain = self.region(statements)
        except OrderError as reason:
            yield Refusal("cycle", reason.message)
            return
        except FuseloomError as reason:
            yield Refusal("cannot be fused", reason.message)
            return
        try:
            first = self.first(statements)
        except (OrderError, LoweringError) as reason:
            try:
                yield RegionCandidate.of(self._apart(plain), ordered=False)
            except (OrderError, LoweringError):
                yield Refusal("cannot be built", reason.message)
            return
        seen.add(first.graph)
        yield RegionCandidate.of(first)
        yield from self._choices(plain, budget, (), seen, so_far)
        for copies in self.copies(plain, budget.copies):
            try:
                region = self.region(statements, copies)
            except FuseloomError as reason:
                yield Refusal("copy does not fit", reason.message)
                continue
            yield from self._choices(region, budget, copies, seen, so_far)

    def copies(self, region: FusedRegion, most: int) -> Iterator[tuple[Permute, ...]]:
        """Every choice of at most so many tensors that memory has in another mode order, too."""
        span, offers = span_of(region.statements), list[list[Permute]]()
        for name, view in region.views.items() if most else ():
            fmt = self.program.tensor(view.tensor).format
            if not isinstance(view, Leaf):
                continue
            if fmt.all_dense or fmt.blocked or len(set(view.indices)) < 2:
                continue
            stored = tuple(view.indices[m] for m in fmt.mode_order)
            others = [o for o in permutations(view.indices) if o != stored]
            offers.append([Permute(name, order, span) for order in others])
        for number in range(1, min(most, len(offers)) + 1):
            for some in combinations(offers, number):
                yield from product(*some)

    def lanes(self, region: FusedRegion, budget: Budget) -> Iterator[tuple[tuple[str, int], ...]]:
        """Nothing in lanes, or one index in 2, 4, ... lanes, or as many as there may be."""
        yield ()
        factors = {2**k for k in range(1, budget.lanes.bit_length())} | {budget.lanes}
        for index in region.indices:
            for factor in sorted(factors - {1}, reverse=True):
                yield ((index, factor),)

    def points(self, region: FusedRegion, budget: Budget) -> int:
        """Count the legal candidates exactly, before any is built.

        Orders, times lanes, times what each compressed level of an input may be: looked up or
        scanned, where dense ones are looked up; or all scanned.
        """
        levels, orders = 0, region.pog.count()
        if self.context.machine.has_searchers:
            leaves = [view for view in region.views.values() if isinstance(view, Leaf)]
            formats = [self.program.tensor(leaf.tensor).format.levels for leaf in leaves]
            levels = sum(x is not LevelFormat.DENSE for found in formats for x in found)
        lanes = len([*self.lanes(region, budget)])
        return orders * lanes * (int(2**levels) + 1)

    def _choices(
        self,
        region: FusedRegion,
        budget: Budget,
        copies: tuple[Permute, ...],
        seen: set[Graph],
        so_far: Callable[[], float],
    ) -> Iterator[RegionCandidate | Refusal | DeferredCandidates]:
        ranked: dict[tuple[str, ...], float] = {}
        again = RecomputationBound(region, self.instances, budget.lanes)

        def least(nests: NestClass) -> float:
            if nests.order not in ranked:
                ranked[nests.order] = again.lower_bound(nests.order, MANY * so_far())
            return ranked[nests.order]

        for locate in (True, False):
            own = replace(region, options=replace(region.options, locate=locate))
            found = nest_classes(own)
            first = sorted(islice(found, RANKED), key=least)
            for nests in chain(first, found):
                made = partial(self._under, own, nests.order, budget, copies, seen)
                if least(nests) > FAR * so_far():
                    yield DeferredCandidates(least(nests), made)
                else:
                    yield from made()

    def _under(
        self,
        region: FusedRegion,
        order: tuple[str, ...],
        budget: Budget,
        copies: tuple[Permute, ...],
        seen: set[Graph],
    ) -> Iterator[RegionCandidate | Refusal]:
        """The candidates of a region under one order."""
        try:
            compiled = self.compile(region, order)
        except (OrderError, LoweringError) as reason:
            if region.options.locate:  # the same holds where levels are scanned
                yield Refusal("cannot be built", reason.message)
            return
        for found in self._variants(compiled, budget):
            if isinstance(found, Refusal):
                yield found
            elif found.graph in seen:
                yield Refusal(SAME_GRAPH, f"another order of {region.name} gives it")
            else:
                seen.add(found.graph)
                yield RegionCandidate.of(found, copies)

    def _variants(
        self, compiled: CompiledRegion, budget: Budget
    ) -> Iterator[CompiledRegion | Refusal]:
        """A region under one order: what is looked up, and what runs in lanes."""
        order = compiled.own_order
        for options in chain([compiled.region.options], self._looked_up(compiled)):
            for lanes in self.lanes(compiled.region, budget):
                chosen = replace(options, lanes=lanes)
                if chosen == compiled.region.options:
                    yield compiled
                    continue
                try:
                    yield self.compile(replace(compiled.region, options=chosen), order)
                except FuseloomError as reason:
                    yield Refusal("lanes" if lanes else "look-up", reason.message)

    def _looked_up(self, compiled: CompiledRegion) -> Iterator[RegionOptions]:
        options = compiled.region.options
        if not (self.context.machine.has_searchers and options.locate):
            return
        levels = [*searchable(compiled)]
        if len(levels) > MOST_LEVELS:
            best = with_look_ups(compiled, self.context, EFFORT)
            if best is not compiled:
                yield best.region.options
            return
        for number in range(1, len(levels) + 1):
            for some in combinations(levels, number):
                found = options
                for view, index in some:
                    found = found.with_level(view, index, True)
                yield found

    def _apart(self, region: FusedRegion) -> CompiledRegion:
        """The region with less that its parts share, under the order that the compiler finds.

        Raises
        ------
        OrderError, LoweringError
            If that cannot be built either.
        """
        reason: FuseloomError = LoweringError(f"region {region.name} has nothing to take apart")
        for found in less_shared(region, self.rest):
            try:
                return self.compile(found)
            except (OrderError, LoweringError) as problem:
                reason = problem
        raise reason


def span_of(statements: Sequence[Statement]) -> Span:
    """From the first to the last of what statements assign."""
    return Span(statements[0].out.tensor, statements[-1].out.tensor)


class RegionCache:
    """A cache of results for regions, shared by all that are equal."""

    def __init__(
        self,
        statements: tuple[Statement, ...],
        candidates: Iterator[Part | Refusal | Deferred],
    ) -> None:
        self.statements = statements
        self._found: list[Part | Refusal | Deferred] = []
        self._candidates = candidates

    def __iter__(self) -> Iterator[Part | Refusal | Deferred]:
        number = 0
        while True:
            if number == len(self._found):
                found = next(self._candidates, None)
                if found is None:
                    return
                self._found.append(found)
            yield self._found[number]
            number += 1

    def plain(self) -> Iterator[Part | Refusal]:
        """The same; there is nothing deferred among it."""
        for found in self:
            assert not isinstance(found, Deferred)
            yield found
