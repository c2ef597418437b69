"""A graph in the making: equal nodes once, readers without limit, nothing that nobody needs."""

from __future__ import annotations

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.samml.graph_draft import GraphDraft
from fuseloom.dataflow.samml.verify import verify

CRD, REF, VAL = StreamKind.CRD, StreamKind.REF, StreamKind.VAL


def scanning(draft: GraphDraft) -> tuple[int, int]:
    """Coordinates and references of a stored vector."""
    (root,) = draft.add("root", (), ((REF, (), "root"),))
    outs = ((CRD, ("i",), "crd"), (REF, ("i",), "ref"))
    crd, ref = draft.add("scan", (root,), outs, {"tensor": "A", "level": 0})
    return crd, ref


def test_equal_nodes_are_made_once() -> None:
    draft = GraphDraft()
    assert scanning(draft) == scanning(draft)
    assert len(draft.nodes) == 2
    other = draft.add("scan", (0,), ((CRD, ("i",), ""), (REF, ("i",), "")),
                      {"tensor": "B", "level": 0})  # fmt: skip
    assert other != (1, 2)
    assert draft.indices(other[0]) == ("i",)
    assert draft.kind(other[1]) is REF


def test_several_readers_get_a_copy_each() -> None:
    draft = GraphDraft()
    crd, ref = scanning(draft)
    (val,) = draft.add("array", (ref,), ((VAL, ("i",), "values"),), {"tensor": "A"})
    for name in "XYZ":
        draft.add("crdwrite", (crd,), (), {"tensor": name, "level": 0})
        draft.add("valwrite", (val,), (), {"tensor": name})
    graph = draft.finish("copied")
    verify(graph)
    copies = [node for node in graph.nodes if node.op == "broadcast"]
    assert [len(node.outputs) for node in copies] == [3, 3]
    assert [node.label for node in copies] == ["copy crd", "copy values"]


def test_what_no_writer_needs_is_left_out_and_unread_outputs_are_void() -> None:
    draft = GraphDraft()
    crd, ref = scanning(draft)
    draft.add("array", (ref,), ((VAL, ("i",), ""),), {"tensor": "A"})
    draft.add("crdwrite", (crd,), (), {"tensor": "X", "level": 0})
    graph = draft.finish("lean")
    verify(graph)
    assert [node.op for node in graph.nodes] == ["root", "scan", "crdwrite"]
    assert graph.nodes[1].outputs[1] is None
    assert [stream.id for stream in graph.streams] == [0, 1]


def test_axes_of_tiles_are_equal_whatever_they_are_called() -> None:
    draft = GraphDraft()
    _, ref = scanning(draft)

    def tile(spec: str) -> tuple[int, ...]:
        return draft.add("array", (ref,), ((VAL, ("i",), ""),), {"tensor": "A", "tile": spec})

    assert tile("ij") == tile("kl")
    assert tile("ij") != tile("ii")
    assert draft.nodes[-2].params["tile"] == "ij"
