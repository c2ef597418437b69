"""Storage formats that only change how a tensor is kept: same tokens, same results."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.program import StoredTensor
from fuseloom.program.stored_views import view_format

SPMM = "A: 6x8 {0}\nX: 8x5 {1}\nT[i,j] = A[i,k] * X[k,j]"


def spmm(a: str, x: str = "dense", engine: str = "interpreter") -> fl.Run:
    rng = np.random.default_rng(3)
    program = fl.parse(SPMM.format(a, x))
    data = {
        name: rng.standard_normal(program.tensor(name).shape)
        * (rng.random(program.tensor(name).shape) < 0.3)
        for name in program.inputs
    }
    return fl.simulate(fl.compile(program), data, engine=engine)


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_coo_runs_as_dcsr_does(engine: str) -> None:
    """Scanners see the same fibers; only segments need not be read."""
    coo, dcsr = spmm("coo", "coo", engine), spmm("dcsr", "dcsr", engine)
    assert coo.check().ok
    assert coo.cycles == dcsr.cycles
    assert coo.outputs["T"].content_hash() == dcsr.outputs["T"].content_hash()
    assert coo.work.flops == dcsr.work.flops
    assert 0 < coo.work.bytes < dcsr.work.bytes


def test_the_estimate_knows_coo() -> None:
    for run in (spmm("coo"), spmm("dcsr")):
        estimate = fl.estimate(run.compilation, run.data)
        assert estimate.bytes == pytest.approx(run.work.bytes, rel=0.1)
        assert estimate.cycles == pytest.approx(run.cycles, rel=0.15)


def test_one_element_per_row() -> None:
    """A permutation matrix: dense rows, one coordinate in each; no row needs to be dropped."""
    program = fl.parse("P: 5x5 [dense, singleton]\nx: 5 dense\ny[i] = P[i,j] * x[j]")
    order = [3, 0, 4, 1, 2]
    points = [[i, j] for i, j in enumerate(order)]
    data = {
        "P": StoredTensor.from_coo(program.tensor("P"), points, np.ones(5)),
        "x": np.arange(5.0),
    }
    compiled = fl.compile(program)
    assert not any("drop" in node.op for node in compiled.regions[0].graph.nodes)
    run = fl.simulate(compiled, data)
    assert run.check().ok
    assert run.outputs["y"].to_dense().tolist() == order


@pytest.mark.parametrize("fmt", ["dcsr", "csr", "coo", "[dense, singleton]"])
def test_a_dense_level_that_may_be_entered_from_nowhere(fmt: str) -> None:
    """Rows of A exist or not, so its dense level takes part in the join: a look-up drops none."""
    program = fl.parse(
        f"A: 1x2 [compressed, dense]\nb: 1 dense\nC: 1x2 {fmt}\n"
        "T[k,l] = A[k,l] + b[k]\nY[k,l] = T[k,l] / C[k,l]"
    )
    for row in (np.zeros((1, 2)), np.ones((1, 2))):
        data = {"A": row, "b": np.ones(1), "C": np.array([[1.0, 0.0]])}
        run = fl.simulate(fl.compile(program, "fuse T..Y"), data, engine="interpreter")
        assert run.check().ok


@pytest.mark.parametrize(
    ("fmt", "levels"),
    [
        ("coo", "compressed singleton"),
        ("[dense, singleton]", "dense compressed"),  # a column has any number of elements
        ("csr block 2", "dense compressed"),
        ("[compressed, dense] block 2", "compressed compressed"),
        ("coo block 2", "compressed singleton"),
    ],
)
def test_permuted_copies_keep_exactly_the_elements(fmt: str, levels: str) -> None:
    block = " block 2" if "block" in fmt else ""
    program = fl.parse(f"B: 4x4 {fmt}\nx: 4 dense{block}\ny[j] = B[i,j] * x[i]")
    view = view_format(program.tensor("B"), (1, 0))
    assert " ".join(level.value for level in view.levels) == levels
    assert view.blocked == program.tensor("B").format.blocked
    compiled = fl.compile(program, "order y: j,i")
    array = np.zeros((4, 4))
    array[[0, 1, 2, 3], [1, 1, 3, 2]] = [1, 2, 3, 4]  # one element per row
    run = fl.simulate(compiled, {"B": array, "x": np.ones(4)}, engine="interpreter")
    assert run.check().ok
    reads = {n.params["tensor"] for n in compiled.regions[0].graph.nodes if n.op == "scan"}
    assert reads == {"B@1,0"}
    assert fl.estimate(compiled, run.data).bytes == pytest.approx(run.work.bytes, rel=0.2)
