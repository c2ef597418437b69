"""The search on chains made up at random: optimal, and never sure of what is not so."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest

from engine.errors import FuseloomError, SimulationError
from engine.explore.found import Best
from engine.explore.search import Search
from engine.results.method import Budget, Cost, Floats, Part, Refusal

SEED = 160_000


class Chain:
    """Parts with a bound, an expectation and a run each, at random."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.abandons = rng.random() < 0.7
        self.units = tuple(f"u{k}" for k in range(rng.randint(1, 6)))
        self.runs: dict[Part, float] = {}
        self.measured: list[Part] = []
        self.made: dict[tuple[int, int], list[Part | Refusal]] = {}
        for begin in range(len(self.units)):
            for end in range(begin + 1, len(self.units) + 1):
                self.made[begin, end] = list(self._ways(rng, begin, end))
        self.low = {
            at: min((w.least for w in ways if isinstance(w, Part)), default=9.0) * rng.random()
            for at, ways in self.made.items()
        }
        self.fails = {part for part in self.runs if rng.random() < 0.05}

    def _ways(self, rng: random.Random, begin: int, end: int) -> Iterator[Part | Refusal]:
        number = rng.choice([0, 1, 2, 3, 12]) if end - begin > 1 else rng.randint(1, 3)
        for k in range(number):
            if rng.random() < 0.1:
                yield Refusal("cycle", "they form a cycle")
            run = float(rng.randint(1, 100) * (end - begin))
            expected = Cost(run * rng.uniform(0.6, 1.5), run, rng.random())
            part = Part(begin, end, expected, run * rng.uniform(0.3, 1.0), f"{begin}-{end} {k}")
            self.runs[part] = run
            yield part

    def ends(self, begin: int) -> Sequence[int]:
        return range(begin + 1, len(self.units) + 1)

    def floor(self, begin: int, end: int, budget: Budget) -> float:
        ways = self.made[begin, end]
        least = min((way.least for way in ways if isinstance(way, Part)), default=inf)
        return least if self.abandons else 0.0

    def floors(self, budget: Budget) -> Floats:
        found = np.zeros((len(self.units), len(self.units) + 1))
        for at, floor in self.low.items():
            found[at] = floor
        return found

    def ways(self, begin: int, end: int, budget: Budget) -> Iterator[Part | Refusal]:
        yield from self.made[begin, end]

    def starts(self) -> Sequence[Sequence[int]]:
        size = len(self.units)
        return [tuple(range(1, size + 1)), (size,)]

    def measure(self, parts: Sequence[Part], within: float = inf) -> Cost | None:
        part = parts[-1]
        assert part not in self.measured, "the same was run twice"
        assert all(before in self.measured for before in parts[:-1])
        if self.runs[part] > within and self.abandons:
            return None
        self.measured.append(part)
        if part in self.fails:
            raise SimulationError("it deadlocks")
        return Cost(self.runs[part], self.runs[part], part.expected.on_chip)

    def schedule(self, parts: Sequence[Part]) -> str:
        return "; ".join(part.text for part in parts)

    def best(self) -> float:
        """Cycles of the best path, by looking at all of them."""
        found = {0: 0.0}
        for end in range(1, len(self.units) + 1):
            ways = [
                found[begin] + self.runs[way]
                for begin in range(end)
                if begin in found
                for way in self.made[begin, end]
                if isinstance(way, Part) and way not in self.fails
            ]
            if ways:
                found[end] = min(ways)
        return found.get(len(self.units), float("inf"))


def found_in(chain: Chain, **options: Any) -> Best | None:
    try:
        return Search(chain, **options).run()
    except FuseloomError:
        assert chain.best() == float("inf")
        return None


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3])
def test_what_is_found_is_as_good_as_promised(gap: float) -> None:
    for seed in range(SEED, SEED + 500):
        chain = Chain(seed)
        best = found_in(chain, gap=gap)
        if best is None:
            continue
        least, proof = chain.best(), best.certificate
        cycles = sum(chain.runs[part] for part in best.parts)
        assert best.cost.cycles == pytest.approx(cycles), seed
        assert proof.cycles == pytest.approx(cycles), seed
        assert least <= cycles + 1e-9, seed
        assert cycles * (1 - gap) <= least + 1e-9, seed
        assert proof.bound <= least + 1e-9, seed
        assert proof.gap <= gap + 1e-9, seed


def test_it_may_be_stopped_anywhere() -> None:
    """After any number of steps, the bound is below the best there is, and the best was run."""
    for seed, steps in product(range(SEED, SEED + 60), (1, 3, 7, 15)):
        chain, told = Chain(seed), [0]

        def stop(cycles: float, text: str, told: list[int] = told, steps: int = steps) -> bool:
            told[0] += 1
            return told[0] <= steps

        try:
            best = Search(chain, progress=stop).run()
        except FuseloomError:
            continue
        assert best.certificate.bound <= chain.best() + 1e-9
        assert set(best.parts) <= set(chain.measured)
        assert best.cost.cycles >= chain.best() - 1e-9


def test_without_runs_what_is_expected_counts() -> None:
    for seed in range(SEED, SEED + 100):
        chain = Chain(seed)
        best = found_in(chain, simulate=False)
        if best is not None:
            assert not chain.measured
            assert not best.certificate.simulated
            assert best.certificate.bound <= chain.best() + 1e-9


def test_refusals_are_counted_and_their_reasons_kept() -> None:
    kinds = [found_in(Chain(seed)) for seed in range(SEED, SEED + 40)]
    told = [best for best in kinds if best is not None and "cycle" in best.certificate.counts]
    assert told
    for best in told:
        assert best.refusals["cycle"] == "they form a cycle"


def test_a_tolerance_saves_runs() -> None:
    runs = []
    for gap in (0.0, 0.3):
        chains = [Chain(seed) for seed in range(SEED, SEED + 100)]
        for chain in chains:
            found_in(chain, gap=gap)
        runs.append(sum(len(chain.measured) for chain in chains))
    assert runs[1] < runs[0]
