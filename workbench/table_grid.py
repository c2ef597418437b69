"""The fusion table as a grid: rows to reorder, cells to look at, steps to replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from workbench.assets import script, style
from workbench.component import SessionComponent


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
    part = "table"
    more = ("selection",)
    topics = ("order",)
    _stylesheets = [style("table_grid")]

    selected = param.List([], doc="Column and row of the selected cell.")

    def changes(self) -> dict[str, Any]:
        cell = (self.desk.part("selection") or {}).get("cell", ["", ""])
        return {**super().changes(), "selected": cell if cell[1] else []}

    def handle(self, request: Mapping[str, Any]) -> None:
        row, to, column = request.get("row"), request.get("to"), request.get("column")
        match request["kind"]:
            case "move" if isinstance(row, str) and isinstance(to, int):
                self.desk.ask("move_row", row, to)
            case "select" if isinstance(row, str) and isinstance(column, str):
                self.desk.ask("select_cell", column, row)
