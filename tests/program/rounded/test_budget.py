"""The limits of an evaluation."""

from __future__ import annotations

import time

import pytest

from fuseloom.program.rounded.budget import EvaluationBudget, TooMuchError


def test_memory_is_that_of_one_step() -> None:
    budget = EvaluationBudget(8_000, 1e9)
    for _ in range(5):
        budget.take(250, 4)
    with pytest.raises(TooMuchError):
        budget.take(251, 4)


def test_what_is_kept_counts_too() -> None:
    budget = EvaluationBudget(8_000, 1e9)
    budget.held = 4_000.0
    budget.take(125, 4)
    with pytest.raises(TooMuchError):
        budget.take(126, 4)


def test_products_add_up() -> None:
    budget = EvaluationBudget(1e9, 100)
    budget.work(60)
    budget.work(40)
    assert budget.spent == 100
    with pytest.raises(TooMuchError):
        budget.work(1)


def test_a_deadline_ends_every_step() -> None:
    late = EvaluationBudget(1e9, 1e9, deadline=time.process_time() - 1.0)
    with pytest.raises(TooMuchError) as work:
        late.work(1)
    assert work.value.work
    with pytest.raises(TooMuchError) as memory:
        late.take(1, 1)
    assert memory.value.work
