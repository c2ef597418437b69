"""The search on graphs made up at random: optimal, and never sure of what is not so."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import inf
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError, SimulationError
from fuseloom.exploration.found import Best, Sight
from fuseloom.exploration.search import Search
from fuseloom.results.method import Budget, Cost, Floats, Part, Refusal
from fuseloom.results.order_ideals import OrderIdeals, Units

SEED = 160_000


class Made:
    """Parts with a bound, an expectation and a run each, at random: of a chain, or of a graph."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.abandons = rng.random() < 0.7
        size = rng.randint(1, 6)
        self.units = tuple(f"u{k}" for k in range(size))
        self.unsearched = ("what nobody made up",)
        if rng.random() < 0.4:
            self.before = [[k - 1] if k else [] for k in range(size)]
        else:
            self.before = [[j for j in range(k) if rng.random() < 0.5] for k in range(size)]
        self.alone = {k for k in range(size) if rng.random() < 0.1}
        self.ideals = OrderIdeals(self.before, self.alone)
        self.runs: dict[Part, float] = {}
        self.measured: list[Part] = []
        self.made: dict[Units, list[Part | Refusal]] = {}
        for number in range(1, size + 1):
            for units in combinations(range(size), number):
                if number == 1 or self.alone.isdisjoint(units):
                    self.made[units] = list(self._candidates(rng, units))
        self.low = {
            at: min((w.least for w in candidates if isinstance(w, Part)), default=9.0)
            * rng.random()
            for at, candidates in self.made.items()
        }
        self.fails = {part for part in self.runs if rng.random() < 0.05}

    def _candidates(self, rng: random.Random, units: Units) -> Iterator[Part | Refusal]:
        number = rng.choice([0, 1, 2, 3, 12]) if len(units) > 1 else rng.randint(1, 3)
        for k in range(number):
            if rng.random() < 0.1:
                yield Refusal("cycle", "they form a cycle")
            run = float(rng.randint(1, 100) * len(units))
            expected = Cost(run * rng.uniform(0.6, 1.5), run, rng.random())
            part = Part(units, expected, run * rng.uniform(0.3, 1.0), f"{units} {k}")
            self.runs[part] = run
            yield part

    def lower_bound(self, units: Units, budget: Budget) -> float:
        candidates = self.made[units]
        least = min(
            (candidate.least for candidate in candidates if isinstance(candidate, Part)),
            default=inf,
        )
        return least if self.abandons else 0.0

    def lower_bounds(self, budget: Budget) -> Floats:
        found = np.zeros((len(self.ideals), len(self.ideals)))
        for ideal in range(len(self.ideals)):
            for end in self.ideals.ends(ideal):
                found[ideal, end] = self.low[self.ideals.units(ideal, end)]
        return found

    def candidates(self, units: Units, budget: Budget) -> Iterator[Part | Refusal]:
        yield from self.made[units]

    def starts(self) -> Sequence[Sequence[Units]]:
        alone = [(k,) for k in range(len(self.units))]
        return [alone] if self.alone else [alone, [tuple(range(len(self.units)))]]

    def measure(self, parts: Sequence[Part], within: float = inf) -> Cost | None:
        part = parts[-1]
        assert part not in self.measured, "the same was run twice"
        assert all(before in self.measured for before in parts[:-1])
        there = {k for before in parts for k in before.units}
        assert all(j in there for k in part.units for j in self.before[k])
        if self.runs[part] > within and self.abandons:
            return None
        self.measured.append(part)
        if part in self.fails:
            raise SimulationError("it deadlocks")
        return Cost(self.runs[part], self.runs[part], part.expected.on_chip)

    def schedule(self, parts: Sequence[Part]) -> str:
        return "; ".join(part.text for part in parts)

    def best(self) -> float:
        """Cycles of the best cut, by looking at all that can be carried out."""
        return min(map(self._least, cuts_of(range(len(self.units)))), default=inf)

    def _least(self, cut: Sequence[Units]) -> float:
        if any(units not in self.made for units in cut) or not in_some_order(cut, self.before):
            return inf
        runs = [
            [self.runs[w] for w in self.made[u] if isinstance(w, Part) and w not in self.fails]
            for u in cut
        ]
        return sum(min(own, default=inf) for own in runs)


def cuts_of(units: Sequence[int]) -> Iterator[list[Units]]:
    """Every partition of units."""
    if not units:
        yield []
        return
    first, rest = units[0], units[1:]
    for cut in cuts_of(rest):
        yield [(first,), *cut]
        for k, part in enumerate(cut):
            yield [*cut[:k], (first, *part), *cut[k + 1 :]]


def in_some_order(cut: Sequence[Units], before: Sequence[Sequence[int]]) -> bool:
    """Return whether a cut's parts can be run one after another, by trying it."""
    left, done = list(cut), set[int]()
    while left:
        free = [p for p in left if all(j in done or j in p for k in p for j in before[k])]
        if not free:
            return False
        done.update(free[0])
        left.remove(free[0])
    return True


def found_in(made: Made, **options: Any) -> Best | None:
    try:
        return Search(made, **options).run()
    except FuseloomError:
        assert made.best() == float("inf")
        return None


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3])
def test_what_is_found_is_as_good_as_promised(gap: float) -> None:
    apart = 0  # schedules with a part of units that are not neighbours
    for seed in range(SEED, SEED + 500):
        made = Made(seed)
        best = found_in(made, gap=gap)
        if best is None:
            continue
        apart += any(p.units[-1] - p.units[0] >= len(p.units) for p in best.parts)
        least, proof = made.best(), best.certificate
        cycles = sum(made.runs[part] for part in best.parts)
        assert best.cost.cycles == pytest.approx(cycles), seed
        assert proof.cycles == pytest.approx(cycles), seed
        assert least <= cycles + 1e-9, seed
        assert cycles * (1 - gap) <= least + 1e-9, seed
        assert proof.bound <= least + 1e-9, seed
        assert proof.gap <= gap + 1e-9, seed
    assert apart > 25


def test_it_may_be_stopped_anywhere() -> None:
    """After any number of steps, the bound is below the best there is, and the best was run."""
    for seed, steps in product(range(SEED, SEED + 60), (1, 3, 7, 15)):
        made, told = Made(seed), [0]

        def stop(cycles: float, text: str, told: list[int] = told, steps: int = steps) -> bool:
            told[0] += 1
            return told[0] <= steps

        try:
            best = Search(made, progress=stop).run()
        except FuseloomError:
            continue
        assert best.certificate.bound <= made.best() + 1e-9
        assert set(best.parts) <= set(made.measured)
        assert best.cost.cycles >= made.best() - 1e-9


def test_on_a_slow_machine_there_is_a_schedule_all_the_same() -> None:
    """Time is up at once: what a few looks at every unit find is run before the search ends."""
    searched = 0
    for seed in range(SEED, SEED + 200):
        made = Made(seed)
        if made.fails:
            continue
        best = Search(made, time_limit=1e-9).run()
        assert set(best.parts) <= set(made.measured)
        assert best.certificate.bound <= made.best() + 1e-9
        searched += 1
    assert searched > 50


def test_without_runs_what_is_expected_counts() -> None:
    for seed in range(SEED, SEED + 100):
        made = Made(seed)
        best = found_in(made, simulate=False)
        if best is not None:
            assert not made.measured
            assert not best.certificate.simulated
            assert best.certificate.bound <= made.best() + 1e-9


def test_refusals_are_counted_and_their_reasons_kept() -> None:
    kinds = [found_in(Made(seed)) for seed in range(SEED, SEED + 40)]
    told = [best for best in kinds if best is not None and "cycle" in best.certificate.counts]
    assert told
    for best in told:
        assert best.refusals["cycle"] == "they form a cycle"


def test_a_tolerance_saves_runs() -> None:
    runs = []
    for gap in (0.0, 0.3):
        mades = [Made(seed) for seed in range(SEED, SEED + 100)]
        for made in mades:
            found_in(made, gap=gap)
        runs.append(sum(len(made.measured) for made in mades))
    assert runs[1] < runs[0]


def test_whoever_watches_sees_the_best_fall_and_the_bound_rise() -> None:
    for seed in range(SEED, SEED + 30):
        made = Made(seed)
        seen: list[Sight] = []
        try:
            best = Search(made, watch=seen.append).run()
        except FuseloomError:
            continue
        cycles = [sight.cycles for sight in seen]
        assert cycles == sorted(cycles, reverse=True)
        assert cycles[-1] == best.cost.cycles
        assert seen[-1].schedule == best.schedule
        assert all(sight.bound <= made.best() + 1e-9 for sight in seen)
        assert seen[-1].counts["simulated"] == seen[-1].runs <= len(best.runs)
