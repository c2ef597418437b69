"""The fusion table as a grid: rows to reorder, cells to look at, steps to replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from engine.dataflow.table.cells import VALUE_ROW, Cell, CellKind, Step
from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.palette import region_fill

FILLS: Mapping[CellKind, str] = {
    CellKind.SCAN: "#cfe3ff",
    CellKind.LOCATE: "#d4eef0",
    CellKind.SEARCH: "#c4e2f0",
    CellKind.REPEAT: "#ecebc4",
    CellKind.JOIN: "#e4d3fb",
    CellKind.REFERENCE: "#f4f6f8",
    CellKind.ACCUMULATE: "#ffd5d0",
    CellKind.VALUE: "#d3efd0",
    CellKind.COMPUTE: "#ffe6b8",
    CellKind.REDUCED: "#f3d9d6",
    CellKind.PASS: "#fafbfc",
    CellKind.VALUE_REPEAT: "#f1f0dc",
}
"""Fills for dark text; the cell's text and its description say the same in words."""


class FusionTableGrid(SessionComponent):
    """The fusion table of the region shown.

    Rows can be dragged by their handle, or moved with Alt and the arrow keys; the slider
    replays the table's construction step by step.

    Examples
    --------
    >>> grid = FusionTableGrid()
    >>> [row["name"] for row in grid.view["rows"]]
    ['i', 'k', 'p', 'n', 'val']
    >>> grid.handle({"kind": "move", "row": "n", "to": 0})
    >>> grid.status["ok"]
    False
    """

    _esm = script("table_grid")
    topics = ("order",)
    _stylesheets = [style("table_grid")]

    selected = param.List([], doc="Column and row of the selected cell.")

    def _follow(self) -> None:
        super()._follow()
        self.session.param.watch(self._select, "cell")

    def _select(self, event: Any) -> None:
        self.selected = list(event.new) if event.new[1] else []

    def make_view(self) -> dict[str, Any]:
        region = self.session.current
        table = region.table
        own = set(region.region.indices)
        kinds = {cell.kind for cell in table.cells.values()}
        return {
            "region": f"{self.session.region + 1}",
            "name": region.name,
            "fill": region_fill(self.session.region),
            "columns": [
                {
                    "name": c.name,
                    "title": c.title,
                    "hint": f"{'read from memory' if c.leaf else 'computed'}, nest "
                    f"{' → '.join(c.nest) or 'none'}",
                    "leaf": c.leaf,
                }
                for c in table.columns
            ],
            "rows": [
                {"name": row, "movable": row in own, "value": row == VALUE_ROW}
                for row in table.rows
            ],
            "steps": [
                {
                    "title": _title(step),
                    "changes": [[column, row, *_cell(cell)] for column, row, cell in step.changes],
                }
                for step in table.steps
            ],
            "kinds": {k.name: {"fill": FILLS[k], "text": k.value} for k in CellKind if k in kinds},
            "edges": [[e.outer, e.inner, e.reason] for e in region.pog.edges],
            "accumulators": [str(a) for a in table.accumulators.values()],
        }

    def handle(self, request: Mapping[str, Any]) -> None:
        row, to, column = request.get("row"), request.get("to"), request.get("column")
        match request["kind"]:
            case "move" if isinstance(row, str) and isinstance(to, int):
                self.session.move_row(row, to)
            case "select" if isinstance(row, str) and isinstance(column, str):
                if (column, row) in self.session.current.table.cells:
                    self.session.select_cell(column, row)


def _title(step: Step) -> str:
    return step.title if step.title.startswith(step.phase) else f"{step.phase}: {step.title}"


def _cell(cell: Cell) -> tuple[str, str, str]:
    return cell.kind.name, cell.text, cell.target
