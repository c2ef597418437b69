"""The search by several costs, on parts made up at random, against all schedules listed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.space import MachinePoint
from fuseloom.errors import SimulationError
from fuseloom.exploration.design_search import DesignSearch
from fuseloom.exploration.objective import OBJECTIVES, DesignBudget
from fuseloom.results.method import Budget, Cost, Deferred, Floats, Part, Refusal
from fuseloom.results.order_ideals import OrderIdeals, Units
from tests.tiers import counts

SEED = 4_600


class RandomParts:
    """Parts with bounds, expectations and runs of three costs, at random."""

    unsearched = ()

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        size = rng.randint(1, 5)
        self.units = tuple(f"u{k}" for k in range(size))
        self.ideals = OrderIdeals(
            [[j for j in range(k) if rng.random() < 0.6] for k in range(size)]
        )
        self.made: dict[Units, list[Part | Refusal | Deferred]] = {}
        self.runs: dict[Part, Cost] = {}
        self.low: dict[Units, float] = {}
        for units in self.ideals.parts():
            number = rng.choice([0, 1, 2, 3, 12] if len(units) > 1 else [1, 2, 3])
            parts = [self._part(rng, units) for _ in range(number)]
            later = parts[len(parts) // 2 :] if rng.random() < 0.3 else []
            self.made[units] = [Refusal("cycle", "they form a cycle")] if rng.random() < 0.2 else []
            self.made[units] += parts[: len(parts) - len(later)]
            if later:
                least = min(part.least for part in later)
                self.made[units].append(Deferred(least, lambda later=later: iter(later)))
            self.low[units] = min((p.least for p in parts), default=9.0) * rng.random()
        self.fails = {part for part in self.runs if rng.random() < 0.05}

    def _part(self, rng: random.Random, units: Units) -> Part:
        cycles, energy = (float(rng.randint(1, 40) * len(units)) for _ in range(2))
        area, share = float(rng.randint(1, 9)), rng.uniform(0.3, 1.0)
        expected = Cost(
            cycles * rng.uniform(0.7, 1.4), energy=energy * rng.uniform(0.7, 1.4), area=area
        )
        part = Part(units, expected, cycles * share, least_energy=energy * rng.choice([0.0, share]))
        self.runs[part] = Cost(cycles, energy=energy, area=area)
        return part

    def lower_bounds(self, budget: Budget) -> Floats:
        found = np.full((len(self.ideals), len(self.ideals)), inf)
        for units, low in self.low.items():
            found[self.ideals.edges(units)] = low
        return found

    def lower_bound(self, units: Units, budget: Budget) -> float:
        return self.low[units]

    def candidates(self, units: Units, budget: Budget) -> Iterator[Part | Refusal | Deferred]:
        yield from self.made[units]

    def starts(self) -> Sequence[Sequence[Units]]:
        return [[(k,) for k in range(len(self.units))]]

    def measure(self, parts: Sequence[Part], within: float = inf) -> Cost | None:
        if parts[-1] in self.fails:
            raise SimulationError("it deadlocks")
        return self.runs[parts[-1]]

    def schedule(self, parts: Sequence[Part]) -> str:
        return "; ".join(str(part.units) for part in parts)

    def costs(self) -> set[Cost]:
        """What every schedule takes."""
        parts = {}
        for part in self.runs:
            if part not in self.fails:
                parts.setdefault(part.units, []).append(self.runs[part])
        found = set()
        for cut in cuts(self.ideals, 0):
            for chosen in product(*(parts.get(units, []) for units in cut)):
                total = Cost()
                for cost in chosen:
                    total = total.then(cost)
                found.add(total)
        return found


def cuts(ideals: OrderIdeals, at: int) -> Iterator[list[Units]]:
    """Every path from an ideal to the full one."""
    if at == len(ideals) - 1:
        yield []
    for end in ideals.ends(at):
        for rest in cuts(ideals, end):
            yield [ideals.units(at, end), *rest]


def searched(made: RandomParts, objective: str, limits: DesignBudget) -> DesignSearch:
    point = MachinePoint({}, Machine.default())
    search = DesignSearch(point, made, Budget(), OBJECTIVES[objective], limits)
    search.begin(lambda: False)
    for _ in range(10_000):
        before = search.bound
        search.step()
        assert search.bound >= before
        if search.done:
            return search
    raise AssertionError("the search does not end")


@counts(small=12, deep=40, fuzz=600)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_best_of_all_schedules(objective: str, count: int) -> None:
    for seed in range(SEED, SEED + count):
        best_of_all(objective, seed)


def best_of_all(objective: str, seed: int) -> None:
    made = RandomParts(seed)
    every = made.costs()
    energies = sorted(cost.energy for cost in every)
    middle = energies[len(energies) // 2] if energies else None
    for limit in (None, middle, 0.5):
        kept = [cost for cost in every if limit is None or cost.energy <= limit]
        search = searched(RandomParts(seed), objective, DesignBudget(energy=limit))
        clock = search.point.machine.clock_hz
        values = [OBJECTIVES[objective].of(cost, clock) for cost in kept]
        if not kept:
            assert search.best is None
            continue
        assert search.best is not None
        assert search.best.value == min(values)
        assert search.best.cost in kept
        assert search.bound >= search.best.value * (1 - 1e-12)


@counts(small=12, deep=40, fuzz=600)
def test_bounds_hold_before_the_search_ends(count: int) -> None:
    for seed in range(SEED, SEED + count):
        bounds_hold(seed)


def bounds_hold(seed: int) -> None:
    made = RandomParts(seed)
    clock = Machine.default().clock_hz
    values = [OBJECTIVES["edp"].of(cost, clock) for cost in made.costs()]
    point = MachinePoint({}, Machine.default())
    search = DesignSearch(point, made, Budget(), OBJECTIVES["edp"], DesignBudget())
    search.begin(lambda: False)
    while not search.done:
        assert search.bound <= min(values, default=inf) * (1 + 1e-12)
        search.step()


@counts(small=12, deep=40, fuzz=600)
def test_the_front_is_that_of_all_schedules(count: int) -> None:
    for seed in range(SEED, SEED + count):
        front_of_all(seed)


def front_of_all(seed: int) -> None:
    made = RandomParts(seed)
    axes = ("cycles", "energy", "area")
    every = {tuple(getattr(cost, axis) for axis in axes) for cost in made.costs()}
    best = {c for c in every if not any(o != c and all(map(float.__le__, o, c)) for o in every)}
    search = searched(made, "edp", DesignBudget())
    found = set()
    for parts in search.settle(axes, lambda: False):
        total: Any = Cost()
        for part in parts:
            total = total.then(made.runs[part])
        found.add(tuple(getattr(total, axis) for axis in axes))
    assert found == best
    assert search.complete
