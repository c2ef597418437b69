"""The fusion table of the region shown, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.dataflow.table.cells import VALUE_ROW, Cell, CellKind, Step
from workbench.state.session import Session

FAMILIES: Mapping[CellKind, tuple[str, str, str]] = {
    CellKind.SCAN: (
        "scan",
        "≡",
        "LS(x) scans the level below reference x: its coordinates and their references.",
    ),
    CellKind.LOCATE: (
        "locate",
        "@",
        "Looks coordinates up in a dense level: no scan, and no intersection.",
    ),
    CellKind.SEARCH: ("locate", "@", "Looks coordinates up in a compressed level by searching it."),
    CellKind.REPEAT: (
        "repeat",
        "↻",
        "Rep(x, I) repeats reference x once for each coordinate of I: the tensor lacks that index.",
    ),
    CellKind.JOIN: (
        "join",
        "∩",
        "Intersects (∩) or unites (∪) the coordinates of several tensors: I_p is the joined level.",
    ),
    CellKind.REFERENCE: ("", "", "<A.i> is the stream of references that cell A, i makes."),
    CellKind.ACCUMULATE: (
        "acc",
        "Σ",
        "Acc1_k.crd sums over k and emits what is left, one level deep; RedN sums to a value.",
    ),
    CellKind.VALUE: ("values", "v", "Loads values by reference from the value array."),
    CellKind.COMPUTE: ("compute", "×", "Arithmetic on values as they stream by."),
    CellKind.REDUCED: ("", "", "The index is summed over: nothing is left of it."),
    CellKind.PASS: ("", "", "The level goes through unchanged."),
    CellKind.VALUE_REPEAT: (
        "repeat",
        "↻",
        "RepV repeats a value that is computed already; (val) marks what is repeated as a value.",
    ),
}
"""Family (of the colour tokens), sign and a sentence per kind of cell."""


def view(session: Session) -> dict[str, Any]:
    """Columns, rows, and the steps that fill the cells."""
    region = session.current
    table = region.table
    own = set(region.region.indices)
    kinds = {cell.kind for cell in table.cells.values()}
    kernels = {name: u.name for u in session.built.units for name in u.statements}
    return {
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
    family, sign, says = FAMILIES[kind]
    return {"family": family, "sign": sign, "text": kind.value, "says": says}


def _title(step: Step) -> str:
    return step.title if step.title.startswith(step.phase) else f"{step.phase}: {step.title}"


def _cell(cell: Cell) -> tuple[str, str, str]:
    return cell.kind.name, cell.text, cell.target
