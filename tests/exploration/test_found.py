"""Searches of several spaces, one after another, are told as one."""

from __future__ import annotations

from itertools import pairwise

import pytest

import fuseloom as fl
from fuseloom.exploration.found import Sight, SpacesWatcher


def sight(seconds: float, cycles: float, bound: float, schedule: str) -> Sight:
    return Sight(seconds, cycles, bound, schedule, 2, {"simulated": 2})


def test_the_best_of_all_and_the_lowest_bound() -> None:
    seen: list[Sight] = []
    watcher = SpacesWatcher(seen.append)
    first = watcher.begin(1)
    assert first is not None
    first(sight(0.5, 100.0, 90.0, "a"))
    second = watcher.begin(0)
    assert second is not None
    second(sight(0.25, 40.0, 30.0, "b"))
    second(sight(0.5, 40.0, 95.0, "b"))
    assert [s.bound for s in seen] == [0.0, 30.0, 90.0]  # another space may be better at first
    assert [s.cycles for s in seen] == [100.0, 40.0, 40.0]
    assert seen[-1].schedule == "b"
    assert (seen[-1].seconds, seen[-1].runs) == (1.0, 4)
    assert seen[-1].counts == {"simulated": 4}


def test_a_space_of_which_nothing_was_told_bounds_nothing() -> None:
    seen: list[Sight] = []
    watcher = SpacesWatcher(seen.append)
    watcher.begin(1)
    second = watcher.begin(0)
    assert second is not None
    second(sight(0.25, 40.0, 30.0, "b"))
    assert (seen[-1].cycles, seen[-1].bound) == (40.0, 0.0)


def test_without_anybody_nothing_is_told() -> None:
    assert SpacesWatcher(None).begin(0) is None


def test_a_search_of_settings_tells_no_bound_above_what_it_finds() -> None:
    model, data = fl.load("spmm", "random")
    seen: list[Sight] = []
    found = fl.autoschedule(model.program, data, gap=0, also=["block 2"], watch=seen.append)
    assert all(a.cycles >= b.cycles for a, b in pairwise(seen))
    assert all(s.bound <= found.cycles for s in seen)
    assert seen[-1].bound == pytest.approx(found.certificate.bound)
