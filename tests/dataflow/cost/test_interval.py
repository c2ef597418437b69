"""Intervals: a run lies inside, and they are narrow where much is known."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateMode, estimate, sampling
from fuseloom.dataflow.cost.interval import STATISTICS, interval
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse

PROGRAM = """
A: 300x300 csr
X: 300x8 dense
T[i,j] = A[i,k] * A[k,j]
Y[i,l] = T[i,j] * X[j,l]
"""


@pytest.mark.parametrize("schedule", ["", "fuse T..Y", "order T: k,i,j"])
def test_a_run_lies_inside(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "SAMPLED_ELEMENTS", 3e4)
    rng = np.random.default_rng(1)
    data = {"A": (rng.random((300, 300)) < 0.02) * 1.0, "X": rng.random((300, 8))}
    compilation = compile_program(parse(PROGRAM), schedule)
    run = simulate(compilation, data)
    for mode in EstimateMode:
        result = estimate(compilation, data, mode=mode)
        for mine, theirs in zip(result.regions, run.regions, strict=True):
            assert mine.low <= theirs.cycles <= mine.high
            assert mine.low <= mine.cycles <= mine.high
        assert result.low == sum(r.low for r in result.regions)
        assert result.to_dict()["high"] == result.high
        if mode is not EstimateMode.METADATA:
            assert result.high < 2.0 * result.low


def test_exact_estimates_begin_at_the_bound() -> None:
    program = parse("A: 20x20 csr\nX: 20x4 dense\nT[i,j] = A[i,k] * X[k,j]")
    data = {"A": np.eye(20), "X": np.ones((20, 4))}
    compilation = compile_program(program)
    (mine,) = estimate(compilation, data).regions
    assert mine.low == mine.least
    bounded = estimate(compilation, data, machine=Machine(channel_capacity=2)).regions[0]
    assert bounded.high > 1.5 * bounded.cycles


def test_statistics_alone_say_little() -> None:
    found = interval(None, None, 100.0, None, Machine.default())
    assert found == (100.0 / STATISTICS, 100.0 * STATISTICS)
