"""Fronts of schedules: against listing all of them."""

from __future__ import annotations

import random
from itertools import product

import pytest

from engine.explore.pareto import front
from engine.results.method import Cost, Part

SEED = 91


def parts_of(seed: int) -> tuple[int, list[Part]]:
    rng = random.Random(seed)
    size = rng.randint(1, 4)
    found = []
    for begin, end in product(range(size), range(1, size + 1)):
        for _ in range(rng.randint(1, 3) if begin < end else 0):
            numbers = [float(rng.randint(1, 6)) for _ in range(3)]
            cost = Cost(numbers[0], numbers[1], numbers[2], rng.choice([1, 2]))
            found.append(Part(begin, end, cost, 0.0))
    return size, found


def schedules(size: int, parts: list[Part], begin: int = 0) -> list[Cost]:
    if begin == size:
        return [Cost()]
    return [
        part.expected.then(rest)
        for part in parts
        if part.begin == begin
        for rest in schedules(size, parts, part.end)
    ]


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_it_is_what_is_left_of_all_schedules(seed: int) -> None:
    size, parts = parts_of(seed)
    every = set(schedules(size, parts))
    best = {c for c in every if not any(o != c and o.no_worse(c) for o in every)}
    found = front(size, parts, {})
    assert set(found.costs) == best
    assert len(found.costs) == len(best)
    assert [c.cycles for c in found.costs] == sorted(c.cycles for c in best)
    assert not found.thinned
    for cost, chosen in zip(found.costs, found.parts, strict=True):
        assert [p.begin for p in chosen[1:]] == [p.end for p in chosen[:-1]]
        total = Cost()
        for part in chosen:
            total = total.then(part.expected)
        assert total == cost


def test_runs_count_in_place_of_what_is_expected() -> None:
    slow, fast = (Part(0, 1, Cost(c, 1.0), 0.0) for c in (9.0, 1.0))
    found = front(1, [slow, fast], {slow: Cost(0.5, 1.0)})
    assert found.parts == ((slow,),)


def test_of_too_many_some_that_lie_apart_are_left() -> None:
    parts = [Part(0, 1, Cost(float(k), float(100 - k)), 0.0) for k in range(100)]
    found = front(1, parts, {}, most=10)
    assert found.thinned
    assert 2 <= len(found.costs) <= 10
    assert found.costs[0].cycles == 0
    assert found.costs[-1].bytes == 1
