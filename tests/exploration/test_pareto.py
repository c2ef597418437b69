"""Fronts of schedules: against listing all of them."""

from __future__ import annotations

import random

import pytest

from fuseloom.exploration.pareto import front
from fuseloom.results.method import Cost, Part
from fuseloom.results.order_ideals import OrderIdeals

SEED = 91


def parts_of(seed: int) -> tuple[OrderIdeals, list[Part]]:
    rng = random.Random(seed)
    size = rng.randint(1, 4)
    ideals = OrderIdeals([[j for j in range(k) if rng.random() < 0.6] for k in range(size)])
    found = []
    for units in ideals.parts():
        for _ in range(rng.randint(1, 3)):
            numbers = [float(rng.randint(1, 6)) for _ in range(3)]
            cost = Cost(numbers[0], numbers[1], numbers[2], rng.choice([1, 2]))
            found.append(Part(units, cost, 0.0))
    return ideals, found


def schedules(
    ideals: OrderIdeals, parts: list[Part], done: frozenset[int] = frozenset()
) -> list[Cost]:
    if len(done) == ideals.size:
        return [Cost()]
    needed = [{j for j in range(ideals.size) if mask >> j & 1} for mask in ideals.before]
    return [
        part.expected.then(rest)
        for part in parts
        if done.isdisjoint(part.units)
        and all(needed[k] <= done.union(part.units) for k in part.units)
        for rest in schedules(ideals, parts, done.union(part.units))
    ]


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_it_is_what_is_left_of_all_schedules(seed: int) -> None:
    ideals, parts = parts_of(seed)
    every = set(schedules(ideals, parts))
    best = {c for c in every if not any(o != c and o.no_worse(c) for o in every)}
    found = front(ideals, parts, {})
    assert set(found.costs) == best
    assert len(found.costs) == len(best)
    assert [c.cycles for c in found.costs] == sorted(c.cycles for c in best)
    assert not found.thinned
    for cost, chosen in zip(found.costs, found.parts, strict=True):
        assert sorted(k for p in chosen for k in p.units) == list(range(ideals.size))
        total = Cost()
        for part in chosen:
            total = total.then(part.expected)
        assert total == cost


def test_runs_count_in_place_of_what_is_expected() -> None:
    slow, fast = (Part((0,), Cost(c, 1.0), 0.0) for c in (9.0, 1.0))
    found = front(OrderIdeals.chain(1), [slow, fast], {slow: Cost(0.5, 1.0)})
    assert found.parts == ((slow,),)


def test_of_too_many_some_that_lie_apart_are_left() -> None:
    parts = [Part((0,), Cost(float(k), float(100 - k)), 0.0) for k in range(100)]
    found = front(OrderIdeals.chain(1), parts, {}, most=10)
    assert found.thinned
    assert 2 <= len(found.costs) <= 10
    assert found.costs[0].cycles == 0
    assert found.costs[-1].bytes == 1
