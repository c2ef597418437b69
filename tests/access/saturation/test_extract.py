"""Greedy extraction: the cheapest tree, against all terms of small e-graphs."""

from __future__ import annotations

from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.saturation.extract import chosen, extract_greedily, tree_cost
from tests.access.saturation.drawn import drawn, every_term

COSTS = {"a": 1}


def test_no_tree_is_cheaper() -> None:
    for seed in range(60):
        classes, cost = drawn(seed)
        greedy = extract_greedily(classes, cost)
        trees = [tree_cost(chosen(classes, x, cost), classes.root, cost) for x in
                 every_term(classes)]  # fmt: skip
        assert tree_cost(greedy, classes.root, cost) == min(trees)


def test_cycles_are_left_out() -> None:
    leaf, loop = ENode("leaf", (), ()), ENode("loop", (), (0,))
    classes = EquivalenceClasses({0: (loop, leaf)}, {}, 0)
    assert extract_greedily(classes, lambda _: 0).choice == {0: leaf}
