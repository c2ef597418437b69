"""The e-graph: what rules add, its limits, and its classes as plain data."""

from __future__ import annotations

import time

import pytest

from fuseloom.access.kernels import conv2d, matmul
from fuseloom.access.meaning import shape_of
from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.sets import rule_set
from fuseloom.access.saturation.egraph import EGraph
from fuseloom.access.saturation.extract import every_choice
from fuseloom.access.terms import Term
from tests.access.test_kernels import LAYERS

ARRAY = {"rows": 4, "columns": 4}
GROWS = read_rules('(rule grows "x" ?a => (squeeze (insert-axis ?a 0) 0))')
DOUBLES = read_rules(
    '(rule doubles "x" ?a => (slice (concat ?a ?a 0) 0 0 ?n) (let ?n (item (dims ?a) 0)))\n'
    '(rule more "x" (concat ?a ?b 0) => (slice (concat (concat ?a ?b 0) ?b 0) 0 0 ?n)\n'
    " (let ?n (+ (item (dims ?a) 0) (item (dims ?b) 0))))"
)


def test_every_term_of_a_class_has_its_shape() -> None:
    graph = EGraph(conv2d(LAYERS[2]), rule_set("boxes"), ARRAY)
    while graph.step().changed:
        pass
    classes = graph.classes()
    assert classes.count == graph.size()[0]
    choice = every_choice(classes, lambda _: 1)
    terms: dict[int, Term] = {}

    def made(number: int) -> Term:
        if number not in terms:
            node = choice[number]
            terms[number] = Term(node.construct, node.attributes, tuple(map(made, node.operands)))
        return terms[number]

    for number in classes.reachable():
        assert shape_of(made(number)) == classes.shapes[number]
        for node in classes.nodes[number]:
            term = Term(node.construct, node.attributes, tuple(map(made, node.operands)))
            assert shape_of(term) == classes.shapes[number]
            assert classes.locate(term)[term] == number


def test_a_set_that_never_stops_is_stopped_by_nodes() -> None:
    graph = EGraph(matmul(8, 8, 8), DOUBLES, ARRAY, nodes=500)
    for _ in range(100):
        graph.step()
        if graph.allowance.exhausted:
            break
    assert graph.allowance.exhausted == "nodes"
    assert 500 < graph.size()[0] < 5_000


@pytest.mark.parametrize("rules", [GROWS, DOUBLES])
def test_a_set_that_never_stops_is_stopped_by_time(rules: tuple[object, ...]) -> None:
    graph = EGraph(matmul(8, 8, 8), rules, ARRAY, nodes=10**7, seconds=0.0)  # type: ignore[arg-type]
    graph.allowance.deadline = time.monotonic()
    graph.allowance.overtime = 3600.0
    assert not graph.step().hits
    assert graph.allowance.exhausted == "seconds"


def test_two_graphs_do_not_see_each_other() -> None:
    first = EGraph(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    second = EGraph(matmul(8, 8, 8), rule_set("boxes"), ARRAY)
    assert first.step().hits == {"systolic-array": 1}
    assert second.step().hits == {"split-vectors": 1}
