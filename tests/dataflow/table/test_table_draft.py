"""The construction of a table, step by step, as the workbench replays it."""

import re

import pytest

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.table.cells import CellKind, Scan
from fuseloom.errors import LoweringError
from tests.dataflow.table.tables import compiled, of_all_models

PHASES = ["leaves", "repeats", "compute", "reduce", "merge"]

SPMM = compiled("A: 4x5 dcsr\nX: 5x3 dcsr\nT[i,j] = A[i,k] * X[k,j]").table


def test_a_product_step_by_step() -> None:
    assert [f"{step.phase}: {step.title}" for step in SPMM.steps] == [
        "leaves: scan and load A",
        "leaves: scan and load X",
        "repeats: repeat A under T",
        "repeats: repeat X under T",
        "compute: compute T",
        "reduce: reduce T over k",
        "merge: merge I_k",
    ]


def test_merging_replaces_the_scanners() -> None:
    """Every cell that names a merged cell now sees the filtered streams."""
    before, after = SPMM.at(len(SPMM.steps) - 1), SPMM.cells
    changed = {at: (before[at].text, cell.text) for at, cell in after.items() if before[at] != cell}
    assert changed == {
        ("A", "k"): ("LS(<A.i>)", "LS(<A.i>) -> I_k"),
        ("X", "k"): ("LS(<X.i>)", "LS(<X.i>) -> I_k"),
    }
    assert before["A", "val"].text == after["A", "val"].text == "RepV(Val(<A.k>),<X.j>)"
    assert after["A", "k"].kind is CellKind.JOIN
    assert isinstance(after["A", "k"].expression, Scan)


def test_repeats_replace_the_plain_load() -> None:
    assert SPMM.at(2)["A", "val"].text == "Val(<A.k>)"
    assert SPMM.at(3)["A", "val"].text == "RepV(Val(<A.k>),<X.j>)"


@of_all_models
def test_steps_build_the_table(region: CompiledRegion) -> None:
    table = region.table
    assert table.at(0) == {}
    assert table.at(len(table.steps)) == table.cells
    phases = [PHASES.index(step.phase) for step in table.steps]
    assert phases == sorted(phases)


@of_all_models
def test_every_step_fills_or_replaces_cells(region: CompiledRegion) -> None:
    table = region.table
    for k, step in enumerate(table.steps):
        before, after = table.at(k), table.at(k + 1)
        assert step.changes
        touched = {(column, row) for column, row, _ in step.changes}
        assert len(touched) == len(step.changes)
        assert {key for key in after if before.get(key) != after[key]} == touched
        assert before.keys() <= after.keys()


@of_all_models
def test_a_finished_table_has_a_cell_for_every_column_and_row(region: CompiledRegion) -> None:
    table = region.table
    assert table.cells.keys() == {(c.name, row) for c in table.columns for row in table.rows}
    assert all(cell.text for cell in table.cells.values())
    for cell in table.cells.values():
        if cell.target:
            column, row = cell.target.rsplit(".", 1)
            assert (column, row) in table.cells


@of_all_models
def test_columns_come_after_what_they_read(region: CompiledRegion) -> None:
    table = region.table
    place = {column.name: k for k, column in enumerate(table.columns)}
    for column in table.columns:
        for read in re.findall(r"<([^.<>]+)\.val>", table.cell(column.name, "val").text):
            assert place[read] < place[column.name]
    assert table.columns[-1].name in {output.column for output in table.outputs}


def test_a_cell_that_is_not_there() -> None:
    with pytest.raises(LoweringError, match=r"the table has no cell A\.z"):
        SPMM.cell("A", "z")
