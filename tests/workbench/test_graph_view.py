"""The drawn graph: its nodes, their heat, the critical path."""

from __future__ import annotations

import pytest

from workbench.graph_view import GraphView

from .outcomes import outcome


def test_the_graph_view_draws_every_node(session):
    view = GraphView(session)
    graph = session.current.graph
    for node in graph.nodes:
        assert f'id="n{node.id}"' in view.view["svg"]
    assert len(view.view["edges"]) == len(graph.streams)
    assert set(view.heat["expected"]) == {f"n{n.id}" for n in graph.nodes}
    assert view.heat["busy"] == {}
    session.finish(session.built, outcome(session=session))
    assert view.heat["busy"]["n0"] == pytest.approx(0.03)  # 3 of 100 cycles
    session.select_node(3)
    assert view.selected == "n3"


def test_the_path_is_outlined_in_the_graph(explained):
    critical = GraphView(explained).critical
    path = explained.record.run.regions[0].path
    assert set(critical["nodes"]) == {f"n{n}" for n in path["shares"]}
    assert critical["edges"]
    streams = {s.id for s in explained.current.graph.streams}
    assert {int(e.removeprefix("e")) for e in critical["edges"]} <= streams
