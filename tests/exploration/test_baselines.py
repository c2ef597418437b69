"""Searches that know nothing: they stay within their runs, and find the best of small spaces."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from fuseloom.errors import FuseloomError
from fuseloom.exploration.baselines import DrawnSchedules, at_random, by_tpe
from fuseloom.exploration.found import Sight
from fuseloom.results.method import Budget
from tests.exploration.test_search import Made

SEARCHES: list[Callable[..., DrawnSchedules]] = [at_random]
if find_spec("optuna"):
    SEARCHES.append(by_tpe)
else:

    def test_that_optuna_lacks_is_told() -> None:
        with pytest.raises(FuseloomError, match="Optuna is not installed") as told:
            by_tpe(Made(0), Budget(), 3)
        assert told.value.hint == 'pip install "fuseloom[optuna]"'


@pytest.mark.parametrize("search", SEARCHES)
def test_runs_are_within_their_number(search: Callable[..., DrawnSchedules]) -> None:
    for seed in range(40):
        made, runs = Made(seed), random.Random(seed).randint(1, 9)
        found = search(made, Budget(), runs, seed)
        assert found.runs <= runs
        assert len(made.measured) == found.runs
        if found.parts:
            assert found.cycles == pytest.approx(sum(made.runs[p] for p in found.parts))
            assert found.cycles >= made.best() - 1e-9
            units = [k for part in found.parts for k in part.units]
            assert sorted(units) == list(range(len(made.units)))


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("search", SEARCHES)
def test_with_runs_enough_they_find_the_best(search: Callable[..., DrawnSchedules]) -> None:
    right = 0
    for seed in range(12):
        made = Made(seed)
        found = search(made, Budget(), 10_000, seed)
        right += found.cycles == pytest.approx(made.best())
    assert right > 4


def test_whoever_watches_a_drawing_sees_what_is_better_over_a_floor() -> None:
    for seed in range(20):
        made, seen = Made(seed), list[Sight]()
        drawn = at_random(made, Budget(), 30, seed, watch=seen.append)
        cycles = [sight.cycles for sight in seen]
        assert cycles == sorted(set(cycles), reverse=True)
        assert not cycles or cycles[-1] == drawn.cycles
        assert all(0 <= sight.bound <= made.best() + 1e-9 for sight in seen)
    assert at_random(Made(0), Budget(), 30, time_limit=0.0).draws == 0
