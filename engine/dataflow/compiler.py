"""From a program and a schedule to one dataflow graph per region."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from engine.dataflow.fusion import directives
from engine.dataflow.fusion.directives import (
    Fuse,
    LocateLevel,
    Materialise,
    Order,
    Parallel,
    Span,
    Store,
    blamed,
    blamed_if_named,
)
from engine.dataflow.fusion.fuse import (
    fuse_kinds,
    fuse_statements,
    fused_where_possible,
    less_shared,
)
from engine.dataflow.fusion.pog import PartialOrderGraph
from engine.dataflow.fusion.prepare import prepare
from engine.dataflow.fusion.region import FusedRegion
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.fusion.search import OrderSearch, reason_for
from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.graph import Graph
from engine.dataflow.samml.lowering import lower
from engine.dataflow.samml.passes import PASSES, Change, Pass, Setting, run_passes, selected
from engine.dataflow.samml.passes.buffers import DEFAULT_CAPACITY, size_buffers
from engine.dataflow.samml.renaming import Kind
from engine.dataflow.samml.traits import Arithmetic
from engine.dataflow.samml.verify import verify
from engine.dataflow.table.build import build_table
from engine.dataflow.table.table import FusionTable
from engine.errors import FuseloomError, LoweringError, OrderError, ScheduleError
from engine.program.dense_levels import written_levels
from engine.program.formats import Format, LevelFormat
from engine.program.late_fields import LateFields
from engine.program.types import Program, Statement
from engine.results.text_table import Align, Column, text_table

MAX_ORDERS_TRIED = 2_000
PART_TRIES = 200
"""Kinds of orders tried for each part of a region that cannot be built as a whole."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class CompiledRegion(LateFields):
    """A region under one order, with its table and graph.

    Attributes
    ----------
    changes : tuple of Change
        What each pass did on the way from the table to the graph, in order.
    """

    region: FusedRegion
    table: FusionTable
    graph: Graph
    changes: tuple[Change, ...] = field(default_factory=tuple)

    @property
    def name(self) -> str:
        return self.region.name

    @property
    def pog(self) -> PartialOrderGraph:
        return self.region.pog

    @property
    def order(self) -> tuple[str, ...]:
        like: CompiledRegion | None = self.__dict__.get("_like")  # whose table is there
        return self.table.order if like is None else like.order

    @cached_property
    def legal_orders(self) -> int:
        """How many orders it could have."""
        like: CompiledRegion | None = self.__dict__.get("_like")
        return self.pog.count() if like is None else like.legal_orders

    @property
    def own_order(self) -> tuple[str, ...]:
        """The order without the indices that the compiler added: what a schedule may name."""
        return tuple(x for x in self.order if x in self.region.extents)

    @cached_property
    def copies(self) -> tuple[str, ...]:
        """Tensors that memory must hold a second time, in another mode order, for this region.

        Dense tensors are not among them: any order of theirs is address arithmetic.
        """
        keys = dict.fromkeys(str(n.params.get("tensor", "")) for n in self.graph.nodes)
        names = [key.partition("@")[0] for key in keys if "@" in key]
        tensors = [self.region.program.tensor(name) for name in names]
        return tuple(t.name for t in tensors if not t.format.all_dense)

    @cached_property
    def recomputed(self) -> Mapping[str, int]:
        """Statements that the graph computes more than once, and how often.

        A tensor that is used twice is computed once where both uses need its elements at the same
        time; where they do not, it would have to be kept, and is computed again.
        """
        like: CompiledRegion | None = self.__dict__.get("_like")
        if like is not None and not like.recomputed:
            return {}
        computing = {
            node.origin.partition(".")[0]
            for node in self.graph.nodes
            if primitive(node.op).arithmetic in _COMPUTING
        }
        made = Counter(c.tensor for c in self.table.columns if c.name in computing and not c.leaf)
        return {tensor: times for tensor, times in made.items() if times > 1}


_COMPUTING = (Arithmetic.BINARY, Arithmetic.UNARY, Arithmetic.FOLD)


@dataclass(frozen=True)
class Compilation:
    """A compiled program: its regions run one after another.

    Attributes
    ----------
    program : Program
        As its schedule changes it: in blocks, under global iteration, with levels stored dense.
    source : Program or None
        What it was before, if that is known.
    stores : tuple of Store
        How tensors are stored of which the schedule says nothing, where an estimate chose it.
    """

    program: Program
    schedule: Schedule
    regions: tuple[CompiledRegion, ...]
    source: Program | None = None
    stores: tuple[Store, ...] = ()

    @cached_property
    def dense_levels(self) -> Mapping[str, Format]:
        """The tensors between regions that have dense levels, and how they are stored."""
        names = [name for region in self.regions for name in region.region.outputs]
        return {
            name: self.program.tensor(name).format
            for name in names
            if LevelFormat.DENSE in written_levels(self.program, name)
        }

    @cached_property
    def resolved(self) -> Schedule:
        """The schedule with every region and its order named: it gives this very compilation.

        Whatever chose the orders, whatever data they were chosen by.
        """
        wishes = tuple(o for o in self.schedule.orders if o.last is None)
        written = {None, *(name for r in self.regions for name in r.region.outputs)}
        settings: list[directives.Setting] = [
            s
            for s in (*self.schedule.settings, *self.stores)
            if not isinstance(s, LocateLevel | Materialise)
            and (not isinstance(s, Store) or s.tensor in written)
        ]
        fusions, orders = [], []
        for r in self.regions:
            first, _, last = r.name.partition("..")
            if r.own_order:  # scalars alone have none
                orders.append(Order(first, last or first, r.own_order))
            if last:
                fusions.append(Fuse(first, last))
            span, options = Span(first, last or first), r.region.options
            for levels, on in ((options.looked_up, True), (options.scanned, False)):
                settings += [LocateLevel(view, x, on, span) for view, x in sorted(levels)]
        return Schedule(tuple(fusions), (*wishes, *orders), tuple(settings))

    def sized(self, default: int = DEFAULT_CAPACITY) -> Compilation:
        """The same with finite channels, of capacities that no data can deadlock.

        Parameters
        ----------
        default : int
            Capacity of channels in which nothing has to wait (see ``size_buffers``).
        """
        regions = tuple(
            replace(r, graph=size_buffers(r.graph, r.region.extents, default=default))
            for r in self.regions
        )
        return replace(self, regions=regions)

    def with_passes(self, names: Sequence[str]) -> Compilation:
        """The same tables, lowered again, with other passes (see :func:`compile_program`)."""
        passes = selected(PASSES, names)
        return replace(
            self, regions=tuple(_finish(r.region, r.table, passes) for r in self.regions)
        )

    def __str__(self) -> str:
        return "\n\n".join(f"{r.region}\n{r.table}\n{r.graph}" for r in self.regions)


def passes_text(compilation: Compilation) -> str:
    """The table of passes, and what those that ran did to each region."""
    columns = tuple(Column(title, align=Align.LEFT) for title in ("pass", "runs", "what it does"))
    rows = [(p.name, p.place.value, p.text) for p in PASSES.values()]
    lines = text_table(columns, rows, header=False)
    for r in compilation.regions:
        lines += ["", r.name] if r.changes else ["", f"{r.name}: as lowered"]
        told = "nodes {:,} -> {:,}, streams {:,} -> {:,}"
        changes = [(c.name, told.format(*c.nodes, *c.streams)) for c in r.changes]
        lines += text_table(columns[:2], changes, indent="  ", header=False)
    return "\n".join(lines)


def compile_region(
    region: FusedRegion,
    order: Sequence[str] | None = None,
    *,
    passes: Sequence[str] | None = None,
    tries: int = MAX_ORDERS_TRIED,
) -> CompiledRegion:
    """Compile one region.

    Without an order, the schedule's is used; without that, the first legal order that the
    machine can realise (see :meth:`FusedRegion.orders`).

    Parameters
    ----------
    passes : sequence of str, optional
        As for :func:`compile_program`.
    tries : int
        How many kinds of orders to try where none is given.

    Raises
    ------
    OrderError, LoweringError
        If the order is illegal, or no order works (with the first reason met).
    GraphError
        If a pass is not known, or stands where it cannot.
    """
    if order is not None or region.chosen is not None:
        return _built(region, tuple(order or region.chosen or ()), passes)
    reason: FuseloomError | None = None
    search = OrderSearch(region, tries * len(region.indices))
    tried = 0
    for candidate in islice(search, tries):
        tried += 1
        try:
            return _built(region, candidate, passes)
        except (OrderError, LoweringError) as problem:
            reason = reason or problem
            search.refuse(reason_for(region, candidate))
    if reason is None:
        raise LoweringError(
            f"region {region.name}: no legal order found in {search.steps:,} steps",
            hint="fuse fewer statements, or name an order",
        )
    count = region.pog.count()
    which = f"its {count:,} legal orders" if count > 1 else "its legal orders (one)"
    if not search.exhausted:
        which = f"the {tried:,} kinds tried of {count:,} legal orders"
    raise LoweringError(
        f"region {region.name}: none of {which} can be built; "
        f"the first fails with: {reason.message}",
        hint=reason.hint,
    )


def _built(
    region: FusedRegion, order: tuple[str, ...], passes: Sequence[str] | None
) -> CompiledRegion:
    """A region under one order.

    Whatever goes wrong inside is logged and told as an order that cannot be built, so that others
    are tried; what passes do that the caller names is the caller's.

    Raises
    ------
    OrderError, LoweringError
        If it cannot be built.
    ScheduleError
        If the schedule asks for what the region has not.
    """
    try:
        return _finish(region, build_table(region, order), selected(PASSES, passes))
    except (OrderError, LoweringError, ScheduleError):
        raise
    except Exception as fault:
        if passes is not None:
            raise
        told = fault.message if isinstance(fault, FuseloomError) else repr(fault)
        _LOG.warning("region %s, order %s: %s", region.name, ",".join(order), told, exc_info=True)
        raise LoweringError(
            f"order {'→'.join(order)} cannot be built, for a fault of the compiler: "
            f"{type(fault).__name__}: {told}",
            hint="take another order, or fuse fewer statements",
        ) from fault


def _finish(region: FusedRegion, table: FusionTable, passes: Sequence[Pass]) -> CompiledRegion:
    table.verify()
    setting = Setting(region.options.lanes, lambda: region.extents)
    graph, changes = run_passes(lower(table), PASSES, passes, setting)
    verify(graph)
    return CompiledRegion(region, table, graph, changes)


def compile_program(
    program: Program,
    schedule: Schedule | str | None = None,
    *,
    passes: Sequence[str] | None = None,
) -> Compilation:
    """Fuse a program under a schedule and lower every region.

    Parameters
    ----------
    schedule : Schedule or str, optional
        Schedule, or its text; by default every statement is a region of its own.
    passes : sequence of str, optional
        Names of the passes to run over each graph, in that order, and no others; by default
        those that stand so in :data:`engine.dataflow.samml.passes.PASSES`.

    Raises
    ------
    FuseloomError
        Whatever stands in the way, naming it, the rule and the way out.
    """
    if schedule is None:
        schedule = Schedule()
    elif isinstance(schedule, str):
        schedule = Schedule.parse(schedule)
    prepared, rest = prepare(program, schedule)
    regions: list[CompiledRegion] = []
    kinds: dict[int, Kind[CompiledRegion]] = {}
    for number, (region, like) in enumerate(fuse_kinds(prepared, rest)):
        if like in kinds:
            regions.append(_like(kinds[like], region, passes))
            continue
        made = _blamed(rest, region, passes)
        if len(made) == 1 and made[0].region is region:
            kinds[number] = Kind(made[0].graph, region.statements, made[0])
        regions += made
    return Compilation(prepared, schedule, tuple(regions), program)


def _like(
    kind: Kind[CompiledRegion], region: FusedRegion, passes: Sequence[str] | None
) -> CompiledRegion:
    """A region that is equal to a compiled one but for names, built when somebody looks.

    Who looks at its graph alone gets the other's, renamed.
    """
    other = kind.compiled

    def make() -> CompiledRegion:
        return _built(region, other.own_order, passes)

    def graph() -> Graph:
        return kind.graph_of(region.name, region.statements, lambda: make().graph)

    return CompiledRegion.late(
        make, {"graph": graph}, region=region, changes=other.changes, _like=other
    )


def _compiled(
    schedule: Schedule, region: FusedRegion, passes: Sequence[str] | None
) -> list[CompiledRegion]:
    """A region compiled; where the schedule says so and it must be, in several."""
    try:
        return [_whole(schedule, region, passes)]
    except (OrderError, LoweringError) as problem:
        if region.chosen is not None or len(region.statements) == 1:
            raise
        program = region.program
        if not fused_where_possible(program, schedule, region.statements):
            raise type(problem)(
                problem.message, hint=_ways_out(schedule, region, problem)
            ) from None
    found: list[CompiledRegion] = []
    left = region.statements
    while left:
        whole, left = _largest(program, schedule, left, passes)
        found.append(whole)
    return found


def _whole(
    schedule: Schedule,
    region: FusedRegion,
    passes: Sequence[str] | None,
    tries: int = MAX_ORDERS_TRIED,
) -> CompiledRegion:
    try:
        return compile_region(region, passes=passes, tries=tries)
    except (OrderError, LoweringError) as problem:
        if region.chosen is not None:
            raise
        # What its parts share may rule out the orders that each of them has.
        for apart in less_shared(region, schedule):
            try:
                return compile_region(apart, passes=passes, tries=tries)
            except (OrderError, LoweringError):
                continue
        raise problem


def _blamed(
    schedule: Schedule, region: FusedRegion, passes: Sequence[str] | None
) -> list[CompiledRegion]:
    """Compile a region; what is wrong with it is told with the place of the directive at fault."""
    orders = (o for o in schedule.orders if o.last and Span(o.first, o.last).name == region.name)
    with blamed(next(orders, None)), blamed_if_named(schedule.of(Parallel)):
        return _compiled(schedule, region, passes)


def _largest(
    program: Program,
    schedule: Schedule,
    statements: tuple[Statement, ...],
    passes: Sequence[str] | None,
) -> tuple[CompiledRegion, tuple[Statement, ...]]:
    """As many of the first statements as are found to make a region, and those that are left.

    The number is doubled as long as it can be built, then found by halving, which takes it that
    what is part of a region can be built; what cannot is tried for few statements more than can.

    Raises
    ------
    OrderError, LoweringError
        If the first alone cannot be built.
    """

    def build(count: int) -> CompiledRegion:
        made = fuse_statements(program, schedule, statements[:count])
        if len(made) > 1:
            raise LoweringError(f"region {made[0].name} ends before {statements[count - 1].out}")
        return _whole(schedule, made[0], passes, PART_TRIES)

    best, low, high = build(1), 1, len(statements) + 1
    while high - low > 1:
        middle = (low + high) // 2 if high <= len(statements) else min(2 * low, high - 1)
        try:
            best, low = build(middle), middle
        except (OrderError, LoweringError):
            high = middle
    return best, statements[low:]


def _ways_out(schedule: Schedule, region: FusedRegion, problem: FuseloomError) -> str | None:
    """How to cut a region that cannot be built, and what else would help."""
    try:
        _, left = _largest(region.program, schedule, region.statements, None)
    except (OrderError, LoweringError):
        return problem.hint
    parts = (region.statements[: -len(left)], left)
    texts = [str(Fuse(part[0].out.tensor, part[-1].out.tensor)) for part in parts if len(part) > 1]
    cut = f"cut the region after {parts[0][-1].out.tensor}"
    write = f": {'; '.join(texts)}" if texts else ""
    return f"{cut}{write}" + (f"; or {problem.hint}" if problem.hint else "")
