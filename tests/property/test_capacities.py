"""Random programs with the smallest channels that their data are said to need: none deadlocks.

Programs are those of :mod:`tests.property.test_everything_at_once`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.what_if import capacity_pareto
from tests.property.test_everything_at_once import draw
from tests.tiers import counts

SEED = 70_261_122


def search(first: int, wanted: int) -> Counter[str]:
    """Run that many programs with the channels of both ends of their front."""
    seen: Counter[str] = Counter()
    seed = first
    while seen["cases"] < wanted:
        case = draw(seed)
        seed += 1
        if case is None:
            continue
        free = simulate(case.compilation, case.data)
        front = capacity_pareto(case.compilation, case.data, mode="exact", capacities=(2, 32))
        assert front
        seen["cases"] += 1
        seen["choice"] += len(front) > 1
        for variant in front:
            what = f"seed {seed - 1}, {variant.change}"
            assert variant.compilation is not None
            run = simulate(variant.compilation, case.data, Machine.default())
            assert run.cycles >= free.cycles, what
            seen["slower"] += run.cycles > free.cycles
            rooms = [s.capacity for r in variant.compilation.regions for s in r.graph.streams]
            assert None not in rooms, what
    print(f"seeds {first} to {seed - 1}: {dict(seen)}")
    return seen


@counts(small=10, deep=14, fuzz=60)
def test_the_smallest_channels_do_not_deadlock(count: int) -> None:
    seen = search(SEED, count)
    assert seen["slower"]


@pytest.mark.fuzz
def test_the_smallest_channels_never_deadlock() -> None:
    search(SEED + 1_000_000, 3_000)
