"""The decisions of a user, and their result from the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import Estimate, estimate
from fuseloom.dataflow.fusion.directives import (
    Locate,
    LocateLevel,
    Materialise,
    Nonzero,
    Parallel,
    Permute,
    Repeat,
    Setting,
    Span,
    blamed,
)
from fuseloom.dataflow.fusion.regions import partition
from fuseloom.dataflow.fusion.schedule import Fuse, Order, Schedule
from fuseloom.dataflow.fusion.sequence import sequenced
from fuseloom.dataflow.look_ups import LookUps
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import BestOrders, best_orders
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.errors import ScheduleError
from fuseloom.models import (
    Kernel,
    Loaded,
    Model,
)
from fuseloom.program import Program, Statement, StoredTensor
from fuseloom.program.printer import statement_text
from fuseloom_workbench.state.files import Upload
from fuseloom_workbench.state.sources import Options, source

Orders = Mapping[str, tuple[str, ...]]

EFFORT = 3e6
"""The limit on ranking orders at each change: some tenths of a second."""


@dataclass(frozen=True)
class Design:
    """Every decision of a user; two equal designs mean the same thing.

    Attributes
    ----------
    cuts : frozenset of int
        Positions between live statements where a region ends: ``k`` is before statement ``k``, in
        the order in which they are carried out.
    orders : mapping of str to tuple of str
        Chosen dataflow orders by region name.  Those of regions that a later cut undid stay,
        so that moving a boundary back brings them back.
    wishes : tuple of Order
        Orders of single statements, from the schedule's text.
    text : str or None
        The program's text once edited; None is the model's own.
    settings : tuple
        Further directives of the schedule: lanes, blocks, locators, copies and the like.  Those
        of a region that a later cut undid stay, as its order does, and say nothing until then.
    machine : Machine
        What it is simulated on, and what estimates and orders left open are judged for.
    where_possible : bool
        Whether a region that cannot be built may be cut further, as the schedule asked.
    options : tuple of (str, int or float)
        Sizes and densities of the model that differ from its own, by name.
    as_written : bool
        Whether regions whose order is named are as they are written: nothing is looked up, or
        stored dense, that is not named either.  So a schedule that a run was done with gives that
        very run.
    uploads : tuple of Upload
        Inputs whose values came in files; those that do not fit the program are not used.
    """

    model: str
    data: str
    seed: int = 0
    cuts: frozenset[int] = frozenset()
    orders: Orders = field(default_factory=dict)
    wishes: tuple[Order, ...] = ()
    text: str | None = None
    settings: tuple[Setting, ...] = ()
    machine: Machine = field(default_factory=Machine.default)
    where_possible: bool = False
    options: Options = ()
    as_written: bool = False
    uploads: tuple[Upload, ...] = ()

    @classmethod
    def scheduled(
        cls,
        model: str,
        data: str,
        seed: int,
        schedule: Schedule,
        text: str | None = None,
        machine: Machine | None = None,
        options: Options = (),
        uploads: tuple[Upload, ...] = (),
    ) -> Design:
        """The design that a schedule's text describes.

        Raises
        ------
        FuseloomError
            If the schedule does not fit the program.
        """
        program = sequenced(source(model, data, seed, text, options).model.program, schedule)
        live = program.live
        place = {s.out.tensor: k for k, s in enumerate(live)}
        spans = partition(program, schedule)
        cuts = {place[span.statements[0].out.tensor] for span in spans}
        cuts |= fences(live)
        named = {
            region_name(o.first, o.last): o.indices for o in schedule.orders if o.last is not None
        }
        wishes = tuple(o for o in schedule.orders if o.last is None)
        # What is materialised has become a cut.
        settings = tuple(s for s in schedule.settings if not isinstance(s, Materialise))
        machine = machine or Machine.default()
        lenient = any(fusion.where_possible for fusion in schedule.fusions)
        if not lenient:
            _check_names(schedule, [span.name for span in spans])
        return cls(
            model,
            data,
            seed,
            frozenset(cuts - {0}),
            named,
            wishes,
            text,
            settings,
            machine,
            lenient,
            options,
            uploads=uploads,
        )

    @property
    def subject(self) -> tuple[object, ...]:
        """Program and data, on any machine: designs with the same one can be compared."""
        return self.model, self.text, self.data, self.seed, self.options, self.uploads

    @property
    def source(self) -> Loaded:
        """The model with its data, as :func:`source` gives it."""
        return source(self.model, self.data, self.seed, self.text, self.options, self.uploads)


def region_name(first: str, last: str) -> str:
    """Return the engine's name of the region of these statements."""
    return first if first == last else f"{first}..{last}"


@dataclass(frozen=True)
class Unit:
    """One box of the chain: a kernel, or a statement of a kernel that is cut apart.

    Attributes
    ----------
    start : int
        Position of its first statement among the live ones.
    memory : bool
        Whether memory does it, between regions: a reshape.
    place : str
        File and line of its source; empty where it has none.
    """

    name: str
    start: int
    statements: tuple[str, ...]
    texts: tuple[str, ...]
    memory: bool = False
    place: str = ""


@dataclass(frozen=True)
class BuiltDesign:
    """A design, compiled and estimated; :func:`build` makes it.

    Attributes
    ----------
    fused : Compilation
        Regions whose order was left open under the first that can be built.
    ranking : BestOrders
        The same under their best orders.
    """

    design: Design
    loaded: Loaded
    fused: Compilation = field(repr=False)
    ranking: BestOrders = field(repr=False)
    estimate: Estimate = field(repr=False)

    @property
    def compilation(self) -> Compilation:
        """Every region under the order that was chosen for it, or the best one that was found."""
        return self.ranking.compilation

    @property
    def model(self) -> Model:
        return self.loaded.model

    @property
    def data(self) -> Mapping[str, StoredTensor]:
        return self.loaded.data

    @property
    def program(self) -> Program:
        """The program as it was written; ``compilation.program`` is what a schedule made of it."""
        return self.model.program

    @property
    def regions(self) -> tuple[CompiledRegion, ...]:
        return self.compilation.regions

    @property
    def schedule(self) -> Schedule:
        return self.compilation.schedule

    @cached_property
    def live(self) -> tuple[Statement, ...]:
        """The statements in the order in which they are carried out."""
        return live_statements(self.program, self.design)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The boxes of the chain, in the order in which they are carried out."""
        owner = {s: kernel for kernel in self.model.kernels for s in kernel.statements}
        whole = Counter(owner.get(s.out.tensor) for s in self.live)
        groups: list[tuple[Kernel | None, list[Statement]]] = []
        dropped = {
            setting.tensor for setting in self.design.settings if isinstance(setting, Nonzero)
        }
        for given in self.live:
            kernel = owner.get(given.out.tensor)
            statement = replace(given, nonzero=given.nonzero or given.out.tensor in dropped)
            if kernel is None or not groups or groups[-1][0] is not kernel:
                groups.append((kernel, []))
            groups[-1][1].append(statement)
        units: list[Unit] = []
        start = 0
        for kernel, group in groups:
            inner = range(start + 1, start + len(group))
            parted = not self.design.cuts.isdisjoint(inner) or len(group) < whole[kernel]
            if kernel is None or parted:
                for k, statement in enumerate(group):
                    units.append(_unit(statement.out.tensor, start + k, [statement]))
            else:
                units.append(_unit(kernel.name, start, group, kernel.place))
            start += len(group)
        return tuple(units)

    @cached_property
    def unit_regions(self) -> tuple[int, ...]:
        """Number of the region each unit belongs to.

        What no region computes (a reshape, a product merged into another) goes with the next.
        """
        owner = {s.out.tensor: k for k, r in enumerate(self.regions) for s in r.region.statements}
        numbers = []
        following = len(self.regions) - 1
        for unit in reversed(self.units):
            following = next((owner[s] for s in unit.statements if s in owner), following)
            numbers.append(following)
        return tuple(reversed(numbers))

    @property
    def gaps(self) -> tuple[int, ...]:
        """Gaps between units that are cut; gap ``g`` is before unit ``g``."""
        return tuple(g for g, unit in enumerate(self.units) if unit.start in self.design.cuts)

    def region_order(self, number: int) -> tuple[str, ...]:
        """The order of a region in its own index names, without what the compiler added."""
        return self.regions[number].own_order

    @cached_property
    def resolved(self) -> str:
        """Canonical text of the schedule: every fusion and the order each region really has."""
        return str(self.compilation.resolved)

    @cached_property
    def preset_name(self) -> str:
        """The model's preset that equals this design, or nothing."""
        d = self.design
        for name, text in self.model.presets.items():
            preset = Design.scheduled(
                d.model, d.data, d.seed, Schedule.parse(text), d.text, options=d.options
            )
            if schedule_of(self.program, preset) == self.schedule:
                return name
        return ""

    @cached_property
    def known_name(self) -> str:
        """The preset's name, or the model's if it has none and is as it is shipped."""
        d = self.design
        if self.preset_name or self.model.presets or d.text is not None:
            return self.preset_name
        shipped = Design.scheduled(d.model, d.data, d.seed, Schedule.parse(""), options=d.options)
        return d.model if schedule_of(self.program, shipped) == self.schedule else ""

    @property
    def problem(self) -> str:
        """Program, data and machine: what configurations share that can be compared."""
        d = self.design
        machine = f"{d.machine.name} {d.machine.fingerprint}"
        data = f"{d.data} ({self.loaded.label}), seed {d.seed}"
        data += "".join(f", {name} {value}" for name, value in d.options)
        data += "".join(f", {u.tensor} {u.key}" for u in d.uploads)
        return f"{d.model}, {data}\n{machine}\n{d.text or ''}"

    @property
    def configuration(self) -> str:
        """The identity of a run: two designs with the same one give the same cycles."""
        return f"{self.problem}\n{self.resolved}"

    @cached_property
    def tokens(self) -> float:
        """Tokens that a simulation is expected to move, which is what takes its time."""
        return sum(node.tokens for region in self.estimate.regions for node in region.nodes)


def fences(live: Sequence[Statement]) -> set[int]:
    """Return the ends of reshapes, which belong to no region."""
    return {k for k in range(1, len(live)) if live[k].op.fuses != live[k - 1].op.fuses}


def _unit(name: str, start: int, statements: list[Statement], place: str = "") -> Unit:
    return Unit(
        name,
        start,
        tuple(s.out.tensor for s in statements),
        tuple(statement_text(s) for s in statements),
        not any(s.op.fuses for s in statements),
        place,
    )


def live_statements(program: Program, design: Design) -> tuple[Statement, ...]:
    """The statements that are needed, in the order in which a design carries them out."""
    return sequenced(program, Schedule((), (), design.settings)).live


def schedule_of(program: Program, design: Design) -> Schedule:
    """The schedule that a design stands for: one ``fuse`` per region of several statements."""
    live = live_statements(program, design)
    names = [s.out.tensor for s in live]
    ends = [0, *sorted(c for c in design.cuts if 0 < c < len(names)), len(names)]
    fusions, orders, spans = [], [], set()
    for begin, end in pairwise(ends):
        first, last = names[begin], names[end - 1]
        spans.add(Span(first, last))
        if end - begin > 1 and any(s.op.fuses for s in live[begin:end]):
            fusions.append(Fuse(first, last, design.where_possible))
        if chosen := design.orders.get(region_name(first, last)):
            orders.append(Order(first, last, chosen))
    settings = design.settings
    if not design.where_possible:  # else regions may be cut further
        settings = tuple(s for s in settings if not _elsewhere(s, spans, set(names)))
    return Schedule(tuple(fusions), (*design.wishes, *orders), settings)


def _elsewhere(setting: Setting, spans: Collection[Span], known: Set[str]) -> bool:
    """Return whether a directive concerns a region that the cuts lack, but not its statements."""
    span = setting.region if isinstance(setting, _OF_REGIONS) else None
    return span is not None and span not in spans and {span.first, span.last} <= known


def _check_names(schedule: Schedule, regions: Sequence[str]) -> None:
    """Refuse what names a region that a schedule's text does not make."""
    named = [(s, s.region) for s in schedule.settings if isinstance(s, _OF_REGIONS)]
    named += [(o, Span(o.first, o.last)) for o in schedule.orders if o.last is not None]
    for directive, span in named:
        if span is not None and span.name not in regions:
            with blamed(directive):
                raise ScheduleError(
                    f"'{directive}' names no region", hint=f"regions: {', '.join(regions)}"
                )


_OF_REGIONS = (Locate, LocateLevel, Parallel, Permute, Repeat)
"""Directives that may name the region they are for."""
_COMPILED = CompiledBefore(most=20_000)
"""The cache of regions that earlier designs have compiled."""


def compiled(design: Design) -> Compilation:
    """Compile a design; regions whose order is open have the first that can be built.

    Raises
    ------
    FuseloomError
        The engine's reason why it cannot be.
    """
    program = design.source.model.program
    return compile_program(program, schedule_of(program, design), before=_COMPILED)


def build(design: Design, before: BuiltDesign | None = None) -> BuiltDesign:
    """Compile and estimate a design, each region under its best order unless one is chosen.

    If the design differs from ``before`` in its machine only, nothing is fused again.

    Raises
    ------
    FuseloomError
        The engine's reason why it cannot be.
    """
    if before is not None and replace(design, machine=before.design.machine) == before.design:
        loaded, fused = before.loaded, before.fused
    else:
        loaded, fused = design.source, compiled(design)
    machine = design.machine
    look_ups = LookUps.OPEN if design.as_written else LookUps.ALL
    ranking = best_orders(
        fused, loaded.data, effort=EFFORT, machine=machine, look_ups=look_ups, before=_COMPILED
    )
    if before is not None and fused is before.fused and _graphs(ranking) == _graphs(before.ranking):
        ranking = replace(ranking, compilation=before.compilation)
    expected = estimate(ranking.compilation, loaded.data, machine=machine)
    return BuiltDesign(design, loaded, fused, ranking, expected)


def _graphs(ranking: BestOrders) -> list[Graph]:
    return [region.graph for region in ranking.compilation.regions]
