"""Mappings in the store: kept once, beside the others, and found again."""

from __future__ import annotations

from pathlib import Path

from fuseloom.access.kernels import matmul
from fuseloom.access.memory import BufferedMemory
from fuseloom.exploration.array_runs import keep_design
from fuseloom.exploration.store import RunStore
from tests.access.test_record import design_of


def test_a_design_is_kept_once(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        for _ in range(2):
            record = keep_design(store, design_of(matmul(8, 16, 8)), "matmul", "random, seed 0")
        (run,) = store.runs()
        assert (run.label.name, run.label.data) == ("matmul", "random, seed 0")
        assert run.label.machine == "systolic array 8 × 8"
        whole = store.get(run.key)
        assert whole is not None
        assert whole.record is not None
        assert whole.record.cycles == record.cycles
        other = design_of(matmul(8, 16, 8), memory=BufferedMemory(bandwidth=1.0))
        keep_design(store, other, "matmul", "random, seed 0")
        assert len(store.runs()) == 2
