"""Budgets: defaults from the machine, and nonsense refused."""

from __future__ import annotations

import pytest

from fuseloom_workbench.service.budgets import VARIABLE, Budgets


def test_defaults_are_positive_and_read_back():
    budgets = Budgets()
    assert all(value > 0 for value in budgets.to_dict().values())
    assert Budgets.of(budgets.to_dict()) == budgets


@pytest.mark.parametrize("given", [{"runs": 0}, {"runs": -1}, {"runs": True}, {"runs": "2"}])
def test_a_budget_is_a_whole_number(given):
    with pytest.raises(ValueError, match="integer from 1 on"):
        Budgets.of(given)


def test_unknown_budgets_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="no budget is called 'rums'"):
        Budgets.of({"rums": 1})
    monkeypatch.setenv(VARIABLE, '{"runs": 3}')
    assert Budgets.from_environment().runs == 3
