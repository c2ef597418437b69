"""A graph's text reads back."""

from __future__ import annotations

import random

import pytest

import fuseloom as fl
from fuseloom.dataflow.samml.text import parse_graph
from fuseloom.errors import GraphError, ParseError
from tests.property.programs import make_case


def test_text_of_the_gcn_reads_back() -> None:
    model, _ = fl.load("gcn", "karate")
    for schedule in model.presets.values():
        for region in fl.compile(model.program, schedule).regions:
            assert parse_graph(str(region.graph)) == region.graph.bare()
            bounded = region.graph.with_capacity(7)
            assert parse_graph(str(bounded)) == bounded.bare()


def test_text_of_random_graphs_reads_back() -> None:
    for seed in range(60):
        case = make_case(random.Random(seed))
        for region in case.compilation.regions if case else ():
            assert parse_graph(str(region.graph)) == region.graph.bare()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: a graph's text begins with 'graph NAME'"),
        ("graph g\n  nonsense", "line 2, column 1: not a node"),
        ("graph g\n  %0:odd0 = root()", "line 2, column 1: not a stream: '%0:odd0'"),
        ("graph g\n  %0:ref0 = root()\n  %0:ref0 = root()", "stream %0 has two producers"),
        ("graph g\n  valwrite(x)", "not an input: 'x'"),
        ("graph g\n  valwrite(%0) {tensor}", "not a parameter: 'tensor'"),
        ("graph g\n  %1:ref0 = root()", "numbered from %0"),
    ],
)
def test_malformed_text(text: str, message: str) -> None:
    with pytest.raises((ParseError, GraphError)) as caught:
        parse_graph(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
