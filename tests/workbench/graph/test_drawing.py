"""The common parts of a graph's drawings."""

from __future__ import annotations

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.display import TOKENS
from fuseloom_workbench.graph.drawing import edge_list, is_copy


def test_every_family_has_a_colour_and_every_stream_an_edge(session):
    graph = session.current.graph
    assert {entry.family for entry in CATALOGUE.values()} <= set(TOKENS)
    assert [edge[0] for edge in edge_list(graph)] == [f"e{s.id}" for s in graph.streams]
    assert {n.op for n in graph.nodes if is_copy(n)} == {"broadcast"}
