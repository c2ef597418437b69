"""Random programs in random lanes compute what the dense reference computes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fuseloom.dataflow.samml.passes.parallelise import parallelise
from fuseloom.dataflow.samml.verify import verify
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import ScheduleError
from tests.dataflow.samml.passes import engines, indices
from tests.property.programs import Case, make_case
from tests.tiers import counts

SEED = 20_251_121


def in_random_lanes(case: Case, rng: random.Random) -> tuple[Case, list[tuple[str, int]]]:
    """Up to three indices of every region, in any order, dealt to up to eight lanes."""
    regions = []
    chosen: list[tuple[str, int]] = []
    for region in case.compilation.regions:
        graph = region.graph
        names = indices(graph)
        for index in rng.sample(names, min(len(names), rng.choice([1, 1, 2, 3]))):
            factor = rng.randint(1, 8)
            try:
                graph = parallelise(graph, index, factor)
            except ScheduleError as refused:
                if "nothing to parallelise" in refused.message:  # no lane would have work
                    continue
                raise
            verify(graph)
            chosen.append((index, factor))
        regions.append(replace(region, graph=graph))
    return replace(case, compilation=replace(case.compilation, regions=tuple(regions))), chosen


def search(seeds: range) -> int:
    cases = 0
    for seed in seeds:
        rng = random.Random(seed)
        case = make_case(rng)
        if case is None:
            continue
        cases += 1
        case, chosen = in_random_lanes(case, rng)
        for engine in engines(case.compilation):
            check = simulate(case.compilation, case.data, engine=engine).check()
            assert check.ok, f"seed {seed}, engine {engine}, lanes {chosen}: {check}\n{case!r}"
    return cases


@counts(small=24, deep=48, fuzz=250)
def test_random_programs_in_lanes(count: int) -> None:
    print(f"seeds from {SEED}")
    assert search(range(SEED, SEED + count)) >= 0.54 * count


@pytest.mark.fuzz
def test_many_random_programs_in_lanes() -> None:
    print(f"seeds from {SEED + 1_000}")
    assert search(range(SEED + 1_000, SEED + 7_000)) >= 4_000
