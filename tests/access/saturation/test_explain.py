"""Explanations: chains of rules that lead to a term, and replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.access.kernels import batched_matmul, conv2d, dense, matmul
from fuseloom.access.rules.sets import rules_of
from fuseloom.access.saturation.classes import ENode
from fuseloom.access.saturation.explain import explain, replay
from fuseloom.access.saturation.extract import extract_greedily
from fuseloom.access.saturation.saturate import SaturationLimits, saturate
from fuseloom.access.terms import Term, tensor
from fuseloom.errors import ProgramError
from tests.access.test_kernels import LAYERS


def _without_products(node: ENode) -> int:
    return 1 + 9_999 * (node.attributes == ("dotProd",))


TERMS = [matmul(5, 9, 6), dense(2, 9, 13), batched_matmul(3, 2, 5, 4), *map(conv2d, LAYERS[:3])]


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("sets", [("boxes",), ("boxes", "laws"), ("paper",)])
def test_what_is_extracted_by_any_cost_is_explained(term: Term, sets: tuple[str, ...]) -> None:
    rules = rules_of(sets)
    made = saturate(
        term, rules, {"rows": 4, "columns": 4}, SaturationLimits(iterations=7, nodes=4_000)
    )
    for seed in range(3):
        random = np.random.default_rng(seed)
        costs: dict[ENode, int] = {}

        def cost(node: ENode, random: np.random.Generator = random, costs: dict = costs) -> int:
            return costs.setdefault(node, int(random.integers(1, 100)))

        extracted = extract_greedily(made.classes, cost).term
        steps = explain(made, extracted)
        assert replay(steps, term, rules, made.parameters) == extracted


def test_a_step_that_is_wrong_does_not_replay() -> None:
    made = saturate(TERMS[0], rules_of(["boxes"]), {"rows": 4, "columns": 4})
    best = extract_greedily(made.classes, _without_products).term
    steps = explain(made, best)
    wrong = replace(steps[0], after=tensor("A", (2,)))
    with pytest.raises(ProgramError, match="does not replay"):
        replay([wrong], TERMS[0], made.rules, made.parameters)
    with pytest.raises(ProgramError, match="does not replay"):
        replay(steps[1:], TERMS[0], made.rules, made.parameters)


def test_a_term_that_is_not_equal_has_no_explanation() -> None:
    made = saturate(TERMS[0], rules_of(["boxes"]), {"rows": 4, "columns": 4})
    with pytest.raises(ProgramError, match="does not hold"):
        explain(made, tensor("A", (2,)))


def test_without_the_rules_no_chain_is_found() -> None:
    made = saturate(TERMS[0], rules_of(["boxes"]), {"rows": 4, "columns": 4})
    best = extract_greedily(made.classes, _without_products).term
    with pytest.raises(ProgramError, match="no chain"):
        explain(replace(made, rules=()), best)
