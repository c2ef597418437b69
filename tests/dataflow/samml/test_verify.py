"""Each rule of a well-formed graph, broken once."""

from dataclasses import replace

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.catalogue import CATALOGUE, primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import GraphError
from fuseloom.models import MODELS
from tests.dataflow.samml.test_graph import COPY

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG


def with_node(k: int, **changes: object) -> Graph:
    nodes = list(COPY.nodes)
    nodes[k] = replace(nodes[k], **changes)
    return replace(COPY, nodes=tuple(nodes))


def with_stream(k: int, **changes: object) -> Graph:
    streams = list(COPY.streams)
    streams[k] = replace(streams[k], **changes)
    return replace(COPY, streams=tuple(streams))


def joined(kinds: tuple[StreamKind, ...], depths: tuple[int, ...], out: StreamKind) -> Graph:
    """Given streams into one intersecter of two operands."""
    ids = range(len(kinds))
    streams = [Stream(k, kinds[k], depths[k]) for k in ids]
    streams += [Stream(4, CRD, 1), Stream(5, out, 1)]
    sources = [Node(k, "source", (), (k,), {"kind": kinds[k].value}) for k in ids]
    sinks = [Node(5, "sink", (4,), ()), Node(6, "sink", (5,), ())]
    node = Node(4, "intersect", tuple(ids), (4, 5, None), label="I_k")
    return Graph("joined", (*sources, node, *sinks), tuple(streams))


@pytest.mark.deep  # takes seconds
def test_what_is_compiled_is_well_formed() -> None:
    verify(COPY)
    verify(joined((CRD, REF, CRD, VAL), (1, 1, 1, 1), REF))
    for build in MODELS.values():
        for schedule in ("", *build().presets.values()):
            for region in compile_program(build().program, schedule).regions:
                verify(region.graph)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        # One producer and one reader each.
        (with_node(3, inputs=(0,)), "stream %0 (root) is read 2 times"),
        (with_node(2, outputs=(None,)), "stream %3 () is written 0 times"),
        (with_node(2, outputs=(2,)), "stream %2 (B.i ref) is written 2 times"),
        (replace(COPY, nodes=COPY.nodes[:3]), "stream %1 (B.i crd) is read 0 times"),
        (with_node(3, inputs=(9,)), "graph 'copy' uses stream %9, which it does not have"),
        (with_node(3, inputs=(-1,)), "graph 'copy' uses stream %-1, which it does not have"),
        # Primitives, parameters, ports.
        (with_node(2, op="arrays"), "no primitive is called 'arrays'"),
        (with_node(1, params={"tensor": "B"}), "node 1 (LS B.i) lacks the parameter 'level'"),
        (with_node(2, op="reduce", params={"fn": "add"}), "port val: takes val, got ref (%2)"),
        (with_stream(1, kind=REF), "node 1 (LS B.i), port crd: takes crd, got ref (%1)"),
        # Depths.
        (with_stream(1, depth=2), "node 1 (LS B.i), port crd: stream %1 has depth 2, the other "
         "ports ask for 1"),
        (with_stream(3, depth=0), "node 2 (array), port val: stream %3 has depth 0, the other "
         "ports ask for 1"),
        (joined((CRD, REF, CRD, REF), (1, 1, 2, 2), REF), "node 4 (I_k), port crd: stream %2 has "
         "depth 2, the other ports ask for 1"),
        # Kinds that must agree.
        (joined((CRD, REF, REF, REF), (1, 1, 1, 1), REF), "port crd: takes crd, got ref (%2)"),
        (joined((CRD, SIG, CRD, REF), (1, 1, 1, 1), REF), "takes ref or val or crd, got sig (%1)"),
    ],
)  # fmt: skip
def test_a_broken_rule(graph: Graph, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        verify(graph)
    assert message in caught.value.message


def test_repeated_payloads_keep_their_kind() -> None:
    streams = (Stream(0, VAL, 0), Stream(1, SIG, 1), Stream(2, REF, 1))
    nodes = (
        Node(0, "source", (), (0,), {"kind": "val"}),
        Node(1, "source", (), (1,), {"kind": "sig"}),
        Node(2, "repeat", (0, 1), (2,), label="Rep"),
        Node(3, "sink", (2,), ()),
    )
    with pytest.raises(GraphError, match=r"node 2 \(Rep\), port out: ref is not val"):
        verify(Graph("g", nodes, streams))


@pytest.mark.parametrize(
    ("name", "inputs"), [("intersect", 3), ("binary", 1), ("reduce", 3), ("root", 1)]
)
def test_a_wrong_number_of_inputs(name: str, inputs: int) -> None:
    entry = primitive(name)
    with pytest.raises(GraphError) as caught:
        entry.input_ports(inputs)
    assert caught.value.message == f"{entry.title} cannot have {inputs} inputs"
    assert caught.value.hint == entry.doc


def test_optional_and_repeated_ports() -> None:
    assert [p.name for p in primitive("reduce").input_ports(1)] == ["val"]
    assert [p.name for p in primitive("reduce").input_ports(2)] == ["val", "guide"]
    assert [p.name for p in primitive("union").input_ports(6)] == ["crd", "payload"] * 3
    assert [p.name for p in primitive("union").output_ports(4)] == ["crd"] + ["payload"] * 3


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_entry_describes_itself(name: str) -> None:
    entry = primitive(name)
    assert entry.name == name
    assert entry.doc.endswith(".")
    assert len(entry.short) <= 6
    assert entry.colour.startswith("#")
    assert entry.flops([1.0] * 8, 1.0) >= 0
    assert entry.bytes([1.0] * 8, 1.0, 1.0) >= 0
