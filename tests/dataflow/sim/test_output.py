"""From what writers collected to stored tensors."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream
from fuseloom.dataflow.sim import bind, output_tensor, run_graph
from fuseloom.dataflow.sim.output import in_declared_format
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import SimulationError
from fuseloom.program import parse
from fuseloom.program.formats import Format, named_format
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor
from tests.dataflow.sim.doubling import REF, VAL, X, doubled, matrix, run


def test_round_trip() -> None:
    dense = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    stored = output_tensor(run(doubled(), matrix(dense)), X)
    stored.verify()
    assert (stored.to_dense() == 2 * np.array(dense)).all()


def test_stored_rows_without_elements_are_dropped() -> None:
    tensor = Tensor("B", (3, 3), Format.compressed(2))
    stored = StoredTensor.from_levels(tensor, [([0, 3], [0, 1, 2]), ([0, 0, 2, 2], [0, 2])], [5, 6])
    written = output_tensor(run(doubled(), stored), X)
    written.verify()
    assert written.levels[0].crd.tolist() == [1]
    assert written.to_dense().tolist() == [[0, 0, 0], [10, 0, 12], [0, 0, 0]]
    with pytest.raises(SimulationError, match="level 1 of X has 1 fiber for 3 coordinates"):
        output_tensor(run(doubled(drop=False), stored), X)


def test_nothing_at_all() -> None:
    stored = output_tensor(run(doubled(), matrix([[0] * 3] * 3)), X)
    stored.verify()
    assert stored.nnz == 0
    assert stored.levels[0].seg.tolist() == [0, 0]
    assert stored.levels[1].seg.tolist() == [0]


def test_a_scalar_of_nothing_is_zero() -> None:
    streams = (Stream(0, REF, 0), Stream(1, VAL, 0))
    nodes = (
        Node(0, "root", (), (0,)),
        Node(1, "array", (0,), (1,), {"tensor": "B"}),
        Node(2, "valwrite", (1,), (), {"tensor": "X"}),
    )
    scalar = Tensor("B", (), Format.dense(0))
    graph = Graph("copy", nodes, streams)
    stored = run_graph(
        bind(graph, {"B": StoredTensor.from_dense(scalar, 7.0)}), Machine.default(), "interpreter"
    )
    assert output_tensor(stored, Tensor("X", (), Format.dense(0))).values.tolist() == [7]


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_coordinates_outside_the_declared_shape_are_refused(shape: tuple[int, int]) -> None:
    """They made a tensor that no reader could take."""
    dense = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    small = Tensor("X", shape, Format.compressed(2))
    level = 0 if shape[0] == 2 else 1
    with pytest.raises(SimulationError, match=f"level {level} of X has a coordinate 2, but only 2"):
        output_tensor(run(doubled(), matrix(dense)), small)


@pytest.mark.parametrize("name", ["dense", "csr", "csc", "dcsr", "dcsc", "coo"])
def test_declared_formats_are_made_after_the_run(name: str) -> None:
    dense = 2 * np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0]])
    written = output_tensor(run(doubled(), matrix(dense / 2)), X)
    wanted = Tensor("X", (3, 3), named_format(name, 2))
    made = in_declared_format(written, wanted)
    made.verify()
    assert made.tensor == wanted
    assert (made.to_dense() == dense).all()
    assert made.pattern().all() == (name == "dense")
    assert in_declared_format(made, wanted) is made


def test_a_level_without_a_writer_is_dense_and_must_be_complete() -> None:
    text = "A: 4x5 csr\nB: 5x3 dense\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = relu(T[i,j])"
    made = compile_program(parse(text), "store T compressed,dense")
    given = {"A": np.eye(4, 5) * [[1], [0], [1], [1]], "B": np.arange(15.0).reshape(5, 3)}
    done = simulate(made, given)
    stored = done.outputs["T"]
    assert [level.value for level in stored.tensor.format.levels] == ["compressed", "dense"]
    assert np.array_equal(stored.to_dense(), given["A"] @ given["B"])
    assert stored.nnz == 9  # zeros are elements, rows of A that are empty have none
    tensor = made.program.tensor("T")
    wider = Tensor("T", (4, 4), tensor.format)
    with pytest.raises(SimulationError, match="has a dense level and so 12 places, but 9 values"):
        output_tensor(done.regions[0].result, wider)
    compressed = Tensor("T", (4, 3), Format.compressed(2))
    with pytest.raises(SimulationError, match="does not write level 1 of T"):
        output_tensor(done.regions[0].result, compressed)
