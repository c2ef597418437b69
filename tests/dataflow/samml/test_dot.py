"""Drawings: every node and stream is there, can be found again, and looks like its kind."""

import re

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.dot import STYLES, to_dot
from fuseloom.dataflow.samml.graph import Graph, StreamKind
from fuseloom.models import gcn
from tests.dataflow.samml.test_graph import COPY

FUSED = compile_program(gcn().program, gcn().presets["full"]).regions[0].graph


def test_a_small_drawing() -> None:
    source = to_dot(COPY).source
    assert source.startswith("digraph copy {")
    assert '\tn1 [label="LS B.i" fillcolor="#cfe3ff" id=n1]' in (source.splitlines())
    assert '\tn2 [label=Val fillcolor="#d3efd0" id=n2]' in source.splitlines()
    assert "\tn1 -> n3 [" in source


@pytest.mark.parametrize("graph", [COPY, FUSED], ids=["copy", "gcn"])
def test_every_node_and_stream_can_be_found(graph: Graph) -> None:
    source = to_dot(graph).source
    nodes = re.findall(r"^\tn(\d+) \[.*\bid=n(\d+)\b", source, re.MULTILINE)
    assert nodes == [(str(n.id), str(n.id)) for n in graph.nodes]
    edges = re.findall(r"^\tn(\d+) -> n(\d+) \[.*\bid=e(\d+)\b", source, re.MULTILINE)
    assert [tuple(map(int, edge)) for edge in edges] == [(a, b, s.id) for a, b, s in graph.edges()]


def test_edges_look_like_their_kind() -> None:
    lines = {
        int(match[1]): line
        for line in to_dot(FUSED).source.splitlines()
        if (match := re.search(r" -> .*\bid=e(\d+)", line))
    }
    assert {s.kind for s in FUSED.streams} == set(StreamKind)
    for stream in FUSED.streams:
        assert f"style={STYLES[stream.kind]['style']}" in lines[stream.id]


def test_broadcasts_are_points() -> None:
    source = to_dot(FUSED).source
    points = re.findall(r"^\tn(\d+) \[label=\"\".*shape=circle", source, re.MULTILINE)
    assert points == [str(n.id) for n in FUSED.nodes if n.op == "broadcast"]


def test_labels_and_direction() -> None:
    assert 'label="B.i crd"' in to_dot(COPY, labels=True).source
    assert 'label="B.i crd"' not in to_dot(COPY).source
    assert "rankdir=LR" in to_dot(COPY).source
    assert "rankdir=TB" in to_dot(COPY, rankdir="TB").source
