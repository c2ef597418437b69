"""Graphs as text for the layout."""

from __future__ import annotations

from engine.dataflow.samml.dot import to_dot
from workbench.drawing import edge_list


def test_names_from_a_program_stay_text_in_dot(session):
    dot = to_dot(session.current.graph, clusters=True, rankdir="TB").source
    assert dot.count("subgraph") == len(
        {n.origin.split(".")[0] for n in session.current.graph.nodes if "." in n.origin}
    )
    assert len(edge_list(session.current.graph)) == dot.count(" -> ")
