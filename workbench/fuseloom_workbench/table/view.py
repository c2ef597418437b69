"""The fusion table of the region shown, as plain data."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.table.cells import VALUE_ROW, Cell, CellKind, ConstructionStep
from fuseloom.dataflow.table.display import LOOKS
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.state.estimate_figures import cycles_of_statements
from fuseloom_workbench.state.session import Session


@page_part("table")
def view(session: Session) -> dict[str, Any]:
    """Columns, rows, and the steps that fill the cells."""
    region = session.current
    table = region.table
    own = set(region.region.indices)
    kinds = {cell.kind for cell in table.cells.values()}
    kernels = {name: u.name for u in session.built.units for name in u.statements}
    cycles = cycles_of_statements(session.built, session.region)
    return {
        "busiest": max(cycles, key=cycles.__getitem__, default=""),
        "region": f"{session.region + 1}",
        "name": region.name,
        "colour": f"r{session.region % 8 + 1}",
        "columns": [
            {
                "name": c.name,
                "title": c.title,
                "hint": f"{'read from memory' if c.leaf else 'computed'}, nest "
                f"{' → '.join(c.nest) or 'none'}",
                "leaf": c.leaf,
                "kernel": kernels.get(c.statement, c.statement),
                "statement": c.statement,
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
        "kinds": {k.name: _kind(k) for k in CellKind if k in kinds},
        "edges": [[e.outer, e.inner, e.reason] for e in region.pog.edges],
        "accumulators": [str(a) for a in table.accumulators.values()],
    }


def _kind(kind: CellKind) -> dict[str, str]:
    look = LOOKS[kind]
    return {"family": look.family, "sign": look.sign, "text": kind.value, "says": look.says}


def _title(step: ConstructionStep) -> str:
    return step.title if step.title.startswith(step.phase) else f"{step.phase}: {step.title}"


def _cell(cell: Cell) -> tuple[str, str, str]:
    return cell.kind.name, cell.text, cell.target
