"""The drawings of the page as plain data: terms, differences, classes, calls, planes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import Convolution, conv2d, matmul
from fuseloom.access.mapping import map_term
from fuseloom.access.meaning import random_data
from fuseloom.access.memory import BufferedMemory
from fuseloom.access.terms import part_at, subterms
from fuseloom_workbench.patterns import view
from fuseloom_workbench.patterns.positions import positions_of


@pytest.fixture(scope="module")
def blocked():
    return map_term(matmul(32, 32, 32), SystolicArray(16, 16))


@pytest.fixture(scope="module")
def convolved():
    return map_term(conv2d(Convolution(1, 3, 8, 8, 4, (3, 3))), SystolicArray(64, 64))


def texts(term):
    return [line["text"] for line in term["lines"]]


def test_only_what_differs_is_marked(convolved):
    before, after = convolved.before, convolved.after
    lines = view.term_view(before, after)["lines"]
    marked = [line["text"] for line in lines if line["new"]]
    assert marked == ["(compute dotProd", "(cartProd"]
    for path in view.differing(before, after):
        assert part_at(before, path) not in set(subterms(after))
    assert not any(line["new"] for line in view.term_view(after, after)["lines"])


def test_a_step_changes_the_part_that_is_marked(blocked):
    steps, term = blocked.explanation, blocked.before
    last = view.term_view(term)
    for number, step in enumerate(steps):
        shown = view.step_view(term, steps, number)
        assert any(line["marked"] for line in shown["before"]["lines"])
        assert shown["rule"] == step.rule
        assert texts(shown["before"]) == texts(last)
        last = shown["after"]
    assert texts(last) == texts(view.term_view(blocked.after))


def test_classes_and_their_neighbours_name_each_other(blocked):
    classes, choice = blocked.saturation.classes, blocked.extraction.choice
    taken = 0
    for number in classes.nodes:
        shown = view.class_view(classes, number, choice)
        assert shown["total"] == len(classes.nodes[number])
        taken += sum(node["chosen"] for node in shown["nodes"])
        for node in shown["nodes"]:
            for operand in node["operands"]:
                users = view.class_view(classes, operand, choice)["users"]
                assert number in {user["number"] for user in users}
    assert taken == len(choice)


def test_growth_ends_with_the_e_graph_that_is_there(blocked):
    shown = view.growth_view(blocked)
    assert shown["steps"][-1]["nodes"] == blocked.saturation.classes.count
    hits = sum(sum(step["hits"].values()) for step in shown["steps"])
    assert hits == blocked.saturation.hits.total()


def test_calls_follow_each_other_and_end_with_the_traffic(blocked):
    memory = BufferedMemory()
    shown = view.calls_view(blocked, memory)
    assert shown["total"] == len(shown["calls"]) == 4
    for before, after in zip(shown["calls"], shown["calls"][1:], strict=False):
        assert after["begins"] >= before["begins"] + before["cycles"]
        assert after["transfer"][0] >= before["begins"]
        assert after["transfer"][1] <= after["begins"]
    assert shown["cycles"] == blocked.traffic(memory).cycles
    assert shown["compute"] == blocked.cycles


def test_reasons_are_told_of_what_is_not_mapped():
    mapped = map_term(matmul(32, 32, 32), SystolicArray(16, 16), [])
    shown = view.calls_view(mapped, BufferedMemory())
    assert (shown["total"], shown["duplication"]) == (0, None)
    assert shown["unmapped"][0]["reasons"] == ["no rule makes calls of an array"]


def test_planes_have_the_values_of_a_tensor_thinned():
    term = matmul(200, 64, 3)
    data = random_data(term, 0)
    left = positions_of(part_at(term, (0,)))
    shown = view.positions_view(left, 0, data)
    source = shown["sides"][0]["sources"][0]
    assert source["plane"] == [200, 64]
    (plane,) = source["shades"]
    assert len(plane) == 50 * 64
    assert (min(plane), max(plane)) == (0, 255)
    json.dumps(shown)
    constant = view.positions_view(left, 0, {"activations": np.ones((200, 64))})
    assert set(constant["sides"][0]["sources"][0]["shades"][0]) == {0}
