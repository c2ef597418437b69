"""Cuts: what a consumer lacks must not be missing from its producer's sums (rule J3).

In a softmax followed by a product with V, the rows that V lacks would drop columns of the
scores before their maximum and their sum are taken.
"""

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.table.cells import CellKind
from fuseloom.program import StoredTensor
from tests.dataflow.table.tables import compiled

SOFTMAX = """
    S: 6x5 {scores}
    V: 5x3 {values}
    L[i,j] = 0.5 * S[i,j]
    x[i] = max[j] L[i,j]
    d[i,j] = L[i,j] - x[i]
    e[i,j] = exp(d[i,j])
    s[i] = e[i,j]
    R[i,j] = e[i,j] / s[i]
    O[i,l] = R[i,j] * V[j,l]
"""


def region(scores: str = "dcsr", values: str = "dcsr") -> CompiledRegion:
    return compiled(SOFTMAX.format(scores=scores, values=values), "fuse L..O")


def run(built: CompiledRegion, seed: int) -> Run:
    """Random scores, and a V of which every second row or so is empty."""
    rng = np.random.default_rng(seed)
    program = built.region.program
    scores = rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.6)
    values = rng.normal(size=(5, 3)) * (rng.random((5, 1)) < 0.5)
    data = {
        name: StoredTensor.from_dense(program.tensor(name), array)
        for name, array in (("S", scores), ("V", values))
    }
    return simulate(Compilation(program, Schedule(), (built,)), data, engine="interpreter")


def test_the_softmax_runs_under_an_alias() -> None:
    table = region().table
    assert table.order == ("i", "j*", "j", "l")
    titles = [column.title for column in table.columns]
    assert titles == [
        "S[i,j*]", "L[i,j*]", "x[i]", "d[i,j*]", "e[i,j*]", "s[i]", "R[i,j*]", "R'[i,j]",
        "V[j,l]", "O[i,l]",
    ]  # fmt: skip
    (cut,) = [a for a in table.accumulators.values() if a.is_cut]
    assert str(cut) == "Stream_j* = Stream(<S.j*>.crd, <R.val>)"
    cell = table.cell("R'", "j")
    assert (cell.kind, cell.text) == (CellKind.JOIN, "Stream_j*.crd -> I_j (val)")
    assert table.cell("V", "j").text == "LS(<V.i>) -> I_j"
    assert table.cell("x", "val").text == "RepV(MaxReduce_j*(<L.val>),<S.j*>)"


def test_a_cut_is_wiring_only() -> None:
    """The producer's coordinates and values go into the join as they are."""
    graph = region().graph
    (join,) = [node for node in graph.nodes if node.op == "intersect"]
    assert len(join.inputs) == 4
    assert {node.op for node in graph.nodes if "Stream" in node.label} == set()


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_softmax_equals_the_reference(seed: int) -> None:
    check = run(region(), seed).check()
    assert check.pattern_equal
    assert check.max_rel_error < 1e-5


def test_the_cases_would_tell() -> None:
    """In most of them V lacks a row that the scores have, so that a filter would be seen."""
    telling = 0
    for seed in range(20):
        data = run(region(), seed).data
        scores, values = data["S"].pattern(), data["V"].pattern()
        telling += bool((scores.any(axis=0) & ~values.any(axis=1)).any())
    assert telling >= 18


@pytest.mark.parametrize("values", ["dense", "csr"])
def test_no_cut_where_nothing_filters(values: str) -> None:
    """A dense outer level has every row, even those without elements."""
    built = region(values=values)
    assert built.order == ("i", "j", "l")
    assert not any(a.is_cut for a in built.table.accumulators.values())
    assert run(built, seed=1).check().ok


def test_no_cut_where_the_producer_reduces_nothing() -> None:
    """An elementwise producer may be filtered: what is dropped is not needed."""
    built = compiled(
        "S: 6x5 dcsr\nV: 5x3 dcsr\nR[i,j] = exp(S[i,j])\nO[i,l] = R[i,j] * V[j,l]", "fuse R..O"
    )
    assert built.order == ("i", "j", "l")
    assert built.table.cell("R", "j").text == "I_j"
    assert run(built, seed=1).check().ok


def test_a_stored_operand_needs_a_cut_for_the_shared_sum_only() -> None:
    """Stored scores are read again for the maximum, under an index that V cannot filter."""
    program = SOFTMAX.format(scores="dcsr", values="dcsr").replace("L[i,j] = 0.5 * S[i,j]", "")
    built = compiled(program.replace("L[", "S["), "fuse x..O")
    assert built.order == ("i", "j'", "j*", "j", "l")
    assert built.table.cell("x", "val").text == "RepV(MaxReduce_j'(<S'.val>),<S.j*>)"
    assert built.table.cell("s", "val").text == "RepV(Reduce_j*(<e.val>),<S.j*>)"
    assert run(built, seed=1).check().ok
