"""Measured calls in the store: kept once, with the whole calls beside them."""

from __future__ import annotations

from pathlib import Path

from fuseloom.calls.measuring import TiledSchedule, measure
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.exploration.call_runs import keep_calls, program_text
from fuseloom.exploration.store import RunStore


def test_calls_are_kept_once(tmp_path: Path) -> None:
    case = PIPELINES["blur"].make({"h": 16, "w": 8})
    measured = measure(case, "n", [TiledSchedule(8), TiledSchedule(16)], rounds=1)
    with RunStore(tmp_path / "runs.sqlite") as store:
        for _ in range(2):
            records = keep_calls(store, case, measured, "blur", "random, seed 0")
        assert len(records) == len(store.runs()) == 3
        kept = [store.get(run.key) for run in store.runs()]
        seconds = {one.record.schedule: one.record.cycles for one in kept if one and one.record}
        assert seconds == {record.schedule: record.cycles for record in records}
        keep_calls(store, case, measured, "blur", "random, seed 0", {"threads": "2"})
        assert len(store.runs()) == 6
        other = PIPELINES["blur"].make({"h": 16, "w": 8}, seed=1)
        keep_calls(store, other, measured, "blur", "random, seed 1")
        assert len(store.runs()) == 9


def test_programs_differ_by_their_calls() -> None:
    cases = [PIPELINES[name].make({"h": 8}) for name in ("blur", "sgerb", "sgerb-sums")]
    assert len({program_text(case.composition) for case in cases}) == 3
