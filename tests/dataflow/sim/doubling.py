"""A graph that doubles a matrix."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim import EngineResult, bind, run_graph
from fuseloom.program.formats import Format
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor

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
