"""Compressed levels that are better looked up than scanned, by the estimate, level by level.

A level that is joined with another can be searched at the coordinates of that one.  It is then
never walked through: where a row of a few neighbours meets all rows of a matrix, that is most of
the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.cost.estimate import EstimateContext, cost_region
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Leaf
from fuseloom.dataflow.table.cells import CellKind, JoinOf, Scan, ScanIn, parts_of
from fuseloom.errors import FuseloomError
from fuseloom.program.walks import postorder

LevelSet: TypeAlias = frozenset[tuple[str, str]]
"""Columns and rows of a table."""


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

    One level after another, each kept if it helps, the one that most tokens pass through first;
    then all of a joiner at once.
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
    compiled: CompiledRegion, levels: LevelSet, before: CompiledBefore | None = None
) -> CompiledRegion:
    options = compiled.region.options
    for column, row in sorted(levels):
        options = options.with_level(column, row, True)
    region = replace(compiled.region, options=options)
    return compile_region(region, compiled.own_order, before=before)


def _better(
    compiled: CompiledRegion, first: RegionEstimate, context: EstimateContext, effort: float
) -> LevelSet:
    options = compiled.region.options
    tokens: dict[str, float] = {}
    for node, numbers in zip(compiled.graph.nodes, first.nodes, strict=True):
        tokens[node.origin] = max(tokens.get(node.origin, 0.0), numbers.tokens)
    levels = sorted(searchable(compiled), key=lambda at: -tokens.get(".".join(at), 0.0))
    levels = [at for at in levels if at not in options.scanned and at not in options.looked_up]
    trials = _Trials(compiled, context, first.cycles, effort)
    for level in levels:
        trials.attempt(trials.chosen | {level})
    for group in _joined_with_others(compiled, levels):
        if len(group - trials.chosen) > 1 and trials.attempt(trials.chosen | group):
            for level in sorted(group):
                trials.attempt(trials.chosen - {level}, gain=0.0)
    return trials.chosen


class _Trials:
    """The best choice of levels yet, and what is left of the effort to find a better one."""

    def __init__(
        self, compiled: CompiledRegion, context: EstimateContext, cycles: float, effort: float
    ) -> None:
        self.chosen: LevelSet = frozenset()
        self._compiled = compiled
        self._context = context
        self._least = cycles
        self._left = effort

    def attempt(self, levels: LevelSet, gain: float = GAIN) -> bool:
        """Choose some levels if they save that share of the cycles; return whether they do."""
        if self._left <= 0:
            return False
        self._left -= building(self._compiled)
        try:
            made = cost_region(_with(self._compiled, levels), self._context)
        except FuseloomError:
            return False
        self._left -= made.executed
        saves = made.cycles <= self._least * (1.0 - gain)
        if saves:
            self.chosen, self._least = levels, made.cycles
        return saves


def _joined_with_others(
    compiled: CompiledRegion, levels: Sequence[tuple[str, str]]
) -> Iterator[LevelSet]:
    """Of each joiner those levels that may save nothing one by one.

    While one operand of a joiner is scanned that has more coordinates than all that are looked up,
    it takes as long.
    """
    for level in compiled.table.levels.values():
        parts = list(postorder([level.tree], parts_of))
        scanned = {part.column for part in parts if isinstance(part, ScanIn)}
        group = frozenset(at for at in levels if at[1] == level.index and at[0] in scanned)
        united = any(isinstance(part, JoinOf) and part.union for part in parts)
        if len(group) > (1 if united else 2):
            yield group
