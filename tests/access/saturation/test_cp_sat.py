"""Extraction by CP-SAT: the cheapest term with shared parts, against all terms."""

from __future__ import annotations

from fuseloom.access.saturation.cp_sat import extract_optimally
from fuseloom.access.saturation.extract import chosen, extract_greedily
from tests.access.saturation.drawn import drawn, every_term


def test_nothing_is_cheaper_and_the_proof_says_so() -> None:
    better = 0
    for seed in range(60):
        classes, cost = drawn(seed)
        best = extract_optimally(classes, cost)
        assert best.optimal
        assert best.cost == best.bound
        assert best.cost == min(chosen(classes, x, cost).cost for x in every_term(classes))
        greedy = extract_greedily(classes, cost)
        assert best.cost <= greedy.cost
        better += best.cost < greedy.cost
    assert better  # counting shared parts once changes some choices


def test_without_time_the_greedy_term_is_kept() -> None:
    classes, cost = drawn(3)
    kept = extract_optimally(classes, cost, seconds=0.0)
    assert kept.cost <= extract_greedily(classes, cost).cost
