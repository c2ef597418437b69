"""Random programs, fused and ordered at random, compute what the dense reference computes."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse, print_program
from fuseloom.results.check import TOLERANCE
from tests.dataflow.samml.passes import engines
from tests.property.programs import Case, make_case
from tests.tiers import counts

SEED = 20_251_000
ENGINES = ("interpreter", "compiled")
BLOCKS = (2, 3, 4)


def check(case: Case, engine: str) -> str:
    """Describe the difference between a run and the reference; empty if there is none."""
    result = simulate(case.compilation, case.data, engine=engine).check()
    return "" if result.ok else f"{result}\n{case!r}"


def search(seeds: range, engine: str, blocks: tuple[int, ...] = (1,)) -> tuple[int, int]:
    """Run the case of every seed; how many cases there were and how many fused statements.

    The compiled engine runs those whose primitives all have kernels.
    """
    cases = fused = 0
    for seed in seeds:
        rng = random.Random(seed)
        case = make_case(rng, block=rng.choice(blocks))
        if case is None:
            continue
        if engine == "compiled" and engine not in engines(case.compilation):
            continue
        cases += 1
        fused += len(case.compilation.regions) < len(case.program.statements)
        assert parse(print_program(case.program)) == case.program, f"seed {seed}: {case.program}"
        difference = check(case, engine)
        assert not difference, f"seed {seed}, engine {engine}: {difference}"
    return cases, fused


@pytest.mark.parametrize("engine", ENGINES)
@counts(small=56, deep=84, fuzz=300)
def test_random_programs(count: int, engine: str) -> None:
    """Values to a relative 1e-5, and exactly the stored coordinates."""
    print(f"seeds from {SEED}")
    cases, fused = search(range(SEED, SEED + count), engine)
    assert cases >= (0.62 if engine == "interpreter" else 0.35) * count
    assert 2 * fused >= cases
    assert TOLERANCE == 1e-5


@pytest.mark.parametrize("engine", ENGINES)
@counts(small=64, deep=96, fuzz=400)
def test_random_blocked_programs(count: int, engine: str) -> None:
    print(f"seeds from {SEED}")
    cases, fused = search(range(SEED, SEED + count), engine, BLOCKS)
    assert cases >= 0.46 * count
    assert 2 * fused >= cases


@pytest.mark.fuzz
@pytest.mark.parametrize("engine", ENGINES)
def test_many_random_blocked_programs(engine: str) -> None:
    print(f"seeds from {SEED + 10_000}")
    cases, fused = search(range(SEED + 10_000, SEED + 18_000), engine, BLOCKS)
    assert cases >= 4_000
    assert 2 * fused >= cases


@pytest.mark.fuzz
@pytest.mark.parametrize("engine", ENGINES)
def test_many_random_programs(engine: str) -> None:
    print(f"seeds from {SEED + 1_000}")
    cases, fused = search(range(SEED + 1_000, SEED + 8_500), engine)
    assert cases >= (5_000 if engine == "interpreter" else 3_500)
    assert 2 * fused >= cases


@pytest.mark.deep  # takes seconds
def test_a_wrong_result_would_be_seen() -> None:
    """Values that are off by one are told apart from right ones."""
    seen = 0
    for seed in range(SEED, SEED + 60):
        case = make_case(random.Random(seed))
        if case is None:
            continue
        run = simulate(case.compilation, case.data, engine="interpreter")
        for name, stored in run.outputs.items():
            wrong = replace(stored, values=stored.values + np.float32(1))
            found = replace(run, outputs={**run.outputs, name: wrong}).check()
            seen += bool(stored.nnz) and not found.ok
            break
    assert seen > 20
