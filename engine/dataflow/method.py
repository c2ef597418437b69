"""Dataflow graphs as exploration sees them: regions of statements, each in one way.

What a region takes depends on its statements, its order and options alone, given that what crosses
a cut is stored as the program declares it: regions run one after another, and the coordinates of a
tensor are those that it means (:mod:`engine.explore.search` builds on that).
"""

from __future__ import annotations

import time
from bisect import bisect
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from engine.dataflow.cost.estimate import Known, estimate_region
from engine.dataflow.cost.exact.patterns import UnknownError
from engine.dataflow.cost.mode import Mode
from engine.dataflow.fusion import directives
from engine.dataflow.fusion.alike import Kinds
from engine.dataflow.fusion.directives import Fuse, Locate, LocateLevel, Order, Parallel
from engine.dataflow.fusion.prepare import prepare
from engine.dataflow.fusion.regions import RegionSpan, partition
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.output import output_tensor
from engine.dataflow.sim.program_runs import do_reshapes, simulate_region
from engine.dataflow.sim.reports import Limits
from engine.dataflow.space.contents import Contents
from engine.dataflow.space.firings import Firings
from engine.dataflow.space.floors import Recomputed, floors
from engine.dataflow.space.shared import Shared
from engine.dataflow.space.ways import Later, Way, Ways, span_of
from engine.errors import AbandonedError, FuseloomError, ProgramError
from engine.program.storage import StoredTensor, check_data
from engine.program.types import Program, Statement
from engine.results.method import Budget, Cost, Deferred, Floats, Part, Refusal

MOST_UNITS = 2_000
"""Statements of a program whose regions are searched: there are millions of them then."""
KEPT = (
    directives.Block,
    directives.Global,
    directives.Strict,
    directives.Repeat,
    directives.Store,
)
"""Settings that hold for every schedule of a search."""


class Dataflow:
    """The schedules of a program on data and a machine (:class:`engine.results.method.Method`).

    Ways of a region are its nest classes, with every choice of compressed levels that are looked
    up instead of scanned, dense levels looked up or scanned, and, within a budget, an index that is
    dealt to 2, 4, ... lanes and inputs stored in another mode order, too.  Blocks, global
    iteration and how tensors between regions are stored are those of ``base``.

    Parameters
    ----------
    data : mapping
        Every input by name.
    machine : Machine, optional
    base : Schedule, optional
        Whose ``block``, ``global``, ``strict``, ``repeat`` and ``store`` of all tensors hold
        throughout.
    presets : mapping of str to str
        Schedules whose cuts are looked at first.
    limits : Limits, optional
        What the run of a region may use.
    sized : bool
        Whether channels have the capacities that no data can deadlock.

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
    ) -> None:
        settings = tuple(s for s in (base or Schedule()).settings if _kept(s))
        self.source, self.given = program, data
        self.base = Schedule((), (), settings)
        self.program, self.rest = prepare(program, self.base)
        self.statements = self.program.live
        if len(self.statements) > MOST_UNITS:
            raise ProgramError(
                f"{len(self.statements):,} statements are too many to search",
                hint=f"up to {MOST_UNITS:,}; fuse by a schedule, or search a part of the program",
            )
        self.machine = machine or Machine.default()
        self.limits = limits
        self.sized = sized
        self.data = check_data(self.program, data)
        self.known = Known.shared(self.program, self.data, machine=self.machine)
        self._firings = Firings(self.program, self.known)
        self._ways = Ways(self.program, self.rest, self.known, self._firings, sized)
        self._contents = Contents(self.program, self.data)
        self._kinds = Kinds(self.program, self.rest, {})
        self._shared: dict[Hashable, Shared] = {}
        self._looked: set[str] = set()
        self._tensors: dict[str, StoredTensor] = dict(self.data)
        self._place = {s.out.tensor: k for k, s in enumerate(self.statements)}
        self._alone = self._apart_from_others()
        size = len(self.statements)
        stops = [*sorted(self._alone), size]
        self._ends = []
        for begin in range(size):
            last = begin + 1 if begin in self._alone else stops[bisect(stops, begin)]
            self._ends.append(range(begin + 1, last + 1))
        self._starts = tuple(self._cuts(presets or {}))

    @property
    def units(self) -> tuple[str, ...]:
        """The tensors that the statements assign."""
        return tuple(self._place)

    def ends(self, begin: int) -> Sequence[int]:
        """A region ends before a reshape, which memory does, and at what is iterated globally."""
        return self._ends[begin]

    def floors(self, budget: Budget) -> Floats:
        """What the writers and the arithmetic of a region have to do, whatever its order."""
        self._ensure(self.units)
        return floors(self.program, self._firings, self.statements, budget.lanes)

    def floor(self, begin: int, end: int, budget: Budget) -> float:
        """The same, with what the constraints of the region make it compute again."""
        statements = self.statements[begin:end]
        if begin in self._alone:
            return 0.0
        self._ensure(self.units[:end])
        try:
            regions = self._ways.regions(statements, budget)
        except FuseloomError:
            return inf
        found = [Recomputed(region, self._firings, budget.lanes).floor() for region in regions]
        return min(found, default=0.0)

    def starts(self) -> Sequence[Sequence[int]]:
        """The presets, then every statement alone."""
        return self._starts

    def ways(self, begin: int, end: int, budget: Budget) -> Iterator[Part | Refusal | Deferred]:
        """Every way of a region; of regions alike but for names, they are looked at once."""
        statements = self.statements[begin:end]
        if not statements[0].op.fuses:
            yield Part(begin, end, Cost(), 0.0, f"{statements[0].out.tensor}: memory reshapes it")
            return
        span = RegionSpan.of(self.program, statements)
        operands = dict.fromkeys(a.tensor for s in statements for a in s.operands)
        read = [name for name in operands if not begin <= self._place.get(name, -1) < end]
        self._ensure(read)
        if not all(self.known.patterns.knows(name) for name in read):
            yield from self._fresh(begin, end, budget)
            return
        contents = tuple(self._contents[name] for name in read)
        key = (self._kinds.key(span), contents, budget)
        if key not in self._shared:
            self._shared[key] = Shared(statements, self._fresh(begin, end, budget))
        like = self._shared[key]
        for found in like:
            yield self._renamed(found, like.statements, begin, end)

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
        return replace(part.expected, cycles=run.cycles, bytes=run.work.bytes)

    def schedule(self, parts: Sequence[Part]) -> str:
        """Every region with its order and choices."""
        fusions: list[Fuse] = []
        orders: list[Order] = []
        settings: list[directives.Setting] = [*self.base.settings]
        for part in parts:
            way: Way | None = part.choice
            if way is None:
                continue
            span = span_of(self.statements[part.begin : part.end])
            if part.end - part.begin > 1:
                fusions.append(Fuse(span.first, span.last))
            if part.begin in self._alone:
                continue
            if way.ordered and way.order:
                orders.append(Order(span.first, span.last, way.order))
            if not way.options.locate:
                settings.append(Locate(False, span))
            settings += way.copies
            for view, index in sorted(way.options.looked_up):
                settings.append(LocateLevel(view, index, True, span))
            settings += [Parallel(index, by, span) for index, by in way.options.lanes]
        return str(Schedule(tuple(fusions), tuple(orders), tuple(settings)))

    def size(self, budget: Budget, seconds: float = inf) -> tuple[int, bool]:
        """How many schedules the space has, and whether that is all of them.

        A schedule is a cut, and for each region a legal order, the levels that are looked up, what
        runs in lanes and what is stored twice.  They are counted, not listed; counting ends when
        time is up, and then there are at least so many.
        """
        until, whole = time.monotonic() + seconds, True
        kinds: dict[Hashable, int] = {}
        after = [0] * len(self.statements) + [1]
        for length in range(1, len(self.statements) + 1):  # short regions first
            for begin in range(len(self.statements) - length + 1):
                end = begin + length
                if end not in self.ends(begin) or (begin in self._alone and length > 1):
                    continue
                key = self._kind(begin, end)
                if key in kinds:
                    continue
                if time.monotonic() > until:
                    whole = False
                    break
                kinds[key] = self._points(begin, end, budget)
            if not whole:
                break
        for begin in range(len(self.statements) - 1, -1, -1):
            for end in self.ends(begin):
                after[begin] += kinds.get(self._kind(begin, end), 0) * after[end]
        return after[0], whole

    # Inside ---------------------------------------------------------------------------------

    def _kind(self, begin: int, end: int) -> Hashable:
        return self._kinds.key(RegionSpan.of(self.program, self.statements[begin:end]))

    def _points(self, begin: int, end: int, budget: Budget) -> int:
        """The legal ways of a region, before any is built."""
        statements = self.statements[begin:end]
        if begin in self._alone:
            return 1
        try:
            plain = self._ways.region(statements)
        except FuseloomError:
            return 0
        total = self._ways.points(plain, budget)
        for copies in self._ways.copies(plain, budget.copies):
            try:
                total += self._ways.points(self._ways.region(statements, copies), budget)
            except FuseloomError:
                continue
        return total

    def _apart_from_others(self) -> frozenset[int]:
        """Statements that make a region each: reshapes, and what is iterated globally.

        A schedule that iterates some statements globally has nothing to say of their regions.
        """
        found = {k for k, s in enumerate(self.statements) if not s.op.fuses}
        names = [s.out.tensor for s in self.source.live]
        for wanted in self.base.of(directives.Global):
            span = wanted.region
            first = 0 if span is None else names.index(span.first)
            last = len(names) - 1 if span is None else names.index(span.last)
            found |= {self._place[n] for n in names[first : last + 1] if n in self._place}
        return frozenset(found)

    def _cuts(self, presets: Mapping[str, str]) -> Iterator[tuple[int, ...]]:
        """Where the parts of the first schedules end."""
        size = len(self.statements)
        for text in presets.values():
            try:
                spans = partition(self.program, Schedule.parse(text))
            except FuseloomError:  # written for the program before it was prepared
                continue
            begins = {self._place[span.statements[0].out.tensor] for span in spans}
            begins |= {p for k in self._alone for p in (k, k + 1) if p < size}
            yield (*sorted(begins - {0}), size)
        yield tuple(range(1, size + 1))

    def _ensure(self, names: Sequence[str]) -> None:
        """Find out the coordinates of tensors, from what statements alone write.

        Of tensors with the same content once; what is too large is expected from samples.
        """
        todo = [name for name in reversed(names) if name in self._place]
        while todo:
            name = todo[-1]
            if name in self._looked or self._noted(name):
                todo.pop()
                continue
            statement = self.statements[self._place[name]]
            first = [a.tensor for a in statement.operands if a.tensor in self._place]
            if missing := [n for n in first if n not in self._looked and not self._noted(n)]:
                todo += missing
                continue
            todo.pop()
            self._looked.add(name)
            if not statement.op.fuses or self._contents.shared(name, self.known):
                continue
            try:
                estimate_region(self._ways.first((statement,)), self.known)
                if not self.known.patterns.knows(name):
                    self.known.make_up(name)
            except (FuseloomError, UnknownError):
                continue

    def _noted(self, name: str) -> bool:
        patterns = self.known.patterns
        if patterns.knows(name) or name in self.known.expected or name in patterns.made_up:
            return True
        statement = self.statements[self._place[name]]
        source = statement.operands[0].tensor
        return not statement.op.fuses and (source not in self._place or self._noted(source))

    def _fresh(self, begin: int, end: int, budget: Budget) -> Iterator[Part | Refusal | Deferred]:
        """The ways of a region that is like none before."""
        statements, least = self.statements[begin:end], [inf]

        def parts(ways: Iterable[Way | Refusal | Later]) -> Iterator[Part | Refusal | Deferred]:
            for found in ways:
                match found:
                    case Refusal():
                        yield found
                    case Later():
                        shared = Shared(statements, parts(found.open()))
                        yield Deferred(found.least, shared.plain)
                    case Way():
                        part = self._part(begin, end, found, budget)
                        if isinstance(part, Part):
                            least[0] = min(least[0], part.expected.cycles)
                        yield part
                        if begin in self._alone:
                            return
                        self._ensure(self.units[begin:end])  # to tell what other orders take

        yield from parts(self._ways.of(statements, budget, lambda: least[0]))

    def _renamed(
        self,
        found: Part | Refusal | Deferred,
        theirs: tuple[Statement, ...],
        begin: int,
        end: int,
    ) -> Part | Refusal | Deferred:
        """What was found of a region, of another one that is like it."""
        mine = self.statements[begin:end]
        if theirs == mine:
            return found
        match found:
            case Refusal():
                return found
            case Deferred(least=least, open=ways):

                def renamed() -> Iterator[Part | Refusal]:
                    for way in ways():
                        part = self._renamed(way, theirs, begin, end)
                        assert not isinstance(part, Deferred)
                        yield part

                return Deferred(least, renamed)
            case Part():
                way = self._ways.renamed(found.choice, theirs, mine)
                text = f"{span_of(mine).name}{way.text}"
                return Part(begin, end, found.expected, found.least, text, way)

    def _part(self, begin: int, end: int, way: Way, budget: Budget) -> Part | Refusal:
        name = span_of(self.statements[begin:end]).name
        made = estimate_region(way.compiled, self.known)
        held, room = made.on_chip.held, made.on_chip.channels
        on_chip = None if held is None else held + (room or 0.0)
        if budget.on_chip is not None and (on_chip is None or on_chip > budget.on_chip):
            told = "an unknown number of" if on_chip is None else f"{on_chip:,.0f}"
            return Refusal("on-chip", f"{name} holds {told} bytes of {budget.on_chip:,.0f}")
        least = made.least if made.least is not None and made.mode is Mode.EXACT else 0.0
        cost = Cost(made.cycles, made.bytes, on_chip or 0.0, way.lanes)
        return Part(begin, end, cost, min(least, made.cycles), f"{name}{way.text}", way)


def _kept(setting: directives.Setting) -> bool:
    """Whether a setting holds for every schedule of a search."""
    match setting:
        case directives.Store(tensor=name):
            return name is None
        case directives.Repeat(region=region):
            return region is None
    return isinstance(setting, KEPT)
