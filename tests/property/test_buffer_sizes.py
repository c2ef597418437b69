"""Random programs, in random lanes, never deadlock in channels of the computed sizes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.sim.program_runs import simulate
from tests.dataflow.samml.passes import engines
from tests.property.programs import make_case
from tests.property.test_parallel_programs import in_random_lanes
from tests.tiers import counts

SEED = 20_251_122


def search(seeds: range, lanes: bool) -> int:
    """Two is the least default: nothing but the computed leads keeps the graphs alive."""
    cases = 0
    for seed in seeds:
        rng = random.Random(seed)
        case = make_case(rng)
        if case is None:
            continue
        cases += 1
        if lanes:
            case, _ = in_random_lanes(case, rng)
        regions = tuple(
            replace(r, graph=size_buffers(r.graph, r.region.extents, default=2))
            for r in case.compilation.regions
        )
        bounded = replace(case.compilation, regions=regions)
        for engine in engines(bounded):
            check = simulate(bounded, case.data, engine=engine).check()
            assert check.ok, f"seed {seed}, engine {engine}: {check}\n{case!r}"
    return cases


@pytest.mark.parametrize("lanes", [False, True])
@counts(small=10, deep=24, fuzz=60)
def test_random_programs_in_bounded_channels(count: int, lanes: bool) -> None:
    print(f"seeds from {SEED}")
    assert search(range(SEED, SEED + count), lanes) >= 0.5 * count


@pytest.mark.fuzz
@pytest.mark.parametrize("lanes", [False, True])
def test_many_random_programs_in_bounded_channels(lanes: bool) -> None:
    print(f"seeds from {SEED + 1_000}")
    assert search(range(SEED + 1_000, SEED + 5_000), lanes) >= 2_500
