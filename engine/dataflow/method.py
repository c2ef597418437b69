"""Dataflow graphs as exploration sees them: regions of statements, each under one order.

What a region takes depends on its statements, its order and options alone, given that what crosses
a cut is stored as the program declares it: regions run one after another, and the coordinates of a
tensor are those that it means (:mod:`engine.explore.search` builds on that).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import prod
from typing import Any

from engine.dataflow.compiler import CompiledRegion, compile_region
from engine.dataflow.cost.estimate import Known, estimate_region
from engine.dataflow.cost.numbers import RegionEstimate
from engine.dataflow.fusion import directives
from engine.dataflow.fusion.classes import nest_classes
from engine.dataflow.fusion.directives import Fuse, Locate, LocateLevel, Order, Parallel, Span
from engine.dataflow.fusion.fuse import fuse_statements, less_shared
from engine.dataflow.fusion.prepare import prepare
from engine.dataflow.fusion.region import FusedRegion, RegionOptions
from engine.dataflow.fusion.regions import partition
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.look_ups import searchable, with_look_ups
from engine.dataflow.samml.graph import Graph
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.output import output_tensor
from engine.dataflow.sim.program_runs import do_reshapes, simulate_region
from engine.dataflow.sim.reports import Limits
from engine.errors import FuseloomError, LoweringError, OrderError
from engine.program.storage import StoredTensor, check_data
from engine.program.types import Program
from engine.results.method import Budget, Cost, Part, Refusal

MOST_LEVELS = 3
"""Levels of which every choice to look up or scan is a way; of more, the best that is found."""
EFFORT = 3e6
"""What choosing among more levels may take, in elements of executions on coordinates."""
KEPT = (directives.Block, directives.Global, directives.Strict, directives.Repeat)
"""Settings that hold for every schedule of a search."""


@dataclass(frozen=True, eq=False)
class Way:
    """A region, compiled; ``ordered`` unless its order is the only one, found by the compiler."""

    compiled: CompiledRegion
    ordered: bool = True


class Dataflow:
    """The schedules of a program on data and a machine (:class:`engine.results.method.Method`).

    Ways of a region are its nest classes, with every choice of compressed levels that are looked
    up instead of scanned, dense levels looked up or scanned, and, within a budget of lanes, an
    index that is dealt to 2, 4, ... of them.  Blocks and global iteration are those of ``base``;
    tensors between regions are stored as the program declares them.

    Parameters
    ----------
    data : mapping
        Every input by name.
    machine : Machine, optional
    base : Schedule, optional
        Whose ``block``, ``global``, ``strict`` and ``repeat`` hold throughout.
    presets : mapping of str to str
        Schedules whose cuts are looked at first.
    limits : Limits, optional
        What the run of a region may use.

    Raises
    ------
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
    ) -> None:
        settings = tuple(s for s in (base or Schedule()).settings if isinstance(s, KEPT))
        self.base = Schedule((), (), settings)
        self.program, self.rest = prepare(program, self.base)
        self.machine = machine or Machine.default()
        self.limits = limits
        self.data = check_data(self.program, data)
        self.known = Known.shared(self.program, self.data, machine=self.machine)
        self.statements = self.program.live
        self._tensors: dict[str, StoredTensor] = dict(self.data)
        self._starts = tuple(self._cuts(presets or {}))
        self._note()

    @property
    def units(self) -> tuple[str, ...]:
        """The tensors that the statements assign."""
        return tuple(s.out.tensor for s in self.statements)

    def ends(self, begin: int) -> Sequence[int]:
        """A region ends before a reshape, which memory does."""
        end = begin + 1
        if self.statements[begin].op.fuses:
            while end < len(self.statements) and self.statements[end].op.fuses:
                end += 1
        return range(begin + 1, end + 1)

    def floor(self, begin: int, end: int) -> float:
        """Each element that a region writes takes its writer a cycle; lanes may share them."""
        mine = {s.out.tensor for s in self.statements[begin:end] if s.op.fuses}
        written = [
            name
            for name in mine
            if (name in self.program.outputs or not self.program.readers.get(name, mine) <= mine)
            and self.known.patterns.knows(name)
        ]
        tiles = [self.known.elements(n) / prod(self.program.tensor(n).format.tile) for n in written]
        return max(tiles, default=0.0)

    def starts(self) -> Sequence[Sequence[int]]:
        """Every statement alone, the presets, and as much as possible together."""
        return self._starts

    def ways(self, begin: int, end: int, budget: Budget) -> Iterator[Part | Refusal]:
        """Nest classes, each with every choice that there is under it."""
        statements = self.statements[begin:end]
        if not statements[0].op.fuses:
            yield Part(begin, end, Cost(), 0.0, f"{statements[0].out.tensor}: memory reshapes it")
            return
        try:
            made = fuse_statements(self.program, self.rest, statements)
        except FuseloomError as reason:
            yield Refusal("cycle", reason.message)
            return
        if len(made) > 1:
            yield Refusal("cycle", f"constraints of {_name(begin, end, self.units)} form a cycle")
            return
        for found in self._choices(made[0], budget):
            yield self._part(begin, end, found, budget) if isinstance(found, Way) else found

    def measure(self, parts: Sequence[Part]) -> Cost:
        """Simulate the last of these parts."""
        part = parts[-1]
        if part.choice is None:
            return Cost()
        compiled = part.choice.compiled
        do_reshapes(self.program, self._tensors, {})
        run = simulate_region(compiled, self._tensors, self.machine, limits=self.limits)
        for name in compiled.region.outputs:
            self._tensors[name] = output_tensor(run.result, self.program.tensor(name))
        return replace(part.expected, cycles=run.cycles, bytes=run.work.bytes)

    def schedule(self, parts: Sequence[Part]) -> str:
        """Every region with its order and choices."""
        fusions: list[Fuse] = []
        orders: list[Order] = []
        settings: list[directives.Setting] = [*self.base.settings]
        for part in parts:
            if part.choice is None:
                continue
            compiled: CompiledRegion = part.choice.compiled
            first, last = self.units[part.begin], self.units[part.end - 1]
            span, options = Span(first, last), compiled.region.options
            if part.end - part.begin > 1:
                fusions.append(Fuse(first, last))
            if part.choice.ordered and compiled.own_order:
                orders.append(Order(first, last, compiled.own_order))
            if not options.locate:
                settings.append(Locate(False, span))
            for view, index in sorted(options.looked_up):
                settings.append(LocateLevel(view, index, True, span))
            settings += [Parallel(index, by, span) for index, by in options.lanes]
        return str(Schedule(tuple(fusions), tuple(orders), tuple(settings)))

    def estimate(self, compiled: CompiledRegion) -> RegionEstimate:
        """What a region is expected to take."""
        return estimate_region(compiled, self.known)

    # Inside ---------------------------------------------------------------------------------

    def _cuts(self, presets: Mapping[str, str]) -> Iterator[tuple[int, ...]]:
        """Where the parts of the first schedules end."""
        size, place = len(self.statements), {name: k for k, name in enumerate(self.units)}
        yield tuple(range(1, size + 1))
        for text in presets.values():
            try:
                spans = partition(self.program, Schedule.parse(text))
            except FuseloomError:  # written for the program before it was prepared
                continue
            begins = {place[span.statements[0].out.tensor] for span in spans}
            begins |= {k for k, s in enumerate(self.statements) if not s.op.fuses}
            yield (*sorted(begins - {0}), size)

    def _note(self) -> None:
        """Have the coordinates of all that statements alone write, which whatever is fused has."""
        for statement in self.statements:
            if not statement.op.fuses:
                continue
            for region in fuse_statements(self.program, self.rest, (statement,)):
                estimate_region(compile_region(region), self.known)

    def _choices(self, region: FusedRegion, budget: Budget) -> Iterator[Way | Refusal]:
        """Every way of a region, first the one that the compiler finds by itself."""
        try:
            first = compile_region(region)
        except (OrderError, LoweringError) as reason:
            apart = self._apart(region)
            yield Refusal("cannot be built", reason.message) if apart is None else apart
            return
        yield Way(first)
        seen: set[Graph] = {first.graph}
        for locate in (True, False):
            own = replace(region, options=replace(region.options, locate=locate))
            for nests in nest_classes(own):
                try:
                    compiled = compile_region(own, nests.order)
                except (OrderError, LoweringError) as reason:
                    if locate:  # the same holds where levels are scanned
                        yield Refusal("cannot be built", reason.message)
                    continue
                for found in self._variants(compiled, budget):
                    if found.graph not in seen:
                        seen.add(found.graph)
                        yield Way(found)

    def _variants(self, compiled: CompiledRegion, budget: Budget) -> Iterator[CompiledRegion]:
        """A region under one order: what is looked up, and what runs in lanes."""
        order = compiled.own_order
        for options in chain([compiled.region.options], self._looked_up(compiled)):
            for lanes in self._lanes(compiled.region, budget):
                chosen = replace(options, lanes=lanes)
                if chosen == compiled.region.options:
                    yield compiled
                    continue
                try:
                    yield compile_region(replace(compiled.region, options=chosen), order)
                except FuseloomError:
                    continue

    def _looked_up(self, compiled: CompiledRegion) -> Iterator[RegionOptions]:
        options = compiled.region.options
        if not (self.machine.has_searchers and options.locate):
            return
        levels = [*searchable(compiled)]
        if len(levels) > MOST_LEVELS:
            best = with_look_ups(compiled, self.known, EFFORT)
            if best is not compiled:
                yield best.region.options
            return
        for number in range(1, len(levels) + 1):
            for some in combinations(levels, number):
                found = options
                for view, index in some:
                    found = found.with_level(view, index, True)
                yield found

    def _lanes(self, region: FusedRegion, budget: Budget) -> Iterator[tuple[tuple[str, int], ...]]:
        yield ()
        factors = {2**k for k in range(1, budget.lanes.bit_length())} | {budget.lanes}
        for index in region.indices:
            for factor in sorted(factors - {1}, reverse=True):
                yield ((index, factor),)

    def _apart(self, region: FusedRegion) -> Way | None:
        """The region with less that its parts share, under the order that the compiler finds."""
        for found in less_shared(region, self.rest):
            try:
                return Way(compile_region(found), ordered=False)
            except (OrderError, LoweringError):
                continue
        return None

    def _part(self, begin: int, end: int, way: Way, budget: Budget) -> Part | Refusal:
        region = way.compiled.region
        name = _name(begin, end, self.units)
        made = self.estimate(way.compiled)
        on_chip = _on_chip(made)
        if budget.on_chip is not None and (on_chip is None or on_chip > budget.on_chip):
            held = "an unknown number of" if on_chip is None else f"{on_chip:,.0f}"
            return Refusal("on-chip", f"{name} holds {held} bytes of {budget.on_chip:,.0f}")
        lanes = max((factor for _, factor in region.options.lanes), default=1)
        least = made.least if made.least is not None else 0.0
        text = f"{name}, order {','.join(way.compiled.own_order)}"
        text += "".join(f", {index} by {factor}" for index, factor in region.options.lanes)
        text += "".join(f", {view}.{x} looked up" for view, x in sorted(region.options.looked_up))
        text += "" if region.options.locate else ", dense levels scanned"
        cost = Cost(made.cycles, made.bytes, on_chip or 0.0, lanes)
        return Part(begin, end, cost, min(least, made.cycles), text, way)


def _on_chip(made: RegionEstimate) -> float | None:
    """Bytes that a region holds: those of its channels only where they have bounds."""
    if made.on_chip.held is None:
        return None
    return made.on_chip.held + (made.on_chip.channels or 0.0)


def _name(begin: int, end: int, units: Sequence[str]) -> str:
    return units[begin] if end - begin == 1 else f"{units[begin]}..{units[end - 1]}"
