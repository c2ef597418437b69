"""The fusion table of the region shown, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.dataflow.table.cells import VALUE_ROW, Cell, CellKind, Step
from workbench.palette import region_fill
from workbench.session import Session

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


def view(session: Session) -> dict[str, Any]:
    """Columns, rows, and the steps that fill the cells."""
    region = session.current
    table = region.table
    own = set(region.region.indices)
    kinds = {cell.kind for cell in table.cells.values()}
    return {
        "region": f"{session.region + 1}",
        "name": region.name,
        "fill": region_fill(session.region),
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
            {"name": row, "movable": row in own, "value": row == VALUE_ROW} for row in table.rows
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


def _title(step: Step) -> str:
    return step.title if step.title.startswith(step.phase) else f"{step.phase}: {step.title}"


def _cell(cell: Cell) -> tuple[str, str, str]:
    return cell.kind.name, cell.text, cell.target
