"""Rings grow when a run needs it, within the limit of memory."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import SimulationError
from tests.dataflow.sim.compiled.graphs import (
    OURS,
    assert_equal,
    softmax,
)


@pytest.mark.parametrize("capacity", [None, 1000])
def test_rings_grow_when_a_fiber_is_longer(capacity: int | None) -> None:
    bound = softmax(3, 700)
    machine = Machine.default(capacity)
    simulation = compiled.Simulation(bound, machine, ring=8)
    before = simulation.memory.bytes
    assert_equal(interpreter.run(bound, machine), simulation.run())
    assert simulation.memory.bytes > before


def test_rows_longer_than_the_default_ring() -> None:
    result = compiled.run(softmax(2, 100_000), OURS)
    sums = result.outputs[12]["vals"].reshape(2, -1).sum(axis=1)
    np.testing.assert_allclose(sums, 1, rtol=1e-2)
    assert result.tokens[13] == 2 * 100_001 + 1


def test_memory_limit() -> None:
    with pytest.raises(SimulationError, match="MiB"):
        compiled.Simulation(softmax(1, 1_000_000), OURS, limits=Limits(memory=10 << 20)).run()
