"""The importance of a choice: all, nothing, and nothing where there is too little data."""

from __future__ import annotations

import random

import pytest

from fuseloom_workbench.costs.importance import LEAST, importance


def test_a_choice_that_decides_explains_all_and_another_nothing() -> None:
    runs = [
        (cycles, {"cut": cut, "lanes": str(k % 2)})
        for k in range(4)
        for cut, cycles in (("cut", 100.0), ("fused", 1_000.0))
    ]
    first, second = importance(runs)
    assert (first.choice, first.share, first.runs) == ("cut", 1.0, 8)
    assert [(v.text, v.runs, v.cycles) for v in first.values] == [
        ("cut", 4, pytest.approx(100)),
        ("fused", 4, pytest.approx(1_000)),
    ]
    assert (second.choice, second.share) == ("lanes", 0.0)


def test_the_share_is_epsilon_squared() -> None:
    logs = {"a": (1, 2, 3, 2), "b": (3, 4, 5, 4)}  # 12 in all, 4 within; 8 runs, 2 groups
    runs = [(2.718281828459045**x, {"order": k}) for k, group in logs.items() for x in group]
    (share,) = importance(runs)
    assert share.share == pytest.approx(1 - (4 / 6) / (12 / 7))


def test_chance_is_no_reason_however_many_values_there_are() -> None:
    seed = 11
    draw = random.Random(seed)
    shares = []
    for _ in range(200):
        runs = [(draw.lognormvariate(9, 1), {"order": str(k % 10)}) for k in range(20)]
        shares += [share.share for share in importance(runs)]
    assert len(shares) == 200
    assert sum(shares) / len(shares) < 0.15, seed  # eta squared would be about one half


def test_too_few_runs_say_nothing() -> None:
    runs = [(100.0 + k, {"cut": "cut" if k % 2 else "fused"}) for k in range(LEAST)]
    assert importance(runs)
    assert importance(runs[1:]) == []
    assert importance([(0.0, {"cut": "cut"}), *runs[1:]]) == []
    some = [(cycles, chosen if k < 6 else {}) for k, (cycles, chosen) in enumerate(runs)]
    assert importance(some) == []
    lone = [(cycles, {"cut": "cut" if k else "fused"}) for k, (cycles, _) in enumerate(runs)]
    assert importance(lone) == []
