"""Dataflow graphs as exploration sees them: regions of statements, each with one candidate.

What a region takes depends on its statements, its order and options alone, given that what crosses
a cut is stored as the program declares it: regions run one after another, and the coordinates of a
tensor are those that it means (:mod:`fuseloom.exploration.search` builds on that).  So it does not
depend on what else was carried out before: a region may be any statements between two ideals of the
program (:mod:`fuseloom.results.order_ideals`).  Inside a region statements keep the order of the
program.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

from fuseloom.dataflow.cost.estimate import EstimateContext, estimate_region
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.fusion import directives
from fuseloom.dataflow.fusion.alike import Kinds
from fuseloom.dataflow.fusion.directives import Store
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.regions import RegionSpan, partition
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.sequence import sequenced
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.output import output_tensor
from fuseloom.dataflow.sim.program_runs import do_reshapes, simulate_region
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.space.candidates import (
    DeferredCandidates,
    RegionCache,
    RegionCandidate,
    RegionCandidates,
)
from fuseloom.dataflow.space.contents import Contents
from fuseloom.dataflow.space.coordinates import Coordinates
from fuseloom.dataflow.space.design_costs import region_joules, region_luts
from fuseloom.dataflow.space.instances import StatementInstances
from fuseloom.dataflow.space.lower_bounds import RecomputationBound, lower_bounds
from fuseloom.dataflow.space.requirements import Requirements
from fuseloom.dataflow.space.scheduled import scheduled
from fuseloom.errors import AbandonedError, FuseloomError, GraphError, ProgramError
from fuseloom.program.inputs import check_data
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program, Statement
from fuseloom.results.method import Budget, Cost, Deferred, Floats, Part, Refusal, name_of
from fuseloom.results.order_ideals import MOST_IDEALS, OrderIdeals, Units
from fuseloom.wording import counted

MOST_UNITS = 2_000
"""Statements of a program whose regions are searched: there are millions of them then."""
FORMATS = "formats that differ from tensor to tensor"
KEPT = (
    directives.Block,
    directives.Global,
    directives.Strict,
    directives.Repeat,
    directives.Sequenced,
    directives.Store,
    directives.Nonzero,
)
"""Settings that hold for every schedule of a search."""


class Dataflow:
    """The schedules of a program on data and a machine (:class:`fuseloom.results.method.Method`).

    Candidates of a region are its nest classes, with every choice of compressed levels that are
    looked up instead of scanned, dense levels looked up or scanned, and, within a budget, an index
    that is dealt to 2, 4, ... lanes and inputs stored in another mode order, too.  Blocks, global
    iteration and how tensors between regions are stored are those of ``base``.

    Parameters
    ----------
    data : mapping
        Every input by name.
    machine : Machine, optional
    base : Schedule, optional
        Whose ``block``, ``global``, ``strict``, ``repeat``, ``nonzero`` and ``store`` of all
        tensors hold throughout; statements stand in the order of its ``sequence``.
    presets : mapping of str to str
        Schedules whose cuts are looked at first.
    limits : Limits, optional
        What the run of a region may use.
    sized : bool
        Whether channels have the capacities that no data can deadlock.
    stores : sequence of Store
        How some tensors are stored that regions write and others read; each leaves the region that
        writes it, in every schedule.
    requirements : sequence of str
        Rules that every region keeps (:mod:`fuseloom.dataflow.space.requirements`).
    energy, area : bool
        Whether the energy of each region, and the area of its hardware, are found, too.
    like : Dataflow, optional
        Schedules of the same program, data, machine and base, but for ``stores``: regions that
        read and write none of these are looked at once for both.

    Raises
    ------
    ProgramError
        If the program has more statements than are searched.
    FuseloomError
        If the data do not fit the program.
    """

    def __init__(
        self,
        program: Program,
        data: Mapping[str, Any],
        machine: Machine | None = None,
        *,
        base: Schedule | None = None,
        presets: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        sized: bool = False,
        stores: Sequence[Store] = (),
        requirements: Sequence[str] = (),
        energy: bool = False,
        area: bool = False,
        like: Dataflow | None = None,
    ) -> None:
        settings = (*(s for s in (base or Schedule()).settings if _kept(s)), *stores)
        self.source, self.given = program, data
        self.stores = frozenset(str(s.tensor) for s in stores)
        self.base = Schedule((), (), settings)
        self.program, self.rest = prepare(program, self.base)
        self.statements = self.program.live
        self.requirements = Requirements(requirements, self.program)
        self.energy, self.area = energy, area
        if len(self.statements) > MOST_UNITS:
            raise ProgramError(
                f"{counted(len(self.statements), 'statement')} are too many to search",
                hint=f"up to {MOST_UNITS:,}; fuse by a schedule, or search a part of the program",
            )
        self.machine = machine or Machine.default()
        self.limits = limits
        self.sized = sized
        self.data: dict[str, StoredTensor] = check_data(self.program, like.data if like else data)
        self.context = EstimateContext.shared(self.program, self.data, machine=self.machine)
        self._instances = StatementInstances(self.program, self.context)
        self._candidates = RegionCandidates(
            self.program, self.rest, self.context, self._instances, sized
        )
        self._contents: Contents = Contents(
            self.program, self.data, like._contents if like else None
        )
        self.coordinates = Coordinates(self.program, self.context, self._candidates, self._contents)
        self._kinds: Kinds = Kinds(self.program, self.rest, {}, like._kinds if like else None)
        self._shared: dict[Hashable, RegionCache] = like._shared if like else {}
        self._tensors: dict[str, StoredTensor] = dict(self.data)
        self._ideal = {s.out.tensor: k for k, s in enumerate(self.statements)}
        self._alone = self._apart_from_others()
        ranges = any(s.region is not None for s in self.base.of(directives.Global))
        self.ideals = OrderIdeals(
            [
                {self._ideal[a.tensor] for a in s.operands if a.tensor in self._ideal}
                for s in self.statements
            ],
            self._alone,
            0 if ranges else MOST_IDEALS,  # what a range has depends on the sequence
        )
        self._starts = tuple(self._cuts(presets or {}))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """The tensors that the statements assign."""
        return tuple(self._ideal)

    @property
    def unsearched(self) -> tuple[str, ...]:
        """The schedules outside the search space, in words."""
        convex = "regions of statements that are not neighbours in the program"
        return (
            *(() if self.ideals.whole else (convex,)),
            "blocks that differ from tensor to tensor",
            FORMATS,
            "several indices in lanes at once",
            "channels of other capacities",
            "other machines",
        )

    def lower_bounds(self, budget: Budget) -> Floats:
        """Return lower bounds on the cycles of a region's writers and arithmetic, for any order."""
        self.coordinates.find(self.units)
        return lower_bounds(
            self.program, self._instances, self.statements, self.ideals, budget.lanes
        )

    def lower_bound(self, units: Units, budget: Budget) -> float:
        """The same, with what the constraints of the region make it compute again."""
        if not self._alone.isdisjoint(units):
            return 0.0
        if self._refusal(units):
            return inf
        self.coordinates.find(self._names(units))
        try:
            regions = self._candidates.regions(self._of(units), budget)
        except FuseloomError:
            return inf
        found = [
            RecomputationBound(region, self._instances, budget.lanes).lower_bound()
            for region in regions
        ]
        return min(found, default=0.0)

    def starts(self) -> Sequence[Sequence[Units]]:
        """The presets, then every statement alone."""
        return self._starts

    def candidates(self, units: Units, budget: Budget) -> Iterator[Part | Refusal | Deferred]:
        """Every candidate of a region; of regions alike but for names, they are looked at once."""
        statements = self._of(units)
        if refused := self._refusal(units):
            yield refused
            return
        if not statements[0].op.fuses:
            yield Part(units, Cost(), 0.0, f"{statements[0].out.tensor}: memory reshapes it")
            return
        span = RegionSpan.of(self.program, statements)
        mine = {s.out.tensor for s in statements}
        operands = dict.fromkeys(a.tensor for s in statements for a in s.operands)
        read = [name for name in operands if name not in mine]
        self.coordinates.find(read)
        if not all(self.context.patterns.knows(name) for name in read):
            yield from map(self.requirements.ordered, self._fresh(units, budget))
            return
        contents = tuple(self._contents[name] for name in read)
        key = (self._kinds.key(span), contents, budget)
        if key not in self._shared:
            self._shared[key] = RegionCache(statements, self._fresh(units, budget))
        like = self._shared[key]
        for found in like:
            yield self.requirements.ordered(self._renamed(found, like.statements, units))

    def measure(self, parts: Sequence[Part], within: float = inf) -> Cost | None:
        """Simulate the last of these parts."""
        part = parts[-1]
        if part.choice is None:
            return Cost()
        compiled = part.choice.compiled
        do_reshapes(self.program, self._tensors, {})
        limits = self.limits or Limits()
        if within < inf:
            limits = replace(limits, cycles=int(within))
        try:
            run = simulate_region(compiled, self._tensors, self.machine, limits=limits)
        except AbandonedError:
            return None
        for name in compiled.region.outputs:
            self._tensors[name] = output_tensor(run.result, self.program.tensor(name))
        cost = replace(part.expected, cycles=run.cycles, bytes=run.work.bytes)
        if self.energy:
            cost = replace(cost, energy=run.energy.joules)
        if self.area:
            area = region_luts(compiled.graph, self.machine, self._tensors)
            cost = replace(cost, area=area)
        return cost

    def schedule(self, parts: Sequence[Part]) -> str:
        """Every region with its order and choices, in a sequence that has them as runs."""
        of_units = {part.units: part for part in parts}
        candidates = [(u, of_units[u].choice) for u in self.ideals.sorted(of_units)]
        return str(scheduled(self.source, self.statements, self.base, candidates, self._alone))

    def size(self, budget: Budget, seconds: float = inf) -> tuple[int, bool]:
        """Count the schedules of the space, and return whether the count is complete.

        A schedule is a cut, and for each region a legal order, the levels that are looked up, what
        runs in lanes and what is stored twice.  Orders of regions that do not need each other are
        one schedule.  They are counted, not listed; counting ends when time is up, and then there
        are at least so many.
        """
        until, whole = time.monotonic() + seconds, True
        kinds: dict[Hashable, int] = {}
        candidates: dict[Units, int] = {}
        for units in self.ideals.parts():  # small regions first
            if time.monotonic() > until:
                whole = False
                break
            if self._refusal(units):
                continue
            key = self._kinds.key(RegionSpan.of(self.program, self._of(units)))
            if key not in kinds:
                kinds[key] = self._points(units, budget)
            candidates[units] = kinds[key]
        return self.ideals.count(candidates), whole

    # Inside ---------------------------------------------------------------------------------

    def _inside(self, units: Units) -> list[str]:
        """The tensors that are to be stored otherwise, and do not leave a region of these units."""
        mine = set(self._names(units)) & self.stores
        return [
            name
            for name in mine
            if name not in self.program.outputs
            and {self._ideal[r] for r in self.program.readers[name]} <= set(units)
        ]

    def _refusal(self, units: Units) -> Refusal | None:
        """The refusal of a region of these units, whatever its order; None if there may be one."""
        if inside := self._inside(units):
            name = name_of(self.units, units)
            return Refusal("stored otherwise", f"{inside[0]} does not leave {name}")
        if not self.requirements:
            return None
        return self.requirements.refusal(frozenset(self._names(units)), name_of(self.units, units))

    def _names(self, units: Units) -> list[str]:
        return [self.units[k] for k in units]

    def _of(self, units: Units) -> tuple[Statement, ...]:
        return tuple(self.statements[k] for k in units)

    def _points(self, units: Units, budget: Budget) -> int:
        """The legal candidates of a region, before any is built."""
        statements = self._of(units)
        if not self._alone.isdisjoint(units):
            return 1
        try:
            plain = self._candidates.region(statements)
        except FuseloomError:
            return 0
        total = self._candidates.points(plain, budget)
        for copies in self._candidates.copies(plain, budget.copies):
            try:
                total += self._candidates.points(
                    self._candidates.region(statements, copies), budget
                )
            except FuseloomError:
                continue
        return total

    def _apart_from_others(self) -> frozenset[int]:
        """Statements that make a region each: reshapes, and what is iterated globally.

        A schedule that iterates some statements globally has nothing to say of their regions.
        """
        found = {k for k, s in enumerate(self.statements) if not s.op.fuses}
        names = [s.out.tensor for s in sequenced(self.source, self.base).live]
        for wanted in self.base.of(directives.Global):
            span = wanted.region
            first = 0 if span is None else names.index(span.first)
            last = len(names) - 1 if span is None else names.index(span.last)
            found |= {self._ideal[n] for n in names[first : last + 1] if n in self._ideal}
        return frozenset(found)

    def _cuts(self, presets: Mapping[str, str]) -> Iterator[tuple[Units, ...]]:
        """The regions of the first schedules, in an order in which they can be carried out."""
        for text in presets.values():
            try:
                schedule = Schedule.parse(text)
                spans = partition(sequenced(self.program, schedule), schedule)
            except FuseloomError:  # written for the program before it was prepared
                continue
            regions = [tuple(sorted(self._ideal[s.out.tensor] for s in span.statements))
                       for span in spans]  # fmt: skip
            parts = [part for r in regions for part in self._possible(r)]
            rest = set(range(len(self.statements))).difference(*parts)
            yield tuple(self.ideals.sorted([*parts, *((k,) for k in rest)]))
        yield tuple((k,) for k in range(len(self.statements)))

    def _possible(self, region: Units) -> Iterator[Units]:
        """Yield the possible parts of a region: the region, or its runs of neighbours."""
        if self.ideals.is_part(region):
            yield region
            return
        run: list[int] = []
        for k in region:
            if run and (k != run[-1] + 1 or k in self._alone or run[-1] in self._alone):
                yield tuple(run)
                run = []
            run.append(k)
        yield tuple(run)

    def _fresh(self, units: Units, budget: Budget) -> Iterator[Part | Refusal | Deferred]:
        """The candidates of a region that is like none before."""
        statements, least = self._of(units), [inf]

        def parts(
            candidates: Iterable[RegionCandidate | Refusal | DeferredCandidates],
        ) -> Iterator[Part | Refusal | Deferred]:
            for found in candidates:
                match found:
                    case Refusal():
                        yield found
                    case DeferredCandidates():
                        shared = RegionCache(statements, parts(found.open()))
                        yield Deferred(found.least, shared.plain)
                    case RegionCandidate():
                        part = self._part(units, found, budget)
                        if isinstance(part, Part):
                            least[0] = min(least[0], part.expected.cycles)
                        yield part
                        if not self._alone.isdisjoint(units):
                            return
                        self.coordinates.find(self._names(units))  # to tell what others take

        yield from parts(self._candidates.of(statements, budget, lambda: least[0]))

    def _renamed(
        self,
        found: Part | Refusal | Deferred,
        theirs: tuple[Statement, ...],
        units: Units,
    ) -> Part | Refusal | Deferred:
        """Return the result for one region, renamed for another that is equal to it."""
        mine = self._of(units)
        if theirs == mine:
            return found
        match found:
            case Refusal():
                return found
            case Deferred(least=least, open=candidates):

                def renamed() -> Iterator[Part | Refusal]:
                    for candidate in candidates():
                        part = self._renamed(candidate, theirs, units)
                        assert not isinstance(part, Deferred)
                        yield part

                return Deferred(least, renamed)
            case Part():
                candidate = self._candidates.renamed(found.choice, theirs, mine)
                text = f"{name_of(self.units, units)}{candidate.text}"
                return Part(units, found.expected, found.least, text, candidate)

    def _part(self, units: Units, candidate: RegionCandidate, budget: Budget) -> Part | Refusal:
        name, area = name_of(self.units, units), 0.0
        if self.area:  # much quicker than an estimate
            try:
                area = region_luts(candidate.compiled.graph, self.machine)
            except GraphError as reason:
                return Refusal("no hardware", f"{name}: {reason}")
            if budget.area is not None and area > budget.area:
                return Refusal("area", f"{name} takes {area:,.0f} LUTs of {budget.area:,.0f}")
        made = estimate_region(candidate.compiled, self.context)
        held, room = made.on_chip.held, made.on_chip.channels
        on_chip = None if held is None else held + (room or 0.0)
        if budget.on_chip is not None and (on_chip is None or on_chip > budget.on_chip):
            told = "an unknown number of" if on_chip is None else f"{on_chip:,.0f}"
            return Refusal("on-chip", f"{name} holds {told} bytes of {budget.on_chip:,.0f}")
        exact = made.mode is EstimateMode.EXACT
        least = made.least if made.least is not None and exact else 0.0
        joules, least_joules = region_joules(made, self.machine) if self.energy else (0.0, 0.0)
        cost = Cost(made.cycles, made.bytes, on_chip or 0.0, candidate.lanes, joules, area)
        text = f"{name}{candidate.text}"
        return Part(units, cost, min(least, made.cycles), text, candidate, least_joules)


def _kept(setting: directives.Setting) -> bool:
    """Return whether a setting holds for every schedule of a search."""
    match setting:
        case directives.Store(tensor=name):
            return name is None
        case directives.Repeat(region=region):
            return region is None
    return isinstance(setting, KEPT)
