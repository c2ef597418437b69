"""Edits of a table: before, after, the result still right, and refusals with the rule."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.samml.lowering import lower
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.table.build import build_table
from fuseloom.dataflow.table.edits import (
    materialise,
    move_cell,
    move_row,
    use_intersect,
    use_locate,
)
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.errors import FuseloomError
from fuseloom.program import parse

CHAIN = """
A: 4x5 dcsr
X: 5x3 dense
W: 3x2 dense
T[i,j] = A[i,k] * X[k,j]
D[i,l] = T[i,j] * W[j,l]
"""


@pytest.fixture
def table() -> FusionTable:
    (region,) = fuse(parse(CHAIN), Schedule.parse("fuse T..D; order T..D: i,k,j,l"))
    return build_table(region)


def check(*tables: FusionTable) -> list[str]:
    """Run the tables one after another; the operations of their graphs."""
    program = tables[0].region.program
    regions = tuple(CompiledRegion(t.region, t, lower(t)) for t in tables)
    rng = np.random.default_rng(5)
    shapes = {name: program.tensor(name).shape for name in program.inputs}
    data = {n: np.where(rng.random(s) < 0.5, rng.integers(1, 9, s), 0) for n, s in shapes.items()}
    compilation = Compilation(program, Schedule(), regions)
    result = simulate(compilation, data, engine="interpreter").check()
    assert result.ok, result
    return [node.op for region in regions for node in region.graph.nodes]


def test_a_row_moves(table: FusionTable) -> None:
    edit = move_row(table, "j", 1)
    assert str(edit) == "move row j: i→k→j→l => i→j→k→l"
    (changed,) = edit.tables
    assert changed.order == ("i", "j", "k", "l")
    assert "reduce" in check(changed)
    assert table.order == ("i", "k", "j", "l")


def test_repeats_move_across_the_load_and_back(table: FusionTable) -> None:
    edit = move_cell(table, "A")
    assert str(edit) == "move the repeats of A: RepV(Val(<A.k>),<X.j>) => Val(<A.j>)"
    (changed,) = edit.tables
    assert changed.cell("A", "j").text == "Rep(<A.k>,<X.j>)"
    check(changed)
    back = move_cell(changed, "A")
    assert back.tables[0].cells == table.cells


def test_a_locator_becomes_an_intersecter_and_back(table: FusionTable) -> None:
    assert "intersect" not in check(table)
    edit = use_intersect(table, "X", "k")
    assert str(edit) == "scan X.k: Locate(<X.i>,<A.k>.crd) => LS(<X.i>) -> I_k"
    (changed,) = edit.tables
    assert check(changed).count("intersect") == 1
    back = use_locate(changed, "X", "k")
    assert str(back) == "look up X.k: LS(<X.i>) -> I_k => Locate(<X.i>,<A.k>.crd)"
    assert back.tables[0].cells == table.cells


def test_a_materialisation_cuts_the_region(table: FusionTable) -> None:
    edit = materialise(table, "T")
    assert str(edit) == "materialise T: T..D => T and D"
    assert [t.region.name for t in edit.tables] == ["T", "D"]
    assert check(*edit.tables).count("valwrite") == 2


def test_locate_off_scans_every_dense_level() -> None:
    (region,) = fuse(parse(CHAIN), Schedule.parse("fuse T..D; order T..D: i,k,j,l; locate off"))
    off = build_table(region)
    assert "locate" not in check(off)
    assert use_locate(off, "X", "k").tables[0].cell("X", "k").text.startswith("Locate")


def test_a_compressed_level_is_searched_and_scanned_again() -> None:
    program = parse("A: 4x5 dcsr\nH: 5x3 csf\nY[i,j] = A[i,k] * H[k,j]")
    (region,) = fuse(program, Schedule.parse("order Y: i,j,k"))
    before = build_table(region)
    edit = use_locate(before, "H", "k")
    assert str(edit) == "look up H.k: LS(<H.j>) -> I_k => Search(<H.j>,<A.k>.crd) -> I_k"
    ops = check(*edit.tables)
    assert ops.count("search") == 1
    assert ops.count("scan") == check(before).count("scan") - 1
    again = use_intersect(edit.tables[0], "H", "k")
    assert again.tables[0].cells == before.cells


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda t: move_row(t, "k", 0), "i must stay outside k, because A is stored (i, k)"),
        (lambda t: move_row(t, "q", 0), "there is no row 'q' to move"),
        (lambda t: move_row(t, "i", 9), "row i cannot be moved to place 9"),
        (lambda t: move_row(t, "l", 2), "T would be recomputed for each l inside"),
        (lambda t: move_cell(t, "T"), "column T is computed"),
        (lambda t: move_cell(t, "W"), "column W repeats nothing inside its last index"),
        (lambda t: move_cell(t, "Q"), "the table has no cell Q.val"),
        (lambda t: use_intersect(t, "A", "k"), "cell A.k holds a level scanner, not a locator"),
        (lambda t: use_locate(t, "X", "k"), "cell X.k is looked up already"),
        (lambda t: use_locate(t, "A", "k"), "cell A.k gives the coordinates of its level"),
        (lambda t: use_locate(t, "X", "j"), "cell X.j gives the coordinates of its level"),
        (lambda t: use_locate(t, "X", "i"), "cell X.i holds a repeater, not a level scanner"),
        (lambda t: materialise(t, "A"), "column A is in memory already"),
        (lambda t: materialise(t, "D"), "D ends its region, so it is written anyway"),
    ],
)
def test_refusals(table: FusionTable, edit, message: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        edit(table)
    assert message in caught.value.message
    assert caught.value.hint
