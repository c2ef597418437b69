"""From stored tensors through a graph to stored tensors, and the trace of the way."""

import numpy as np
import pytest

from engine.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from engine.dataflow.sim import EngineResult, Machine, Trace, bind, output_tensor, run_graph
from engine.errors import DataError, SimulationError
from engine.program.formats import Format, LevelFormat
from engine.program.storage import StoredTensor
from engine.program.types import Tensor

CRD, REF, VAL = StreamKind.CRD, StreamKind.REF, StreamKind.VAL


def doubled(source: str = "B", out: str = "X", drop: bool = True) -> Graph:
    """X = 2 * B over two compressed levels, empty rows dropped."""
    kinds = [REF, CRD, REF, CRD, REF, VAL, VAL, CRD, CRD]
    streams = tuple(Stream(k, kind, 0) for k, kind in enumerate(kinds))
    levels = [7, 8] if drop else [3, 1]
    nodes = [
        Node(0, "root", (), (0,)),
        Node(1, "scan", (0,), (1, 2), {"tensor": source, "level": 0}, "rows"),
        Node(2, "scan", (2,), (3, 4), {"tensor": source, "level": 1}, "columns"),
        Node(3, "array", (4,), (5,), {"tensor": source}),
        Node(4, "unary", (5,), (6,), {"fn": "scalarmul", "scalar": 2.0}),
        Node(5, "crdwrite", (levels[1],), (), {"tensor": out, "level": 0}),
        Node(6, "crdwrite", (levels[0],), (), {"tensor": out, "level": 1}),
        Node(7, "valwrite", (6,), (), {"tensor": out}),
    ]
    if drop:
        nodes.append(Node(8, "crddrop", (3, 1), (7, 8), {}, "drop"))
    return Graph("doubled", tuple(nodes), streams[: None if drop else 7])


def run(graph: Graph, stored: StoredTensor) -> EngineResult:
    return run_graph(bind(graph, {"B": stored}), Machine.default(), "interpreter")


def matrix(array: list[list[float]], name: str = "B") -> StoredTensor:
    given = np.array(array)
    return StoredTensor.from_dense(Tensor(name, given.shape, Format.compressed(2)), given)


X = Tensor("X", (3, 3), Format.compressed(2))


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
    with pytest.raises(SimulationError, match="level 1 of X has 1 fibers for 3 coordinates"):
        output_tensor(run(doubled(drop=False), stored), X)


def test_nothing_at_all() -> None:
    stored = output_tensor(run(doubled(), matrix([[0] * 3] * 3)), X)
    stored.verify()
    assert stored.nnz == 0
    assert stored.levels[0].seg.tolist() == [0, 0]
    assert stored.levels[1].seg.tolist() == [0]


def test_views_are_stored_again_in_their_order() -> None:
    dense = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    result = run(doubled("B@1,0", "X@1,0"), matrix(dense))
    stored = output_tensor(result, X, "X@1,0")
    stored.verify()
    assert stored.tensor.format.mode_order == (1, 0)
    assert (stored.to_dense() == 2 * np.array(dense)).all()


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


def test_wrong_data() -> None:
    with pytest.raises(DataError, match="B"):
        bind(doubled(), {"C": matrix([[1]], "C")})
    csr = Tensor("B", (1, 1), Format((LevelFormat.DENSE, LevelFormat.COMPRESSED), (0, 1)))
    with pytest.raises(SimulationError, match="rows scans level 0 of B, which is dense"):
        bind(doubled(), {"B": StoredTensor.from_dense(csr, [[1.0]])})
    with pytest.raises(SimulationError, match="does not write level 0 of Y"):
        output_tensor(run(doubled(), matrix([[1]])), Tensor("Y", (1, 1), Format.compressed(2)))


def test_trace() -> None:
    trace = Trace.of(run(doubled(), matrix([[1, 0, 2], [0, 0, 0], [0, 3, 0]])))
    rows = {row["label"]: row for row in trace.rows()}
    assert rows["rows"]["tokens_in"] == 2
    assert rows["rows"]["tokens_out"] == 8
    assert rows["rows"]["tokens"] == 4
    assert rows["rows"]["first"] == 1
    for row in rows.values():
        stalls = row["stall_input"] + row["stall_output"] + row["stall_memory"]
        assert row["busy"] + stalls == row["last"]
        assert row["last"] + row["idle"] == trace.cycles
        assert 0 <= row["busy_share"] <= 1
    assert trace.cycles == max(row["last"] for row in rows.values())
    text = str(trace).splitlines()
    assert text[0] == f"doubled: {trace.cycles} cycles"
    assert len(text) == 2 + len(rows)
    assert Trace.from_json(trace.to_json()) == trace
    with pytest.raises(SimulationError, match="trace"):
        Trace.from_json('{"fuseloom": "graph"}')
    old = trace.to_json().replace('"version": 2', '"version": 1')
    with pytest.raises(SimulationError, match="not a trace file of version 2"):
        Trace.from_json(old)
    with pytest.raises(SimulationError, match="malformed trace JSON"):
        Trace.from_json("[")
