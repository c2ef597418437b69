"""The estimate of parallelised graphs: work stays, the bottleneck shrinks with the lanes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import Estimate, EstimateMode, estimate
from fuseloom.dataflow.samml.passes.parallelise import apply_parallel
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.models import gcn, karate, random_data, spmm
from fuseloom.program import parse
from tests.dataflow.samml.passes import in_lanes, passed

FACTORS = (2, 4, 8)
MODEL = spmm(64, 64, 16)
DATA = random_data(MODEL, 3)
COMPILED = compile_program(MODEL.program)


def both(index: str, factor: int) -> tuple[Estimate, Run]:
    lanes = in_lanes(COMPILED, index, factor)
    return estimate(lanes, DATA), simulate(lanes, DATA, engine="compiled")


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("index", ["i", "k", "j"])
def test_a_product_in_lanes(index: str, factor: int) -> None:
    """Within 2 % in cycles; FLOPs and bytes are those of the run."""
    expected, run = both(index, factor)
    assert expected.cycles == pytest.approx(run.cycles, rel=0.02)
    assert expected.flops == run.work.flops
    assert expected.bytes == run.work.bytes


def test_the_bottleneck_shrinks_where_rows_are_independent() -> None:
    one = estimate(COMPILED, DATA).regions[0].bottleneck.cycles
    for factor in FACTORS:
        lanes = both("i", factor)[0].regions[0].bottleneck.cycles
        assert one / factor <= lanes <= 1.15 * one / factor
    assert both("k", 4)[0].regions[0].bottleneck.cycles == pytest.approx(one, rel=0.05)


def test_nested_lanes() -> None:
    lanes = passed(COMPILED, lambda g: apply_parallel(g, [("i", 2), ("k", 3)]))
    run = simulate(lanes, DATA, engine="compiled")
    assert estimate(lanes, DATA).cycles == pytest.approx(run.cycles, rel=0.02)


def test_skew_is_foreseen() -> None:
    """A hub in one lane makes that lane the longest."""
    model = gcn()
    compiled = compile_program(model.program, model.presets["full"])
    for factor in FACTORS:
        lanes = in_lanes(compiled, "i", factor)
        run = simulate(lanes, karate(), engine="compiled")
        expected = estimate(lanes, karate())
        assert expected.cycles == pytest.approx(run.cycles, rel=0.03)
        assert expected.flops == run.work.flops
        assert expected.least is not None
        assert 0.95 * run.cycles <= expected.least <= run.cycles
        # Statistics alone take lanes as evenly loaded.
        assert estimate(lanes, karate(), mode="metadata").cycles < run.cycles


def test_a_sample_deals_the_work_as_the_lanes_get_it() -> None:
    """Even rows have ten times as many elements as odd ones, so lane 0 takes most of the time."""
    rows = 30_000
    program = parse(f"A: {rows}x{rows} csr\nX: {rows}x8 dense\nY[i,l] = A[i,j] * X[j,l]")
    lengths = np.where(np.arange(rows) % 2 == 0, 20, 2)
    at = np.repeat(np.arange(rows), lengths)
    columns = np.random.default_rng(1).integers(0, rows, len(at))
    data = {"A": csr_matrix((np.ones(len(at)), (at, columns))), "X": np.ones((rows, 8))}
    lanes = compile_program(program, "parallel i by 2")
    run = simulate(lanes, data)
    expected = estimate(lanes, data, mode="sampled")
    assert expected.regions[0].mode is EstimateMode.SAMPLED
    assert expected.cycles == pytest.approx(run.cycles, rel=0.03)
