"""Small graphs written by hand."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.sim.tokens import encode, parse_tokens

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG

OURS = Machine.default()


def graph(streams: list[StreamKind], *nodes: tuple, **arrays: dict) -> BoundGraph:
    """Nodes are (op, inputs, outputs, parameters); ``arrays`` are named ``n`` + node id."""
    return BoundGraph(
        Graph(
            "test",
            tuple(
                Node(k, op, ins, outs, params) for k, (op, ins, outs, params) in enumerate(nodes)
            ),
            tuple(Stream(k, kind, 1) for k, kind in enumerate(streams)),
        ),
        {int(name[1:]): bound for name, bound in arrays.items()},
    )


def tokens(text: str, kind: StreamKind = CRD) -> dict[str, np.ndarray]:
    return {"tokens": encode(parse_tokens(text, kind))}


def softmax(rows: int, columns: int) -> BoundGraph:
    """Every row waits in a channel until its sum is known."""
    refs = {"dim": columns}
    return graph(
        [REF, CRD, REF, CRD, REF, CRD, CRD, VAL, VAL, VAL, VAL, SIG, VAL, VAL],
        ("root", (), (0,), {}),
        ("dense_scan", (0,), (1, 2), {"dim": rows}),
        ("dense_scan", (2,), (3, 4), refs),
        ("broadcast", (3,), (5, 6), {}),
        ("array", (4,), (7,), {"tensor": "A"}),
        ("broadcast", (7,), (8, 9), {}),
        ("reduce", (8,), (10,), {"fn": "add"}),
        ("repsig", (5,), (11,), {}),
        ("repeat", (10, 11), (12,), {}),
        ("binary", (9, 12), (13,), {"fn": "div"}),
        ("crdwrite", (1,), (), {"tensor": "T", "level": 0}),
        ("crdwrite", (6,), (), {"tensor": "T", "level": 1}),
        ("valwrite", (13,), (), {"tensor": "T"}),
        n4={"vals": np.linspace(1, 2, rows * columns, dtype=np.float32)},
    )


def assert_equal(a: EngineResult, b: EngineResult) -> None:
    for what in ("clocks", "stall_input", "stall_output", "first", "tokens", "values", "taken"):
        np.testing.assert_array_equal(getattr(a, what), getattr(b, what), err_msg=what)
    for node, arrays in a.outputs.items():
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, b.outputs[node][name])
