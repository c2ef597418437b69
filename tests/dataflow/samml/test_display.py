"""Graphs in a notebook."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml import display
from fuseloom.dataflow.samml.display import TOKENS, graph_html
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.display.style import COLOURS
from fuseloom.program import parse


@pytest.fixture
def graph() -> Graph:
    program = parse("A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]")
    return compile_program(program).regions[0].graph


def test_every_family_has_a_colour() -> None:
    assert set(TOKENS) == set(Family)
    assert set(TOKENS.values()) <= COLOURS.keys()


def test_every_node_is_drawn_in_its_colour(graph: Graph) -> None:
    html = graph_html(graph)
    svg = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    nodes = [e for e in svg.iter() if (e.get("class") or "").startswith("node")]
    assert len(nodes) == len(graph.nodes)
    assert all(set((e.get("class") or "").split()) & set(TOKENS.values()) for e in nodes)
    assert not any(e.get("id") for e in nodes), "several graphs are on one page"


def test_without_graphviz_and_when_large_there_is_a_table(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert "<svg" not in graph_html(graph)
    assert graph_html(graph).count("<tr>") == len(graph.nodes) + 1
    monkeypatch.undo()
    monkeypatch.setattr(display, "MOST", 2)
    assert "<svg" not in graph._repr_html_()
