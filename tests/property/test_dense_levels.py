"""Completeness whatever the data: it holds on random programs with random data."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateContext, EstimateMode
from fuseloom.dataflow.cost.estimate import estimate_region
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.program import Program, parse
from fuseloom.program.completeness import complete_levels, presences
from fuseloom.program.inputs import check_data
from fuseloom.program.reference import evaluate
from tests.property.programs import Maker
from tests.property.programs.filling import data_of
from tests.tiers import counts

SEED = 20_261_122
BLOCKS = (1, 1, 1, 2, 3)


def drawn(seed: int) -> tuple[Program, set[str], random.Random] | None:
    rng = random.Random(seed)
    maker = Maker(rng, rng.choice(BLOCKS))
    text = maker.text(rng.randint(1, 8))
    try:
        return parse(text), {t.name for t in maker.tensors if t.positive}, rng
    except ProgramError:
        return None


def blocks_there(program: Program, name: str, present: np.ndarray) -> np.ndarray:
    """Return the blocks that a tensor has, its dimensions in storage order."""
    fmt = program.tensor(name).format
    for axis in fmt.blocked:
        size = present.shape[axis] // fmt.block
        shape = (*present.shape[:axis], size, fmt.block, *present.shape[axis + 1 :])
        present = present.reshape(shape).any(axis=axis + 1)
    return present.transpose(fmt.mode_order)


def check(program: Program, positive: set[str], rng: random.Random, what: str) -> Counter[str]:
    context = evaluate(program, data_of(program, positive, rng))
    seen: Counter[str] = Counter()
    for name, presence in presences(program).items():
        tensor = program.tensor(name)
        there = blocks_there(program, name, context[name].present)
        if presence.whole:
            assert there.all(), f"{what}: {name} is not whole"
            seen["whole"] += 1
        for level, complete in enumerate(complete_levels(tensor, presence)):
            if complete:
                upto = there.any(axis=tuple(range(level + 1, tensor.rank)))
                parents = upto.any(axis=-1, keepdims=True)
                assert (upto == parents).all(), f"{what}: level {level} of {name}"
                seen["inner" if level else "outermost"] += not presence.whole or not level
        seen["nothing"] += not there.any()
    return seen


def search(first: int, wanted: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in range(first, first + wanted):
        found = drawn(seed)
        if found is not None:
            seen["programs"] += 1
            for _ in range(3):
                seen += check(*found, f"seed {seed}")
    print(dict(seen))
    return seen


@counts(small=50, deep=400, fuzz=1_000)
def test_random_programs(count: int) -> None:
    seen = search(SEED, count)
    for what in ("whole", "inner", "outermost", "nothing"):
        assert seen[what] >= count // 5, what


@pytest.mark.fuzz
def test_fifty_thousand_programs() -> None:
    search(SEED + 100_000, 50_000)


def chosen(first: int, wanted: int) -> Counter[str]:
    """Default orders, look-ups and dense levels, with and without the latter."""
    seen: Counter[str] = Counter()
    seed = first
    while seen["programs"] < wanted:
        seed += 1
        found = drawn(seed)
        if found is None:
            continue
        program, positive, rng = found
        data = data_of(program, positive, rng)
        names = [s.out.tensor for s in program.live if s.op.fuses]
        if not names:
            continue
        last = rng.choice(names)
        text = f"fuse {names[0]}..{last} where possible" if last != names[0] else ""
        try:
            plain = best_orders(
                compile_program(program, f"{text}; store compressed"), data
            ).compilation
        except FuseloomError:
            continue
        best = best_orders(compile_program(program, text), data).compilation
        what = f"seed {seed}"
        again = compile_program(program, Schedule.parse(str(best.resolved)))
        graphs = [r.graph for r in best.regions]
        assert [r.graph for r in again.regions] == graphs, what
        assert str(again.resolved) == str(best.resolved), what
        before, after = simulate(plain, data), simulate(best, data)
        result = after.check()
        assert result.ok, f"{what}: {result}"
        assert after.work.bytes <= before.work.bytes, what
        assert after.work.flops <= before.work.flops, what
        context = EstimateContext(best.program, check_data(best.program, data), EstimateMode.EXACT)
        for region, ran in zip(best.regions, after.regions, strict=True):
            estimated = estimate_region(region, context)
            assert estimated.bytes == ran.work.bytes, what
            for node in estimated.nodes:
                assert node.cycles == ran.result.busy[node.node], what
        seen["programs"] += 1
        seen["dense"] += bool(best.dense_levels)
        seen["fewer bytes"] += after.work.bytes < before.work.bytes
        seen["fewer cycles"] += after.cycles < before.cycles
        seen["more cycles"] += after.cycles > 1.02 * before.cycles + 2
    print(dict(seen))
    return seen


@counts(small=12, deep=16, fuzz=60)
def test_what_is_chosen_by_default_is_named_and_never_moves_more(count: int) -> None:
    seen = chosen(SEED, count)
    assert seen["dense"] >= count // 6
    assert seen["more cycles"] <= 1 + count // 60


@pytest.mark.fuzz
def test_what_is_chosen_for_two_thousand_programs() -> None:
    seen = chosen(SEED + 200_000, 2_000)
    assert seen["more cycles"] <= 40
