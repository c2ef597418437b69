"""Random programs under every choice there is: fusion, uniform legal orders, factored or global
iteration, lanes, blocks, which levels of intermediates are dense, how such levels and repeats are
lowered, finite channels.

Every run's outputs equal the dense reference, pattern and values, and none deadlocks in channels of
the computed capacities.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse, print_program
from tests.dataflow.samml.passes import engines
from tests.property.programs import Case, make_case
from tests.tiers import counts

SEED = 20_261_121
BLOCKS = (1, 1, 1, 2, 3, 4)


def draw(seed: int, **kind: bool) -> Case | None:
    rng = random.Random(seed)
    return make_case(rng, 1, 8, block=rng.choice(BLOCKS), vary=True, **kind)


def search(first: int, wanted: int, **kind: bool) -> Counter[str]:
    """Run that many cases; count what they had in them."""
    seen: Counter[str] = Counter()
    seed = first
    while seen["cases"] < wanted:
        case = draw(seed, **kind)
        seed += 1
        if case is None:
            continue
        seen["cases"] += 1
        compilation = case.compilation
        assert parse(print_program(case.program)) == case.program, f"seed {seed - 1}"
        sized = compilation.sized(2) if seed % 2 else compilation
        for engine in engines(sized):
            run = simulate(sized, case.data, engine=engine)
            result = run.check()
            assert result.ok, f"seed {seed - 1}, engine {engine}: {result}\n{case!r}"
            assert not result.unchecked, f"seed {seed - 1}: {result}\n{case!r}"
            seen[engine] += 1
        seen["no numbers"] += any(np.isnan(o.values).any() for o in run.outputs.values())
        seen["not empty"] += any(o.nnz for o in run.outputs.values())
        statements = len(case.program.statements)
        seen["fused"] += len(compilation.regions) < statements
        seen["sized"] += sized is not compilation
        seen["lanes"] += any(f > 1 for r in compilation.regions for _, f in r.region.options.lanes)
        seen["products"] += any(len(s.operands) > 2 for s in case.program.statements)
        seen["blocked"] += any(t.format.blocked for t in case.program.tensors)
        seen["copies"] += any(r.copies for r in compilation.regions)
        seen["dense levels"] += bool(compilation.dense_levels)
        for region in compilation.regions:
            seen.update({node.op for node in region.graph.nodes})
    print(f"seeds {first} to {seed - 1}: {dict(seen)}")
    return seen


@counts(small=24, deep=60, fuzz=250)
def test_random_cases(count: int) -> None:
    seen = search(SEED, count)
    for what in (
        "fused",
        "sized",
        "lanes",
        "products",
        "blocked",
        "copies",
        "compiled",
        "dense levels",
    ):
        assert seen[what] >= count // 18, what
    if count < 50:  # too few to have every operation
        return
    for op in (
        "search",
        "spacc1",
        "spacc2",
        "fiber_align",
        "shift",
        "tilefold",
        "fork",
        "ordered_join",
    ):
        assert seen[op], op


@counts(small=12, deep=20, fuzz=80)
def test_infinities_and_what_is_no_number(count: int) -> None:
    assert search(SEED + 20_000, count, undefined=True)["no numbers"] >= count // 4


@counts(small=24, deep=36, fuzz=250)
def test_results_without_zeros(count: int) -> None:
    assert search(SEED + 40_000, count, nonzero=True)["zerodrop"] >= count // 2


@counts(small=18, deep=32, fuzz=80)
def test_dimensions_that_nothing_dense_could_hold(count: int) -> None:
    seen = search(SEED + 30_000, count, wide=True)
    for what in ("fused", "sized", "lanes", "products", "blocked", "compiled", "not empty"):
        assert seen[what] >= count // 18, what


@pytest.mark.fuzz
@pytest.mark.parametrize("nonzero", [False, True])
def test_five_thousand_cases(nonzero: bool) -> None:
    search(SEED + 100_000, 5_000, nonzero=nonzero)


@pytest.mark.fuzz
@pytest.mark.parametrize(("undefined", "wide"), [(True, False), (False, True), (True, True)])
def test_three_thousand_cases_of_extremes(undefined: bool, wide: bool) -> None:
    search(SEED + 200_000, 3_000, undefined=undefined, wide=wide)
