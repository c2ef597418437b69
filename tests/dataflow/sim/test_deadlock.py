"""Runs that cannot finish say who waits for whom."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.bench import bench, bench_graph
from fuseloom.dataflow.sim.deadlock import Blocked, Need, circle
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.sim.tokens import encode, parse_tokens
from fuseloom.errors import DeadlockError, SimulationError
from tests.dataflow.sim.circles import OURS


def softmax_like(capacity: int) -> BoundGraph:
    """A row is broadcast to a reducer and, past it, to an ALU that needs the reducer's result."""
    kinds = [StreamKind.VAL] * 5 + [StreamKind.SIG] + [StreamKind.VAL] * 2
    labels = ["row", "to sum", "kept", "sum", "crd", "signal", "repeated", "out"]
    kinds[4] = StreamKind.CRD
    streams = tuple(
        Stream(k, kind, 1, label, capacity)
        for k, (kind, label) in enumerate(zip(kinds, labels, strict=True))
    )
    nodes = (
        Node(0, "source", (), (0,), {"kind": "val"}, "rows"),
        Node(1, "broadcast", (0,), (1, 2), {}, "fan"),
        Node(2, "reduce", (1,), (3,), {"fn": "add"}, "sum"),
        Node(3, "source", (), (4,), {"kind": "crd"}, "coordinates"),
        Node(4, "repsig", (4,), (5,), {}, "signal"),
        Node(5, "repeat", (3, 5), (6,), {}, "repeat"),
        Node(6, "binary", (2, 6), (7,), {"fn": "div"}, "divide"),
        Node(7, "valwrite", (7,), (), {"tensor": "X"}, "write"),
    )
    rows = encode(parse_tokens("1 2 1 S0 4 S1 D", StreamKind.VAL))
    coordinates = encode(parse_tokens("0 1 2 S0 1 S1 D"))
    return BoundGraph(
        Graph("softmax", nodes, streams), {0: {"tokens": rows}, 3: {"tokens": coordinates}}
    )


def test_reconvergence_needs_room_for_a_row() -> None:
    assert run_graph(softmax_like(4), OURS, "interpreter").outputs[7]["vals"].tolist() == [
        0.25,
        0.5,
        0.25,
        1,
    ]
    with pytest.raises(DeadlockError) as caught:
        run_graph(softmax_like(1), OURS, "interpreter")
    text = str(caught.value)
    assert "fan waits for divide to free a slot of stream kept (holds 1)" in text
    assert "divide waits for a token of repeat on stream repeated" in text
    assert "repeat waits for a token of sum on stream sum" in text
    assert "sum waits for a token of fan on stream to sum" in text
    assert "write" not in text
    assert "give stream kept more capacity" in text


def test_more_room_is_never_slower() -> None:
    cycles = [run_graph(softmax_like(c), OURS, "interpreter").cycles for c in (3, 4, 5, 8, 100)]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[-1] == run_graph(softmax_like(100), OURS, "interpreter").cycles


def test_a_stream_that_ends_early_is_no_deadlock() -> None:
    with pytest.raises(SimulationError, match="scan waits for a token of source 0") as caught:
        bench("scan", "0", arrays={"seg": [0, 1], "crd": [2]})
    assert not isinstance(caught.value, DeadlockError)


def test_a_circle_is_found_among_nodes_that_merely_follow() -> None:
    streams = tuple(Stream(k, StreamKind.CRD, 0) for k in range(3))
    nodes = (
        Node(0, "repsig", (2,), (0,)),
        Node(1, "repsig", (0,), (1, 2)),
        Node(2, "repsig", (1,), ()),
    )
    blocked = [Blocked(2, 1, Need.TOKEN), Blocked(0, 2, Need.TOKEN), Blocked(1, 0, Need.TOKEN)]
    ring = circle(Graph("ring", nodes, streams), blocked)
    assert {b.node for b in ring} == {0, 1}


def test_token_limit() -> None:
    bound = bench_graph("dense_scan", "0 S0 D", params={"dim": 1000})
    with pytest.raises(SimulationError, match="more than 500 tokens"):
        run_graph(bound, OURS, "interpreter", limits=Limits(500))


def test_progress_can_cancel() -> None:
    bound = bench_graph("dense_scan", "0 S0 D", params={"dim": 20_000})
    seen: list[tuple[int, float]] = []
    run_graph(bound, OURS, "interpreter", progress=lambda *report: seen.append(report))
    assert len(seen) >= 2
    assert seen == sorted(seen)
    with pytest.raises(SimulationError, match="cancelled"):
        run_graph(bound, OURS, "interpreter", progress=lambda tokens, share: False)
