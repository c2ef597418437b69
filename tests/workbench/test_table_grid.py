"""The fusion table step by step."""

from __future__ import annotations

from engine.dataflow.table.cells import CellKind
from workbench.table_grid import FusionTableGrid
from workbench.views.table import FILLS


def test_the_steps_end_in_the_finished_table(session):
    grid = FusionTableGrid(session)
    cells = {}
    for step in grid.view["steps"]:
        for column, row, kind, text, target in step["changes"]:
            cells[column, row] = (kind, text, target)
    table = session.current.table
    assert cells == {k: (c.kind.name, c.text, c.target) for k, c in table.cells.items()}
    assert set(FILLS) == set(CellKind)
