"""Random programs, executed on coordinates and run: every count is the same, no bound is above.

Programs are those of :mod:`tests.property.test_everything_at_once`: fusion, orders, lanes, blocks,
concats and masks in every combination.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fuseloom.dataflow.cost import EstimateContext, EstimateMode
from fuseloom.dataflow.cost.estimate import estimate_region
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Memo, execute
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program.inputs import check_data
from tests.property.programs import Case
from tests.property.test_everything_at_once import draw
from tests.tiers import counts

SEED = 20_261_122
FAR = 0.35
"""Most that cycles of a region differ, as a share: random ones take some tens of cycles."""


def counts_agree(case: Case, what: str) -> tuple[Counter[str], list[float]]:
    """Compare a case with its run; count what it had in it, and how far cycles were off."""
    run = simulate(case.compilation, case.data)
    data = check_data(case.program, case.data)
    context, patterns, memo = (
        EstimateContext(case.program, data, EstimateMode.EXACT),
        Patterns(case.program, data),
        Memo(),
    )
    seen: Counter[str] = Counter(cases=1)
    seen["dense levels"] += bool(case.compilation.dense_levels)
    flops, moved, far = 0.0, 0.0, []
    for region, ran in zip(case.compilation.regions, run.regions, strict=True):
        where = f"{what}, region {region.name}"
        graph, result = region.graph, ran.result
        executed = execute(graph, patterns, memo, ElementBudget(1e7))
        patterns.note(executed)
        for stream in graph.streams:
            carried, op = executed.streams[stream.id], graph.nodes[graph.producer[stream.id]].op
            assert carried.tokens.total + 1 == result.tokens[stream.id], f"{where}: tokens of {op}"
            assert carried.values.total == result.values[stream.id], f"{where}: values of {op}"
        estimated = estimate_region(region, context)
        assert estimated.mode is EstimateMode.EXACT
        for node in estimated.nodes:
            op = graph.nodes[node.node].op
            assert node.cycles == result.busy[node.node], f"{where}: cycles of {op}"
        assert estimated.least is not None
        assert estimated.least <= result.cycles, where
        assert estimated.least <= estimated.cycles + 1e-6, where
        flops, moved = flops + estimated.flops, moved + estimated.bytes
        far.append(abs(estimated.cycles / result.cycles - 1))
        seen.update({node.op for node in graph.nodes})
        seen["lanes"] += any(factor > 1 for _, factor in region.region.options.lanes)
        seen["copies"] += bool(region.copies)
    assert flops == run.work.flops, what
    assert moved == run.work.bytes, what
    return seen, far


def search(first: int, wanted: int, **kind: bool) -> Counter[str]:
    """Compare that many cases."""
    seen: Counter[str] = Counter()
    far: list[float] = []
    seed = first
    while seen["cases"] < wanted:
        case = draw(seed, **kind)
        if case is not None:
            had, off = counts_agree(case, f"seed {seed}")
            seen, far = seen + had, far + off
        seed += 1
    ends = np.quantile(far, [0.5, 0.95, 1.0])
    print(f"seeds {first} to {seed - 1}: {dict(seen)}; cycles off by {ends}")
    assert ends[0] <= 0.01
    assert ends[1] <= 0.10
    assert ends[2] <= FAR
    return seen


@counts(small=18, deep=30, fuzz=150)
def test_random_programs(count: int) -> None:
    seen = search(SEED, count)
    for what in (
        "search",
        "fork",
        "ordered_join",
        "union",
        "intersect",
        "crddrop",
        "spacc1",
        "lanes",
        "dense levels",
    ):
        assert seen[what] >= count // 12, what
    if count < 36:  # too few to have every operation
        return
    for what in ("spacc2", "tilefold", "shift", "fiber_align", "valdrop", "copies"):
        assert seen[what], what


@counts(small=12, deep=24, fuzz=150)
def test_results_without_zeros(count: int) -> None:
    assert search(SEED + 40_000, count, nonzero=True)["zerodrop"] >= count // 2


@counts(small=8, deep=30)
def test_dimensions_that_nothing_dense_could_hold(count: int) -> None:
    search(SEED + 30_000, count, wide=True)


@counts(small=20, deep=40, fuzz=300)
def test_samples_of_random_programs(count: int) -> None:
    """Some take part of the coordinates only, of levels that may have no element then."""
    sampled = 0
    for seed in range(452, 452 + count):
        case = draw(seed)
        if case is None:
            continue
        data = check_data(case.program, case.data)
        context = EstimateContext(case.program, data, EstimateMode.SAMPLED)
        for region in case.compilation.regions:
            estimated = estimate_region(region, context)
            assert np.isfinite(estimated.cycles), f"seed {seed}, region {region.name}"
            assert estimated.cycles >= 0, f"seed {seed}, region {region.name}"
            sampled += estimated.mode is EstimateMode.SAMPLED
    assert sampled >= count // 4


@pytest.mark.fuzz
@pytest.mark.parametrize("nonzero", [False, True])
def test_five_thousand_programs(nonzero: bool) -> None:
    search(SEED + 100_000, 5_000, nonzero=nonzero)


@pytest.mark.fuzz
def test_a_thousand_programs_of_wide_dimensions() -> None:
    search(SEED + 200_000, 1_000, wide=True)
