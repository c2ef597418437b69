"""Measurements: whole calls, counts, verdicts; times themselves are not judged."""

from __future__ import annotations

import pytest

from fuseloom.calls.measuring import (
    FINALISTS,
    GAIN,
    PipelineMeasurement,
    PipelineTimings,
    TiledSchedule,
    every_schedule,
    measure,
    tune,
)
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.calls.recomputation import ScheduleCounts


def test_a_measurement_counts_and_checks() -> None:
    rounds: list[int] = []
    case = PIPELINES["blur"].make({"h": 24, "w": 16})
    (made,) = measure(case, "n", [TiledSchedule(4)], rounds=3, workers=2, progress=rounds.append)
    assert rounds == [0, 1, 2]
    assert made.counts.recomputation["t1"] == pytest.approx(6 * 6 / 26)
    assert max(made.max_abs_error, made.unfused_error) < 1e-5
    assert min(made.timings.fused, made.timings.unfused_fresh) > 0
    assert "parallel for" in made.pipeline
    assert "run_parallel" in made.source


def test_sizes_and_breaks_are_tried() -> None:
    case = PIPELINES["conv-pool"].make({"h": 40, "w": 8, "c": 1, "o": 2})
    every = every_schedule(case)
    assert {one.tile for one in every} == {8, 16, 32}
    assert len({one.breaks for one in every}) == 2**3
    long = every_schedule(PIPELINES["add6"].make({"n": 1_000_000}))
    assert min(one.tile for one in long) == 512
    assert max(one.tile for one in long) == 1_000_000
    many = every_schedule(PIPELINES["haversine"].make({"n": 30}))
    assert len({one.breaks for one in many}) == 19 + 2
    shares: list[float] = []
    made = tune(case, "n", rounds=1, progress=shares.append)
    assert len(shares) == len(every)
    assert len(made) == FINALISTS
    fused = [one.timings.fused for one in made]
    assert fused == sorted(fused)
    assert all(one.max_abs_error < 1e-4 for one in made)


def test_a_break_keeps_parts_fused() -> None:
    case = PIPELINES["softmax"].make({"h": 40, "w": 8})
    (made,) = measure(case, "n", [TiledSchedule(8, (2,))], rounds=1)
    assert made.counts.calls == 2 * 5 + 3 * 5
    assert "in 2 parts" in made.reason
    assert set(made.counts.recomputation.values()) == {1.0}


def _measured(fused: float, kept: float, factor: float = 1.0) -> PipelineMeasurement:
    counts = ScheduleCounts({"t": int(100 * factor), "r": 100}, {"t": 100, "r": 100}, 10, 4096)
    times = PipelineTimings(fused, 2.0, kept)
    return PipelineMeasurement(TiledSchedule(8), counts, times, 0.0, 0.0, "", "")


def test_the_verdict_is_that_of_the_times() -> None:
    assert _measured(1.0, 1.5).verdict == "fuse"
    assert _measured(1.0, GAIN - 0.01).verdict == "do not fuse"
    assert _measured(1.5, 1.0).verdict == "do not fuse"
    assert "1.50 times as many elements" in _measured(1.0, 1.5, 1.5).reason
    assert "times as many" not in _measured(1.0, 1.5).reason
