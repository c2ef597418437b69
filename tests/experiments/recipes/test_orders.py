"""Table 4: the design spaces, counted exactly."""

from __future__ import annotations

from math import factorial

import pytest

from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, RecipeResults
from fuseloom.experiments.recipes.orders import COUNTS, SWEPT, UNBUILT, count_orders


@pytest.mark.parametrize(
    ("model", "free", "tied"),
    [("graphsage", factorial(11), 1_134), ("gcn", factorial(18), 63_063_000)],
)
def test_the_four_counts(model, free, tied) -> None:
    assert count_orders(model, constrained=False) == free
    assert count_orders(model, constrained=True) == tied


def test_they_are_claimed_and_shown() -> None:
    (panel,) = COUNTS.panels(RecipeResults({}), ExperimentSize.FULL, AccountingMode.PAPER)
    assert "63,063,000" in panel.text
    assert "6,402,373,705,728,000" in panel.text


def test_the_sweep_is_that_of_the_script() -> None:
    assert len(set(SWEPT)) == 15
    assert UNBUILT in SWEPT
    assert all(sorted(order) == list("ijkl") for order in SWEPT)
