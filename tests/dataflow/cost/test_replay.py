"""Replays as machine code and as Python give the same."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.cost import replay as running
from fuseloom.dataflow.dram import Config, Ideal, Queues, ddr4_3200, hbm2
from fuseloom.dataflow.machine import Machine
from tests.dataflow.dram.test_replay import trace


@pytest.mark.parametrize("memory", [Ideal(7), hbm2(), ddr4_3200(), Queues()], ids=lambda m: m.name)
def test_both_forms_agree(memory: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    ports = [
        [(int(when), place) for place, when in enumerate(np.sort(rng.integers(0, 400, 120)))]
        for _ in range(3)
    ]
    made = np.array(trace(ports, needs=[(1, 0), (2, 0), (2, 1)]))
    machine = Machine.default()
    monkeypatch.setattr(running, "FEW", 0)
    compiled = running.replayed(machine, memory, made, 3, 360)
    monkeypatch.setattr(running, "compiled_replay", lambda: None)
    assert running.replayed(machine, memory, made, 3, 360).tolist() == compiled.tolist()
    assert compiled.max() >= 400
