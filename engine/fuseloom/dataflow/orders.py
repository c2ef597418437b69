"""Dataflow orders of a region, one per nest class, by estimated cycles.

Rules: ``docs/spec/fusion.md`` §5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.cost import EstimateMode
from fuseloom.dataflow.cost.estimate import EstimateContext, cost_region
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.fusion.classes import NestClass, nest_classes
from fuseloom.dataflow.fusion.pog import count_text, orders_text
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.look_ups import LookUps, building, with_look_ups
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.stores import with_dense_levels
from fuseloom.display import bar, shown, table, tag
from fuseloom.errors import FuseloomError, OrderError
from fuseloom.program.types import Program
from fuseloom.wording import counted, described

EFFORT = 1e7
"""Elements that ranking may execute: about a second."""


@dataclass(frozen=True)
class RankedOrder:
    """An order that stands for its nest class.

    Attributes
    ----------
    stands_for : NestClass
        The orders that give the same graph.
    cycles : float
        Estimated cycles of the region; infinite if the machine cannot realise the order.
    reason : str
        Why it cannot.
    """

    stands_for: NestClass
    cycles: float
    reason: str = ""

    def __repr__(self) -> str:
        return described(
            self, f"{','.join(self.order)}: {self.reason or counted(self.cycles, 'cycle')}"
        )

    @property
    def order(self) -> tuple[str, ...]:
        return self.stands_for.order

    def covers(self, order: Sequence[str]) -> bool:
        """Return whether an order gives the same graph."""
        return _has(self.stands_for, order)


def _has(nests: NestClass, order: Sequence[str]) -> bool:
    """Return whether an order is one of a nest class."""
    try:
        nests.constraints.check(order)
    except OrderError:
        return False
    return True


def rank(region: FusedRegion, context: EstimateContext, limit: int) -> Iterator[RankedOrder]:
    """Estimate the first ``limit`` nest classes of a region, one at a time.

    Parameters
    ----------
    context : EstimateContext
        Statistics of everything that the region reads.
    """
    for found in islice(nest_classes(region), limit):
        try:
            cycles = cost_region(compile_region(region, found.order), context).cycles
        except FuseloomError as reason:
            yield RankedOrder(found, float("inf"), str(reason))
        else:
            yield RankedOrder(found, float(cycles))


@dataclass(frozen=True)
class Ranking:
    """The orders of a region, one for each graph that they give, the cheapest first.

    Attributes
    ----------
    region : str
    legal : int or None
        Legal orders, those included that no graph can be built of; None where there are too many
        to be counted.
    graphs : tuple of RankedOrder
    """

    region: str
    legal: int | None
    graphs: tuple[RankedOrder, ...]

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.region}: {orders_text(self.legal)}, {counted(len(self.graphs), 'graph')}",
        )

    def __str__(self) -> str:
        lines = (
            f"{'→'.join(x.order)}: {counted(x.cycles, 'cycle')}"
            if not x.reason
            else f"{'→'.join(x.order)}: {x.reason}"
            for x in self.graphs
        )
        return "\n".join([f"{self.region}: {orders_text(self.legal)}", *lines])

    def _repr_html_(self) -> str:
        built = [x.cycles for x in self.graphs if not x.reason]
        most = max(built, default=0.0) or 1.0
        rows = [
            (
                " → ".join(x.order),
                f"{x.stands_for.orders:,}",
                x.reason or bar(x.cycles / most, f"{x.cycles:,.0f}"),
            )
            for x in self.graphs
        ]
        heads = ["order, outermost first", "orders with this graph", "estimated cycles"]
        legal, different = count_text(self.legal), len(self.graphs)
        said = f"{self.region}: legal orders {legal}, different graphs {different:,}"
        return shown(tag("h4", said), table(heads, rows, figures=(1,)))


def ranking(
    compilation: Compilation,
    data: Mapping[str, Any],
    region: int = 0,
    *,
    limit: int = 100,
    machine: Machine | None = None,
) -> Ranking:
    """Estimate the cycles of each order of a region.

    Parameters
    ----------
    data : mapping
        Every input by name; only its coordinates matter.
    region : int
        Which one, counted from 0.
    limit : int
        Graphs that are looked at.

    Raises
    ------
    DataError
        If the data do not fit the program.

    Examples
    --------
    >>> from fuseloom.dataflow.compiler import compile_program
    >>> from fuseloom.program import parse
    >>> program = parse("A: 2x2 dcsr\\nX: 2x2 dense\\nT[i,j] = A[i,k] * X[k,j]")
    >>> print(ranking(compile_program(program), {"A": [[0, 1], [1, 1]], "X": [[1, 2], [3, 4]]}))
    T: 2 legal orders
    i→k→j: 27 cycles
    i→j→k: 29 cycles
    """
    context = EstimateContext.of(compilation.program, data, machine=machine)
    for earlier in compilation.regions[:region]:
        cost_region(earlier, context)  # notes what it writes
    chosen = compilation.regions[region]
    found = ranked(list(rank(chosen.region, context, limit)))
    return Ranking(chosen.name, chosen.legal_orders, tuple(found))


def ranked(found: list[RankedOrder]) -> list[RankedOrder]:
    """Cheapest first; equal ones stay as they were found."""
    return sorted(found, key=lambda entry: entry.cycles)


@dataclass(frozen=True)
class BestOrders:
    """A program with its regions' best orders.

    Attributes
    ----------
    compilation : Compilation
    cut_short : tuple of str
        Regions of which not all nest classes were ranked, as that would take too long.
    """

    compilation: Compilation
    cut_short: tuple[str, ...]

    def __repr__(self) -> str:
        regions = counted(len(self.compilation.regions), "region")
        return described(
            self,
            f"of {self.compilation.program.name}: {regions}, {len(self.cut_short):,} cut short",
        )

    def _repr_html_(self) -> str:
        return self.compilation._repr_html_()

    @property
    def note(self) -> str:
        """A note on the regions whose orders were not all ranked, for people; empty if none."""
        if not self.cut_short:
            return ""
        return f"not all orders of {', '.join(self.cut_short)} were ranked"


@check_arguments
def compile(
    program: Program,
    schedule: Schedule | str | None = None,
    data: Mapping[str, Any] | None = None,
    *,
    machine: Machine | None = None,
    passes: Sequence[str] | None = None,
    before: CompiledBefore | None = None,
) -> Compilation:
    """Compile a program; what its schedule leaves open is chosen by the estimate, given data.

    With data, regions get the orders, look-ups and dense levels that :func:`best_orders` finds.
    Without, each gets the first order that can be built, and ``note`` of the compilation says so.

    Parameters
    ----------
    schedule : Schedule or str, optional
        Schedule, or its text; by default every statement is a region of its own.
    data : mapping, optional
        Every input by name; only its coordinates matter.
    machine : Machine, optional
        Which one to choose for.
    passes : sequence of str, optional
        As for :func:`fuseloom.dataflow.compiler.compile_program`.
    before : CompiledBefore, optional
        Regions that have been compiled under other schedules, which need not be compiled again.

    Raises
    ------
    FuseloomError
        Whatever stands in the way, naming it, the rule and the way out.

    Examples
    --------
    >>> import fuseloom as fl
    >>> gcn, data = fl.load("gcn", "karate")
    >>> compiled = fl.compile(gcn.program, gcn.presets["partial"], data)
    >>> fl.simulate(compiled, data).cycles
    13869
    >>> fl.compile(gcn.program, gcn.presets["partial"]).note
    'orders and look-ups are the first that can be built; with data, better ones may be found'
    """
    if data is None:
        return compile_program(program, schedule, passes=passes, before=before)
    made = compile_program(program, schedule, before=before)
    best = best_orders(made, data, machine=machine, before=before).compilation
    return best if passes is None else best.with_passes(passes)


@check_arguments
def best_orders(
    compilation: Compilation,
    data: Mapping[str, Any],
    *,
    effort: float = EFFORT,
    mode: EstimateMode | str = EstimateMode.AUTO,
    machine: Machine | None = None,
    look_ups: LookUps = LookUps.OPEN,
    stores: LookUps | None = None,
    before: CompiledBefore | None = None,
) -> BestOrders:
    """The same regions, each under the order with the fewest estimated cycles.

    Regions whose order the schedule names keep it; of orders that take as many cycles the one that
    moves the fewest bytes is taken, of equal ones the first that can be built.  Compressed
    levels that are faster looked up than scanned are looked up, where the schedule leaves that
    open, too; and levels of intermediates that are complete whatever the data are stored dense
    where that costs nothing (:mod:`fuseloom.dataflow.stores`).  How much is ranked is counted, not
    timed, so that a slow computer finds the same.

    Parameters
    ----------
    data : mapping
        Every input by name; only its coordinates matter.
    effort : float
        What ranking may take, in elements of executions on coordinates, shared out evenly among
        the regions; ten million are about a second.  The first order that can be built is always
        among those ranked.
    look_ups : LookUps
        In which regions levels may be looked up that would be scanned otherwise.
    stores : LookUps, optional
        Between which regions levels may be stored dense that would be compressed otherwise; by
        default as ``look_ups`` says.
    before : CompiledBefore, optional
        Regions that have been compiled under other schedules, which need not be compiled again.

    Raises
    ------
    DataError
        If the data do not fit the program.

    Examples
    --------
    >>> import fuseloom as fl
    >>> gcn, data = fl.load("gcn", "karate")
    >>> first = fl.compile(gcn.program, gcn.presets["partial"])
    >>> best = fl.best_orders(first, data).compilation
    >>> fl.simulate(first, data).cycles, fl.simulate(best, data).cycles
    (14106, 13869)
    """
    context = EstimateContext.of(compilation.program, data, mode, machine)
    share = effort / max(len(compilation.regions), 1)
    regions: list[CompiledRegion] = []
    cut: list[str] = []
    for compiled in compilation.regions:
        best, whole = compiled, True
        if compiled.region.chosen is None:
            best, whole = _best(compiled, context, share, before)
        if look_ups.allow(compiled.region):
            best = with_look_ups(best, context, share, before)
        if not whole:
            cut.append(compiled.name)
        cost_region(best, context)  # notes what it writes, for the regions after it
        regions.append(best)
    found = replace(compilation, regions=tuple(regions), estimated=True)
    may = stores or look_ups
    allowed = [r.name for r in compilation.regions if may.allow(r.region)]
    made = with_dense_levels(found, context, allowed, before)
    if made is not found:
        made = _reordered(found, made, context, share, look_ups, before)
    return BestOrders(made, tuple(cut))


def _reordered(
    compressed: Compilation,
    stored: Compilation,
    context: EstimateContext,
    effort: float,
    look_ups: LookUps,
    before: CompiledBefore | None,
) -> Compilation:
    """Orders and look-ups that dense levels make possible, where nothing of them costs more."""
    regions = []
    for old, new in zip(compressed.regions, stored.regions, strict=True):
        best = new
        if new.region.chosen is None and new.pog != old.pog:
            best, _ = _best(new, context, effort, before)
        if new is not old and look_ups.allow(new.region):
            best = with_look_ups(best, context, effort, before)
        if best is not new:
            was, now = (cost_region(r, context) for r in (new, best))
            if now.bytes > was.bytes or now.flops > was.flops:
                best = new
        regions.append(best)
    return replace(stored, regions=tuple(regions))


def _best(
    compiled: CompiledRegion,
    context: EstimateContext,
    effort: float,
    before: CompiledBefore | None,
) -> tuple[CompiledRegion, bool]:
    """A region under its best order, and whether all of its nest classes were ranked."""
    first = cost_region(compiled, context)
    key = (first.graph, str(compiled.region), context.guessed(first.graph), effort)
    if key not in context.best:
        context.best[key] = _cheapest(compiled, first, context, effort)
    order, whole = context.best[key]
    if order is None:
        return compiled, whole
    return compile_region(compiled.region, order, before=before), whole


def _cheapest(
    compiled: CompiledRegion, first: RegionEstimate, context: EstimateContext, effort: float
) -> tuple[tuple[str, ...] | None, bool]:
    """The order that is better than the given one and all others, if any is."""
    found: list[tuple[float, float, tuple[str, ...] | None]] = [(first.cycles, first.bytes, None)]
    left, whole = effort, True
    for nests in nest_classes(compiled.region):
        if _has(nests, compiled.own_order):
            continue
        if left <= 0:
            whole = False
            break
        left -= building(compiled)
        try:
            made = cost_region(compile_region(compiled.region, nests.order), context)
        except FuseloomError:
            continue
        left -= made.executed
        found.append((made.cycles, made.bytes, nests.order))
    return min(found, key=lambda entry: entry[:2])[2], whole
