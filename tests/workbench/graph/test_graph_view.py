"""The drawn graph: its nodes, their heat, the critical path, and what a browser asks."""

from __future__ import annotations

from fuseloom_workbench.graph.graph_view import GraphView

from ..outcomes import outcome


def test_the_graph_view_draws_every_node(session):
    view = GraphView(session)
    graph = session.current.graph
    assert set(view.view["places"]) == {f"n{node.id}" for node in graph.nodes}
    assert len(view.view["lines"]) == len(graph.streams)
    assert set(view.heat["heat"]["expected"]) == {f"n{n.id}" for n in graph.nodes}
    assert view.heat["heat"]["busy"] == {}
    session.finish(session.built, outcome(session=session))
    assert view.heat["heat"]["busy"]["n0"] == 3
    session.select_node(3)
    assert view.selected == "n3"


def test_the_path_is_outlined_in_the_graph(explained):
    critical = GraphView(explained).heat["critical"]
    path = explained.record.run.regions[0].path
    assert set(critical["nodes"]) == {f"n{n}" for n in path["shares"]}
    assert critical["edges"]
    streams = {s.id for s in explained.current.graph.streams}
    assert {int(e.removeprefix("e")) for e in critical["edges"]} <= streams


def test_kernels_fold_and_open_from_a_browser(session):
    view = GraphView(session)
    view.handle({"kind": "fold", "group": "k:T2", "closed": True})
    assert set(view.view["boxes"]) == {"k:T2"}
    assert dict(session.drawing.folds) == {
        "k:T1": False, "k:T2": True, "k:T3": False, "k:H": False,
    }  # fmt: skip
    view.handle({"kind": "folds", "to": "kernel"})
    assert len(view.view["places"]) == 4
    view.handle({"kind": "fold", "group": "k:none", "closed": False})
    assert len(view.view["places"]) == 4
    view.handle({"kind": "whole", "on": True})
    view.handle({"kind": "folds", "to": "region"})
    assert {box["kernels"] for box in view.view["boxes"].values()} == {4}
    view.handle({"kind": "folds", "to": "open"})
    assert not view.view["boxes"]
    view.handle({"kind": "select", "node": "r1n5"})
    assert (session.region, session.node) == (1, 5)
    assert view.selected == "n5"
    view.handle({"kind": "select", "node": "m3"})
    assert session.node == -1


def test_nodes_are_found_and_a_drawing_is_cancelled(session):
    view = GraphView(session)
    view.handle({"kind": "find", "text": "p"})
    assert view.hits["what"] == "index p"
    before = view.view["key"]
    key = view.wanted["key"]
    session.stop_drawing(key)
    assert not view.busy, "what is drawn already stays"
    assert view.view["key"] == before
