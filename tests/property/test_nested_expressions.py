"""Nested expressions that use a tensor again compute what they mean whole, however they are fused.

Programs are those of :mod:`tests.property.programs.nesting`, which has their meaning, too.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import LoweringError, OrderError, ProgramError, ScheduleError
from fuseloom.program import StoredTensor, parse
from tests.dataflow.samml.passes import engines
from tests.property.programs.filling import data_of
from tests.property.programs.nesting import NestedMaker
from tests.tiers import counts

SEED = 20_270_000


def run(seed: int, seen: Counter[str]) -> None:
    """Run one case on both engines and compare it with its meaning."""
    rng = random.Random(seed)
    maker = NestedMaker(rng)
    text = maker.text(rng.randint(1, 4))
    try:
        program = parse(text)
    except ProgramError:
        seen["no program"] += 1
        return
    data = data_of(program, set(), rng)
    names = [s.out.tensor for s in program.statements]
    first = rng.randrange(len(names)) if rng.random() < 0.3 else 0
    last = rng.randrange(first, len(names)) if rng.random() < 0.3 else len(names) - 1
    schedule = f"fuse {names[first]}..{names[last]} where possible" if first < last else ""
    try:
        compilation = compile_program(program, schedule)
    except (LoweringError, OrderError, ScheduleError):
        seen["refused"] += 1
        return
    given = {n: (s.to_dense().astype(np.float64), s.pattern()) for n, s in data.items()}
    expected = maker.meaning(given)
    seen["fused"] += len(compilation.regions) < len(names)
    for engine in engines(compilation):
        done = simulate(compilation, data, engine=engine)
        result = done.check()
        where = f"seed {seed}, engine {engine}: {text}\n# {schedule}"
        assert result.ok, f"{where}\n{result}"
        for name in program.outputs:
            compare(done.outputs[name], *expected[name], f"{where}\n{name}", not maker.near_step)
        seen[engine] += 1


def compare(
    stored: StoredTensor, values: np.ndarray, present: np.ndarray, where: str, exactly: bool
) -> None:
    """Compare a result with the elements it should have, and with their values if ``exactly``."""
    pattern = stored.pattern()
    assert np.array_equal(pattern, present), f"{where}: {pattern} should be {present}"
    found = stored.to_dense()[present]
    with np.errstate(over="ignore"):  # what a float32 cannot hold is infinite
        expected = values[present].astype(np.float32)
    close = np.allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert close or not exactly, f"{where}: {found}"


def search(first: int, count: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        run(seed, seen)
    print(dict(seen))
    assert seen["interpreter"] >= count // 2
    assert seen["fused"] >= count // 3


@counts(small=25, deep=70, fuzz=600)
def test_random_cases(count: int) -> None:
    search(SEED, count)
