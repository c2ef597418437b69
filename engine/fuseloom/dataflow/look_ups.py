"""Compressed levels that are better looked up than scanned, by the estimate, level by level.

A level that is joined with another can be searched at the coordinates of that one.  It is then
never walked through: where a row of a few neighbours meets all rows of a matrix, that is most of
the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.cost.estimate import EstimateContext, cost_region
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Leaf
from fuseloom.dataflow.table.cells import CellKind, Scan
from fuseloom.errors import FuseloomError


class LookUps(Enum):
    """In which regions levels are looked up that would be scanned otherwise.

    ``OPEN``: in those whose order the schedule leaves open.  ``ALL``, ``NONE``: in all, in none.
    """

    OPEN = "open"
    ALL = "all"
    NONE = "none"

    def allow(self, region: FusedRegion) -> bool:
        """Return whether levels of a region may be looked up."""
        return self is LookUps.ALL or (self is LookUps.OPEN and region.chosen is None)


GAIN = 0.001
"""Share of the cycles that a search must save."""
NODE = 3e3
"""Elements that take as long as building and estimating a node takes besides."""
CELL = 50.0
"""Elements that take as long as building a cell of a table takes."""


def building(compiled: CompiledRegion) -> float:
    """Return how many elements take as long as building and estimating a region like this one."""
    table = compiled.table
    return NODE * len(compiled.graph.nodes) + CELL * len(table.columns) * len(table.rows)


def searchable(compiled: CompiledRegion) -> Iterator[tuple[str, str]]:
    """Columns and rows of the compressed levels that are scanned and joined with others.

    Those that a schedule can name: of a view that is read twice, one column is called as the view.
    """
    views = compiled.region.views
    for (column, row), cell in compiled.table.cells.items():
        scan, view = cell.expression, views.get(column)
        named = isinstance(view, Leaf) and row in view.indices
        if named and cell.kind is CellKind.JOIN and isinstance(scan, Scan) and not scan.dense:
            yield column, row


def with_look_ups(
    compiled: CompiledRegion,
    context: EstimateContext,
    effort: float,
    before: CompiledBefore | None = None,
) -> CompiledRegion:
    """A region in which each compressed level is searched that takes fewer cycles so.

    One level after another, each kept if it helps, the one that most tokens pass through first.
    Where the schedule says ``locate off``, or says it of a level, that holds; and a machine that
    copies the reference has no searchers.

    Parameters
    ----------
    effort : float
        What that may take, in elements of executions on coordinates.
    before : CompiledBefore, optional
        Where to look whether equal regions have been compiled, and to note them.
    """
    options = compiled.region.options
    if not options.locate or not context.machine.has_searchers:
        return compiled
    first = cost_region(compiled, context)
    key = ("look-ups", first.graph, context.guessed(first.graph), effort)
    if key not in context.look_ups:
        context.look_ups[key] = _better(compiled, first, context, effort)
    levels = context.look_ups[key]
    return _with(compiled, levels, before) if levels else compiled


def _with(
    compiled: CompiledRegion,
    levels: frozenset[tuple[str, str]],
    before: CompiledBefore | None = None,
) -> CompiledRegion:
    options = compiled.region.options
    for column, row in sorted(levels):
        options = options.with_level(column, row, True)
    region = replace(compiled.region, options=options)
    return compile_region(region, compiled.own_order, before=before)


def _better(
    compiled: CompiledRegion, first: RegionEstimate, context: EstimateContext, effort: float
) -> frozenset[tuple[str, str]]:
    options, least = compiled.region.options, first.cycles
    tokens: dict[str, float] = {}
    for node, numbers in zip(compiled.graph.nodes, first.nodes, strict=True):
        tokens[node.origin] = max(tokens.get(node.origin, 0.0), numbers.tokens)
    levels = sorted(searchable(compiled), key=lambda at: -tokens.get(".".join(at), 0.0))
    chosen: frozenset[tuple[str, str]] = frozenset()
    left = effort
    for level in levels:
        if level in options.scanned or level in options.looked_up:
            continue
        if left <= 0:
            break
        left -= building(compiled)
        try:
            made = cost_region(_with(compiled, chosen | {level}), context)
        except FuseloomError:
            continue
        left -= made.executed
        if made.cycles < least * (1.0 - GAIN):
            chosen, least = chosen | {level}, made.cycles
    return chosen
