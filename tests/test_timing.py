"""Rounds of a measurement: how many, for how long, and in which order."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import inf, nan

import pytest

from fuseloom import timing
from fuseloom.errors import ProgramError
from fuseloom.timing import MOST_ROUNDS, in_turns, rounds_within


def test_no_round_begins_after_the_time_but_there_is_one(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(timing.time, "perf_counter", lambda: float(next(clock)))
    assert list(rounds_within(50, 3.0)) == [0, 1, 2, 3]
    assert list(rounds_within(50, 0.0)) == [0]
    assert list(rounds_within(4, inf)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("rounds", "seconds", "message"),
    [
        (0, 1.0, "not 0"), (-1, 1.0, "not -1"), (MOST_ROUNDS + 1, 1.0, "from 1 to 10,000"),
        (1, -1.0, "negative"), (1, nan, "nan"),
    ],
)  # fmt: skip
def test_what_is_out_of_bounds_is_refused(rounds, seconds, message):
    with pytest.raises(ProgramError, match=message):
        list(rounds_within(rounds, seconds))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_each_is_first_equally_often_and_behind_its_neighbours(count):
    orders = [in_turns(range(count), number) for number in range(2 * count)]
    assert all(sorted(order) == list(range(count)) for order in orders)
    assert set(Counter(order[0] for order in orders).values()) == {2}
    before = {one: {a for order in orders for a, b in pairwise(order) if b == one} for one in
              range(count)}  # fmt: skip
    assert all(len(others) == min(2, count - 1) for others in before.values())


def test_nothing_in_turns_is_nothing():
    assert in_turns([], 3) == []
