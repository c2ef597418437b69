"""The fusion table as a grid: rows to reorder, cells to look at, steps to replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class FusionTableGrid(SessionComponent):
    """The fusion table of the region shown.

    Rows can be dragged by their handle, or moved with Alt and the arrow keys; a cell's menu (right
    click, or the key M) says what the schedule may choose there; the slider replays the table's
    construction step by step.

    Examples
    --------
    >>> grid = FusionTableGrid()
    >>> [row["name"] for row in grid.view["rows"]]
    ['i', 'p', 'k', 'n', 'val']
    >>> grid.handle({"kind": "move", "row": "n", "to": 0})
    >>> grid.status["ok"]
    False
    """

    _esm = script("base/light", "table/cell_menu", "table/table_grid")
    part = "table"
    more = ("selection", "menu")
    topics = ("order",)
    _stylesheets = [style("table/table_grid")]

    selected = param.List([], doc="Column and row of the selected cell.")
    kernel = param.List([], doc="Statements of the selected kernel.")
    menu = param.Dict({"cell": [], "entries": []}, doc="The open menu: its cell, its entries.")

    def changes(self) -> dict[str, Any]:
        chosen = self.backend.part("selection") or {}
        cell = chosen.get("cell", ["", ""])
        menu = self.backend.part("menu") or {"cell": [], "entries": []}
        kernel = [] if cell[1] else chosen.get("statements", [])
        selected = cell if cell[1] else []
        return {**super().changes(), "selected": selected, "kernel": kernel, "menu": menu}

    def handle(self, request: Mapping[str, Any]) -> None:
        row, to, column = request.get("row"), request.get("to"), request.get("column")
        key = request.get("key")
        if not (isinstance(row, str) and isinstance(column, str | None)):
            return
        match request["kind"]:
            case "move" if isinstance(to, int):
                self.backend.ask("move_row", row, to)
            case "select" if column is not None:
                self.backend.ask("select_cell", column, row)
            case "menu" if column is not None:
                self.backend.ask("open_menu", column, row)
            case "choose" if column is not None and isinstance(key, str):
                self.backend.ask("choose_at", column, row, key)
