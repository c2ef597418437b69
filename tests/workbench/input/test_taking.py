"""The handling of files: data bound to inputs, programs, sessions, graphs of other compilers."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fuseloom_workbench.input import tensors
from fuseloom_workbench.state import commands, files, saving
from fuseloom_workbench.state.session import Session
from tests.frontends.files import zstd
from tests.workbench.input.files import array, arrays, market, saved, send

ROOT = Path(__file__).parents[3]
PROGRAM = "A: 4x5 csr\nB: 4x5 csr\nC: 5x3 dense\nT[i,j] = A[i,k] * C[k,j]\nU[i,j] = B[i,k] * C[k,j]\nY[i,j] = T[i,j] + U[i,j]\n"  # noqa: E501
MATRIX = np.arange(20, dtype=np.float32).reshape(4, 5) % 3


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def session():
    made = Session("spmv", "random")
    assert made.set_program(PROGRAM), made.message
    return made


def data(session, name):
    return session.built.data[name].to_dense()


def test_of_several_inputs_that_fit_the_visitor_picks_one(session):
    told = send(session, "m.mtx", market(MATRIX))
    assert (told["state"], told["fits"]) == ("choose", ["A", "B"])
    assert "4×5, 13 stored elements: which tensor is it?" in told["message"]
    commands.carry_out(session, "bind", ["B", told["key"], "m.mtx"])
    assert session.received["state"] == "done"
    np.testing.assert_array_equal(data(session, "B"), MATRIX)
    assert not np.array_equal(data(session, "A"), MATRIX)
    assert "B from m.mtx" in session.built.loaded.label
    problem = session.built.problem
    session.undo()
    assert not np.array_equal(data(session, "B"), MATRIX)
    assert session.built.problem != problem, "runs on other data are not compared"
    session.redo()
    commands.carry_out(session, "bind", ["C", told["key"], "m.mtx"])
    assert "C is 5×3" in session.message
    commands.carry_out(session, "bind", ["B", "../" * 10, "m.mtx"])
    assert "upload it again" in session.message
    commands.carry_out(session, "unbind", ["B"])
    assert session.design.uploads == ()


def test_every_kind_of_tensor_is_read(session):
    dense = np.ones((5, 3), np.float32)
    assert send(session, "C.npy", array(dense))["state"] == "done"
    np.testing.assert_array_equal(data(session, "C"), dense)
    both = arrays(A=MATRIX, B=MATRIX * 2)
    assert send(session, "two.npz", both)["state"] == "done"
    np.testing.assert_array_equal(data(session, "B"), MATRIX * 2)
    assert send(session, "scipy.npz", saved(dense * 4))["state"] == "done"
    assert data(session, "C").max() == 4
    lines = "\n".join(f"{i + 1} {j + 1} 1.5" for i in range(5) for j in range(3))
    assert send(session, "C.tns", lines.encode())["state"] == "done"
    assert data(session, "C").max() == 1.5
    assert [u.tensor for u in session.design.uploads] == ["A", "B", "C"]
    session.set_schedule("fuse T..Y")
    assert session.design.uploads, "a schedule keeps the data"
    told = send(session, "odd.npz", arrays(A=MATRIX, Q=MATRIX))
    assert "array Q, 4×5, is no input" in told["message"]
    assert "name the arrays as the inputs are: A 4×5, B 4×5, C 5×3" in told["message"]
    told = send(session, "odd.npy", array(np.ones((7, 7))))
    assert "7×7 is the shape of no input" in told["message"]


@pytest.mark.parametrize("packer", ["gz", "bz2", "zst"])
def test_packed_arrays_are_read(session, packer):
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstd}[packer]
    dense = np.arange(15, dtype=np.float32).reshape(5, 3)
    assert send(session, f"C.npy.{packer}", pack(array(dense)))["state"] == "done"
    np.testing.assert_array_equal(data(session, "C"), dense)
    told = send(session, f"C.npy.{packer}", pack(b"no array"))
    assert told["state"] == "refused"
    assert "is no array of NumPy" in told["message"]


def test_a_packed_array_has_limits(session, monkeypatch):
    monkeypatch.setattr(tensors, "MOST_STORED", 1)
    told = send(session, "C.npy.gz", gzip.compress(array(np.ones((5, 3), np.float32))))
    assert "claims 15 numbers" in told["message"]
    assert "by coordinates" in told["message"]


@pytest.mark.parametrize("name", ["edges.parquet", "edges"])
def test_edges_in_parquet_are_read(session, name, tmp_path):
    table = pd.DataFrame({"source": [0, 3], "target": [1, 4], "weight": [2.0, 4.0]})
    table.to_parquet(tmp_path / "e")
    content = (tmp_path / "e").read_bytes()
    assert session.set_program("A: 5x5 csr\nx: 5 dense\ny[i] = A[i,j] * x[j]\n")
    told = send(session, name, content)
    assert told["state"] == "done"
    assert "edges are directed" in told["message"]
    expected = np.zeros((5, 5))
    expected[0, 1], expected[3, 4] = 2, 4
    np.testing.assert_array_equal(data(session, "A"), expected)
    told = send(session, "edges.parquet", b"a,b\n1,2\n")
    assert told["state"] == "refused"
    assert "this is no list of edges (Parquet)" in told["message"]
    assert "to_parquet" in told["message"]


def test_a_matrix_that_is_not_finite_is_no_data(session):
    kept = session.design
    told = send(session, "C.mtx", market(np.full((5, 3), np.nan)))
    assert told["state"] == "refused"
    assert "not finite" in told["message"]
    assert session.design == kept


def test_a_saved_session_comes_back_with_its_data(session, folder):
    assert send(session, "C.npy", array(np.full((5, 3), 7.0)))["state"] == "done"
    text = json.dumps(saving.save(session)).encode()
    other = Session("spmv", "random")
    assert send(other, "session.json", text)["state"] == "done", other.message
    assert other.design == session.design
    assert data(other, "C").max() == 7
    for path in folder.glob("*.npz"):
        path.unlink()
    third = Session("spmv", "random")
    files.shape_of.cache_clear()
    commands.sources.forget()
    assert send(third, "session.json", text)["state"] == "refused"
    assert "upload it again" in third.message


LOOK = b"""
#one = affine_map<(i) -> (i)>
func.func @f(%I: tensor<3xi64>, %T: tensor<5xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%I : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%x: i64, %o: f32):
    %k = arith.index_cast %x : i64 to index
    %y = tensor.extract %T[%k] : tensor<5xf32>
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
"""


def test_programs_and_mlir_become_designs(session):
    assert send(session, "p.loom", PROGRAM.encode())["state"] == "done"
    assert session.built.program.outputs
    text = (ROOT / "docs/examples/gcn.mlir").read_bytes()
    told = send(session, "gcn.mlir", text)
    assert told["state"] == "done"
    assert [r.name for r in session.regions] == ["AX..H", "AH..Y"]
    assert "statements; random data for" in told["message"]
    told = send(session, "look.mlir", LOOK)
    assert told["state"] == "done"
    assert told["message"].endswith("random data for T, I.")
    assert [x.tensor for x in session.design.uploads] == ["I_at"]
    told = send(session, "p.loom", b"A: 3x3 csr\ny[i] = A[i,j] * q[j]\n")
    assert told["state"] == "refused"
    assert session.place[0] == 2, "line and column go along"


def test_a_graph_waits_for_its_operands_and_is_simulated(session):
    folder = ROOT / "tests/conformance/sam"
    before = session.built
    told = send(session, "mat_residual.gv", (folder / "mat_residual.gv").read_bytes())
    assert "upload its operands" in told["message"]
    told = send(session, "small.npz", (folder / "mat_residual__small.npz").read_bytes())
    assert told["lines"][0].startswith("SAM: 56 cycles, 355 tokens, 29 FLOPs, 496 bytes")
    assert any("repaired: R5" in line for line in told["lines"])
    assert "matches the expected values" in told["lines"][-1]
    assert session.graph_text == ()
    assert session.built is before
