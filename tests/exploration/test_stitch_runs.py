"""Timed kernels in the store: kept once, with those of XLA's rules beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuseloom.errors import StoreError
from fuseloom.exploration.stitch_runs import keep_stitched, stitch_records
from fuseloom.exploration.store import RunStore
from fuseloom.stitch.end_to_end import EndToEnd
from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.module_check import ModuleCheck

TIMES = EndToEnd(
    fused=20, baseline=60, taken_in=0, calls=40, fused_whole=62_000, baseline_whole=100_000
)
RIGHT = ModuleCheck(1e-7, 4)


def test_runs_are_kept_once(tmp_path: Path) -> None:
    made = fuse_module(read_example("logistic_regression"))
    with RunStore(tmp_path / "runs.sqlite") as store:
        for _ in range(2):
            ours, theirs = keep_stitched(store, made, TIMES, (RIGHT, RIGHT))
        assert len(store.runs()) == 2
        keep_stitched(store, made, TIMES, (RIGHT, RIGHT), seed=1)
        keep_stitched(store, made, TIMES, (RIGHT, RIGHT), settings={"products": "all"})
        assert len(store.runs()) == 6
    assert (ours.cycles, theirs.cycles) == (62_000, 100_000)
    assert ours.bytes < theirs.bytes
    assert ours.flops == theirs.flops > 0
    assert ours.ok
    assert "4 kernels" in ours.schedule
    assert "18 kernels" in theirs.schedule


def test_what_was_not_checked_or_is_wrong_is_said() -> None:
    made = fuse_module(read_example("logistic_regression"))
    none = ModuleCheck(None, 0, "there is no compiler")
    with pytest.raises(StoreError, match="there is no compiler"):
        stitch_records(made, TIMES, (RIGHT, none))
    _, wrong = stitch_records(made, TIMES, (RIGHT, replace(RIGHT, max_rel_error=0.5)))
    assert not wrong.ok
