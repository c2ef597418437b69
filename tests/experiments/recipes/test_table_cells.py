"""The published fusion table beside ours, cell by cell."""

from __future__ import annotations

from fuseloom.experiments.recipe import AccountingMode
from fuseloom.experiments.recipes.table_cells import (
    PUBLISHED,
    REASONS,
    cells_text,
    compared_cells,
    planned,
    renamed,
)
from fuseloom.experiments.recipes.tables import neighbours


def table() -> str:
    regions = neighbours(AccountingMode.PAPER).regions
    return str(next(region for region in regions if region.name == "N1..N2").table)


def test_names_are_those_of_the_paper() -> None:
    assert renamed("Acc1_l.crd -> I_q (val)") == "Red1_l.crd -> I_m (val)"
    assert renamed("RepV(I_q.val,<Wn1.m>)") == "RepV(I_m.val,<Ω.j>)"
    assert renamed("<N1.val> <N2.i>") == "<T0.val> <T.i>"


def test_every_cell_is_equal_or_says_why_not() -> None:
    cells = compared_cells(table())
    assert len(cells) == 25
    assert all(cell.equal or cell.reason for cell in cells)
    assert {(c.row, c.column) for c in cells if not c.equal} == set(REASONS)
    text = cells_text(cells)
    assert len(text.splitlines()) == 26
    assert "unexplained" not in text


def test_a_cell_that_changes_is_unexplained() -> None:
    changed = compared_cells(table().replace("| pass", "| past"))
    assert any(not (cell.equal or cell.reason) for cell in changed)
    assert "unexplained" in cells_text(changed)


def test_both_tables_plan_the_same_nodes() -> None:
    published = planned(cell for row in PUBLISHED for cell in row)
    assert published == {"LS": 6, "Rep": 4, "Val": 3, "Red1": 2, "I": 2}
    assert planned(cell.ours for cell in compared_cells(table())) == published
