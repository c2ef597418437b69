"""Wiring a graph from a file: kinds, depths, broadcasts, and what nobody needs."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.samml.exchange import wiring as module
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput, Wiring
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import GraphError


def begun() -> tuple[Wiring, DraftOutput, DraftOutput]:
    """A wiring with the level of a stored vector."""
    wiring = Wiring()
    (root,) = wiring.add("root", ())
    crd, ref = wiring.add("scan", (root,), None, {"tensor": "A", "level": 0}, "rows")
    return wiring, crd, ref


def test_depths_and_kinds_follow_from_the_catalogue() -> None:
    wiring, crd, ref = begun()
    assert (crd.kind, crd.depth) == (StreamKind.CRD, 1)
    assert (ref.kind, ref.depth) == (StreamKind.REF, 1)
    (value,) = wiring.add("array", (ref,), None, {"tensor": "A"})
    (total,) = wiring.add("reduce", (value,), None, {"fn": "add"})
    assert (total.kind, total.depth) == (StreamKind.VAL, 0)
    copies = wiring.add("broadcast", (crd,), 2)
    assert {wire.kind for wire in copies} == {StreamKind.CRD}


def test_wires_that_do_not_fit_name_node_and_port() -> None:
    wiring, crd, ref = begun()
    with pytest.raises(GraphError, match="node load, port ref: takes ref, got crd"):
        wiring.add("array", (crd,), None, {"tensor": "A"}, "load")
    (value,) = wiring.add("array", (ref,), None, {"tensor": "A"})
    (total,) = wiring.add("reduce", (value,), None, {"fn": "add"})
    with pytest.raises(GraphError, match="the stream is nested 0 deep, its other inputs ask for 1"):
        wiring.add("binary", (value, total), None, {"fn": "add"}, "sum")
    with pytest.raises(GraphError, match="has no level left to work on"):
        wiring.add("reduce", (total,), None, {"fn": "add"})


def test_a_wire_with_several_readers_gets_a_broadcast() -> None:
    wiring, crd, ref = begun()
    for name in "XY":
        wiring.add("crdwrite", (crd,), None, {"tensor": name, "level": 0})
    (value,) = wiring.add("array", (ref,), None, {"tensor": "A"})
    wiring.add("valwrite", (value,), None, {"tensor": "X"})
    graph = wiring.finish("copied")
    verify(graph)
    assert [n.op for n in graph.nodes].count("broadcast") == 1


def test_broadcasts_of_the_file_stay_as_far_as_somebody_reads_them() -> None:
    wiring, crd, _ = begun()
    kept = wiring.add("broadcast", (crd,), 3)
    single = wiring.add("broadcast", (kept[0],), 2)
    wiring.add("crdwrite", (single[0],), None, {"tensor": "X", "level": 0})
    wiring.add("crdwrite", (kept[1],), None, {"tensor": "Y", "level": 0})
    graph = wiring.finish("file")
    verify(graph)
    (copy,) = [node for node in graph.nodes if node.op == "broadcast"]
    assert len(copy.outputs) == 2


def test_what_no_writer_needs_is_left_out() -> None:
    wiring, crd, ref = begun()
    wiring.add("array", (ref,), None, {"tensor": "A"})
    wiring.add("crdwrite", (crd,), None, {"tensor": "X", "level": 0})
    graph = wiring.finish("lean")
    verify(graph)
    assert [node.op for node in graph.nodes] == ["root", "scan", "crdwrite"]
    assert graph.nodes[1].outputs[1] is None


def test_a_graph_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 2)
    wiring, crd, _ = begun()
    with pytest.raises(GraphError, match="more than 2 nodes"):
        wiring.add("crdwrite", (crd,), None, {"tensor": "X", "level": 0})
