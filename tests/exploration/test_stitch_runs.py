"""Timed kernels in the store: kept once, with those of XLA's rules beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuseloom.exploration.stitch_runs import keep_stitched, stitch_records
from fuseloom.exploration.store import RunStore
from fuseloom.stitch.end_to_end import EndToEnd
from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import fuse_module

TIMES = EndToEnd(
    fused=20, baseline=60, taken_in=0, calls=40, fused_whole=62_000, baseline_whole=100_000
)


def test_runs_are_kept_once(tmp_path: Path) -> None:
    made = fuse_module(read_example("logistic_regression"))
    with RunStore(tmp_path / "runs.sqlite") as store:
        for _ in range(2):
            ours, theirs = keep_stitched(store, made, TIMES)
        assert len(store.runs()) == 2
        keep_stitched(store, made, TIMES, seed=1)
        keep_stitched(store, made, TIMES, settings={"products": "all"})
        assert len(store.runs()) == 6
    assert (ours.cycles, theirs.cycles) == (62_000, 100_000)
    assert ours.bytes < theirs.bytes
    assert ours.flops == theirs.flops > 0
    assert ours.ok
    assert "4 kernels" in ours.schedule
    assert "18 kernels" in theirs.schedule


def test_a_program_that_is_wrong_is_kept_as_wrong() -> None:
    made = fuse_module(read_example("logistic_regression"))
    ours, theirs = stitch_records(made, replace(TIMES, baseline_error=0.5))
    assert ours.ok
    assert not theirs.ok
