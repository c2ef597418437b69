"""Saturation: why it ends, what it reports."""

from __future__ import annotations

import pytest

from fuseloom.access.constructs import ShapeError
from fuseloom.access.kernels import apply, matmul
from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.sets import rule_set
from fuseloom.access.saturation.saturate import SaturationLimits, Stopped, saturate
from fuseloom.access.terms import tensor
from fuseloom.errors import CancelledError, ProgramError
from tests.access.saturation.test_egraph import DOUBLES

ARRAY = {"rows": 16, "columns": 16}


def test_it_says_why_it_ended() -> None:
    term, rules = matmul(64, 64, 64), rule_set("boxes")
    whole = saturate(term, rules, ARRAY)
    assert whole.stopped is Stopped.SATURATED
    few = saturate(term, rules, ARRAY, SaturationLimits(iterations=3))
    assert few.stopped is Stopped.ITERATIONS
    assert len(few.steps) == 3
    small = saturate(term, rules, ARRAY, SaturationLimits(nodes=100))
    assert small.stopped is Stopped.NODES
    assert few.classes.count < whole.classes.count
    endless = saturate(term, DOUBLES, ARRAY, SaturationLimits(iterations=10**6, nodes=2_000))
    assert endless.stopped is Stopped.NODES


def test_rules_that_never_fire_are_counted_and_nothing_changes() -> None:
    rules = read_rules('(rule never "x" (flatten (flatten ?a)) => (flatten ?a))')
    made = saturate(matmul(4, 4, 4), rules, ARRAY)
    assert made.hits == {"never": 0}
    assert made.stopped is Stopped.SATURATED
    assert len(made.steps) == 1


def test_progress_may_end_it() -> None:
    seen = []

    def cancel(step: object) -> None:
        seen.append(step)
        if len(seen) == 2:
            raise CancelledError("enough")

    with pytest.raises(CancelledError):
        saturate(matmul(64, 64, 64), rule_set("boxes"), ARRAY, progress=cancel)
    assert len(seen) == 2


@pytest.mark.parametrize("limit", [{"iterations": 0}, {"nodes": -1}, {"seconds": 0.0}])
def test_limits_are_positive(limit: dict[str, float]) -> None:
    with pytest.raises(ProgramError, match="positive"):
        saturate(matmul(4, 4, 4), (), ARRAY, SaturationLimits(**limit))  # type: ignore[arg-type]


def test_a_term_without_a_shape_is_refused() -> None:
    with pytest.raises(ShapeError):
        saturate(apply("squeeze", tensor("A", (2,)), 0), (), ARRAY)
