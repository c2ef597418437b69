"""Rules in an order: what is found depends on it, and is right."""

from __future__ import annotations

import numpy as np

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import conv2d, dense
from fuseloom.access.mapping import calls_of, map_term
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.rules.sets import rule_set
from fuseloom.access.saturation.phases import rewrite_in_phases
from tests.access.test_kernels import LAYERS

RULES = {rule.name: rule for rule in rule_set("boxes")}
UNDOING = {"boxes-join", "box-of-everything", "reshape-back"}


def test_every_order_keeps_the_value_and_few_find_the_calls() -> None:
    array = SystolicArray(4, 4)
    found = []
    for layer in LAYERS:
        term = conv2d(layer)
        data = random_data(term)
        value = evaluate(term, data)
        for seed in range(6):
            order = np.random.default_rng(seed).permutation(list(RULES))
            made = rewrite_in_phases(term, [RULES[name] for name in order], array.parameters, 3)
            assert np.allclose(evaluate(made, data), value)
            found.append(len(calls_of(made)))
    assert 0 in found
    assert max(found) > 0


def test_an_order_made_by_hand_finds_what_saturation_finds() -> None:
    array = SystolicArray(8, 8)
    hand = [rule for name, rule in RULES.items() if name not in UNDOING]
    term = dense(20, 20, 20)
    made = rewrite_in_phases(term, hand, array.parameters)
    assert sum(call.cycles for call in calls_of(made)) == map_term(term, array).cycles


def test_it_ends_where_nothing_changes() -> None:
    term = dense(4, 4, 4)
    assert rewrite_in_phases(term, [RULES["split-vectors"]], {"rows": 4, "columns": 4}) == term
