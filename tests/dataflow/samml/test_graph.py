"""Graphs as data: text, JSON there and back, and what is asked of their streams."""

import json
import pickle
from dataclasses import replace
from typing import Any

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import GraphError
from fuseloom.models import MODELS

CRD, REF, VAL = StreamKind.CRD, StreamKind.REF, StreamKind.VAL

COPY = Graph(
    "copy",
    (
        Node(0, "root", (), (0,), label="root"),
        Node(1, "scan", (0,), (1, 2), {"tensor": "B", "level": 0}, "LS B.i", "B.i"),
        Node(2, "array", (2,), (3,), {"tensor": "B"}),
        Node(3, "crdwrite", (1,), (), {"tensor": "X", "level": 0}),
        Node(4, "valwrite", (3,), (), {"tensor": "X"}),
    ),
    (
        Stream(0, REF, 0, "root"),
        Stream(1, CRD, 1, "B.i crd", 4),
        Stream(2, REF, 1, "B.i ref"),
        Stream(3, VAL, 1),
    ),
)
GRAPHS = [
    pytest.param(region.graph, id=f"{name}-{region.name}")
    for name, build in MODELS.items()
    for region in compile_program(build().program, build().presets.get("full")).regions
]


def test_text() -> None:
    assert str(COPY) == (
        "graph copy\n"
        "  %0:ref0 = root()  # root\n"
        "  %1:crd1/4, %2:ref1 = scan(%0) {level=0, tensor=B}  # LS B.i\n"
        "  %3:val1 = array(%2) {tensor=B}\n"
        "  crdwrite(%1) {level=0, tensor=X}\n"
        "  valwrite(%3) {tensor=X}"
    )


def test_a_void_output_is_shown() -> None:
    sink = Graph("g", (Node(0, "scan", (0,), (None, 1)),), (Stream(0, REF, 0), Stream(1, REF, 1)))
    assert str(sink) == "graph g\n  _, %1:ref1 = scan(%0)"


@pytest.mark.parametrize("graph", [COPY, *GRAPHS])
def test_json_there_and_back(graph: Graph) -> None:
    back = Graph.from_json(graph.to_json())
    assert back == graph
    assert str(back) == str(graph)
    verify(back)


@pytest.mark.parametrize("graph", [COPY, *GRAPHS])
def test_graphs_travel_between_processes(graph: Graph) -> None:
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert hash(graph.nodes) == hash(pickle.loads(pickle.dumps(graph)).nodes)


def test_nodes_keep_their_parameters() -> None:
    given = {"tensor": "B"}
    node = Node(0, "array", (0,), (1,), given)
    given["tensor"] = "C"
    assert node.params["tensor"] == "B"
    with pytest.raises(TypeError):
        node.params["tensor"] = "C"


def test_ends_of_streams() -> None:
    assert COPY.producer == {0: 0, 1: 1, 2: 1, 3: 2}
    assert COPY.consumer == {0: 1, 1: 3, 2: 2, 3: 4}
    assert [(a, b, s.id) for a, b, s in COPY.edges()] == [
        (0, 1, 0),
        (1, 3, 1),
        (1, 2, 2),
        (2, 4, 3),
    ]


@pytest.mark.parametrize("graph", [COPY, *GRAPHS])
def test_topological_order(graph: Graph) -> None:
    order = graph.topological()
    assert sorted(order) == list(range(len(graph.nodes)))
    place = {node: k for k, node in enumerate(order)}
    assert all(place[a] < place[b] for a, b, _ in graph.edges())


def test_a_cycle_names_its_nodes() -> None:
    around = Graph(
        "ring",
        (
            Node(0, "stopdrop", (1,), (0,), label="one"),
            Node(1, "stopdrop", (0,), (1,)),
            Node(2, "root", (), (2,), label="outside"),
            Node(3, "sink", (2,), ()),
        ),
        (Stream(0, REF, 0), Stream(1, REF, 0), Stream(2, REF, 0)),
    )
    with pytest.raises(GraphError, match=r"graph 'ring' has a cycle among: one, 1$"):
        around.topological()


def test_one_capacity_for_all() -> None:
    assert [s.capacity for s in COPY.with_capacity(7).streams] == [7, 7, 7, 7]
    assert [s.capacity for s in COPY.with_capacity(None).streams] == [None] * 4
    assert COPY.streams[1].capacity == 4


def changed(**entries: Any) -> str:
    return json.dumps({**json.loads(COPY.to_json()), **entries})


def without(entry: str) -> str:
    data = json.loads(COPY.to_json())
    del data[entry]
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "malformed graph JSON: Expecting value"),
        ("[]", "malformed graph JSON"),
        ("{}", "not a graph file of version 1"),
        (changed(fuseloom="program"), "not a graph file of version 1"),
        (changed(version=2), "not a graph file of version 1"),
        (without("name"), "malformed graph JSON: no entry 'name'"),
        (without("nodes"), "malformed graph JSON: no entry 'nodes'"),
        (changed(streams=[["wire", 0, "", None, []]]), "'wire' is not a valid StreamKind"),
        (changed(streams=[["crd", 0]]), "malformed graph JSON: not enough values to unpack"),
        (changed(nodes=[{"op": "root"}]), "malformed graph JSON: no entry 'in'"),
        (changed(nodes=7), "malformed graph JSON"),
        (
            changed(nodes=[{"op": "root", "in": ["a"], "out": [], "params": {}, "label": "",
                            "origin": ""}]),
            "'a' is not an integer",
        ),
        (changed(streams=[["crd", "x", "", None, []]]), "'x' is not an integer"),
        (changed(streams=[["crd", 0, "", [], []]]), "is not an integer of at least 1"),
        (
            changed(nodes=[{"op": "root", "in": [], "out": [], "params": {"dim": [1]},
                            "label": "", "origin": ""}]),
            "is no parameter",
        ),
        ("[" * 100_000, "malformed graph JSON"),
    ],
)  # fmt: skip
def test_other_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_json(text)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"graph"'])
def test_json_that_is_no_object_is_no_graph_file(text: str) -> None:
    with pytest.raises(GraphError, match="malformed graph JSON: no object"):
        Graph.from_json(text)


def test_what_a_graph_remembers_stays_at_home() -> None:
    """Hashes of text differ between processes, so they must not travel with a graph."""
    graph = COPY
    assert hash(graph) == hash(replace(graph)) != hash(replace(graph, name="other"))
    assert graph.topological() == replace(graph).topological()
    copied = pickle.loads(pickle.dumps(graph))
    assert copied == graph
    assert set(vars(copied)) == {"name", "nodes", "streams"}
    assert hash(copied) == hash(graph)
