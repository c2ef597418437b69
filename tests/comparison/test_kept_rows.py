"""Rows in the run store: those with cycles or a time, each by its machine, once."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.comparison.compare import compare
from fuseloom.comparison.examples import example
from fuseloom.comparison.kept_rows import keep_rows, row_record
from fuseloom.comparison.rows import ComparisonRow, FusionSystem
from fuseloom.exploration.store import RunStore
from fuseloom.results.cpu import cpu


def test_every_row_that_applies_is_kept_once(tmp_path):
    program, data = example("gcn_layer")
    made = compare(program, data, seconds=0.1, rounds=1, label="drawn", array=(8, 8))
    applying = [row for row in made.rows if row.applies]
    with RunStore(tmp_path / "runs.db") as store:
        first = keep_rows(store, program, data, made, array=(8, 8))
        again = keep_rows(store, program, data, made, array=(8, 8))
        kept = store.runs()
    assert first == again
    assert len(kept) == len(first) == len(applying) > 5
    by_schedule = {record.schedule: record for record in first}
    for row in applying:
        record = by_schedule[f"{row.system.value}, {row.way}"]
        assert record.ok
        assert record.bytes == row.bytes_between
        if row.simulated_cycles is not None:
            assert record.cycles == row.simulated_cycles
    assert {one.machine.name for one in first} >= {cpu().name, "systolic array 8 × 8"}


def test_other_data_another_array_and_another_preset_are_other_runs(tmp_path):
    program, data = example("gcn_layer")
    made = compare(program, data, seconds=0.1, systems=["access"], array=(8, 8))
    (row,) = made.rows
    full = replace(made, rows=(replace(row, system=FusionSystem.DATAFLOW, way="full"),))
    names = list(data)
    other = {**data, names[0]: 2 * data[names[0]].to_dense()}
    with RunStore(tmp_path / "runs.db") as store:
        keep_rows(store, program, data, made, array=(8, 8))
        keep_rows(store, program, other, made, array=(8, 8))
        keep_rows(store, program, data, made, array=(8, 4))
        keep_rows(store, program, data, full, presets={"full": "fuse T..Y"})
        keep_rows(store, program, data, full, presets={"full": ""})
        assert len(store.runs()) == 5


def test_what_does_not_apply_or_is_wrong_is_no_run():
    row = ComparisonRow(FusionSystem.CALLS, "tuned", applies=False, reason="no")
    assert row_record(row, "p", cpu()) is None
    wrong = ComparisonRow(
        FusionSystem.CALLS, "tuned", applies=True, measured_seconds=1.0, max_rel_error=1.0
    )
    assert row_record(wrong, "p", cpu()) is None
