"""The output of writers is the same, wherever it is collected."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.compiled import collecting, pools
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import SimulationError
from fuseloom.program import parse

ROWS, COLUMNS = 700, 400
TEXT = f"X: {ROWS}x{COLUMNS} dense\nY[i,j] = relu(X[i,j])"
"""Writes 280,000 values, several times a buffer."""


def run(machine: Machine | None = None, limits: Limits | None = None, block: str = "") -> Run:
    x = np.random.default_rng(2).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    compiled = compile_program(parse(TEXT), block)
    return simulate(compiled, {"X": x}, machine, engine="compiled", limits=limits)


def parts(made: Run) -> list[Any]:
    levels = made.outputs["Y"].levels
    return [*(a for level in levels for a in (level.seg, level.crd)), made.outputs["Y"].values]


@pytest.mark.parametrize("machine", ["default", "ideal"])
@pytest.mark.parametrize("kept", [0, 1 << 40])
def test_reserved_or_in_pieces(machine: str, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "KEPT", kept)
    monkeypatch.setattr(collecting, "STEP", 1 << 14)
    made = run(Machine.preset(machine))
    assert made.check().ok
    assert made.outputs["Y"].values.size == ROWS * COLUMNS
    monkeypatch.setattr(collecting, "reserved", lambda dtype: None)
    again = run(Machine.preset(machine))
    for one, other in zip(parts(made), parts(again), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert made.cycles == again.cycles


def test_tiles() -> None:
    made = run(block="block 4")
    assert made.check().ok
    assert made.outputs["Y"].values.size == ROWS * COLUMNS


def test_it_outlives_its_run_and_can_be_sent() -> None:
    values = run().outputs["Y"].values
    assert values.nbytes >= collecting.KEPT
    sent = pickle.dumps(values)
    assert len(sent) < values.nbytes + 1000
    np.testing.assert_array_equal(pickle.loads(sent), values)


def test_the_limit_is_that_of_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ROWS * COLUMNS * (4 + 8)
    assert 1000 * whole < pools.RESERVED
    for place in (collecting.reserved, lambda dtype: None):
        monkeypatch.setattr(collecting, "reserved", place)
        run(limits=Limits(memory=3 * whole))
        with pytest.raises(SimulationError, match="MiB"):
            run(limits=Limits(memory=whole))
