"""The fusion table step by step."""

from __future__ import annotations

from fuseloom.dataflow.table.cells import CellKind
from fuseloom.dataflow.table.display import LOOKS
from fuseloom_workbench.base.tokens import tokens
from fuseloom_workbench.table.table_grid import FusionTableGrid


def test_the_steps_end_in_the_finished_table(session):
    grid = FusionTableGrid(session)
    cells = {}
    for step in grid.view["steps"]:
        for column, row, kind, text, target in step["changes"]:
            cells[column, row] = (kind, text, target)
    table = session.current.table
    assert cells == {k: (c.kind.name, c.text, c.target) for k, c in table.cells.items()}
    assert set(LOOKS) == set(CellKind)
    colours = tokens("light")
    for family, sign, says in LOOKS.values():
        assert bool(family) == bool(sign)
        assert not family or {family, f"{family}-f"} <= set(colours)
        assert says.endswith(".")


def test_columns_say_which_kernel_they_are_of(session):
    columns = FusionTableGrid(session).view["columns"]
    assert [c["kernel"] for c in columns][:4] == ["A·X", "A·X", "A·X", "·W1"]
