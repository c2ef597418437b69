"""Compiling beforehand."""

from __future__ import annotations

import pytest

from engine.dataflow.compiler import compile_program
from engine.dataflow.sim.compiled import warmup
from engine.dataflow.sim.program_runs import simulate
from engine.errors import SimulationError
from engine.models import load


def test_a_run_can_be_cancelled_before_its_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, data = load("gcn", "karate")
    built = compile_program(model.program, model.presets["full"])
    monkeypatch.setattr(warmup, "ready", lambda _: False)
    monkeypatch.setattr(warmup, "warmup", lambda *_, **__: pytest.fail("compiled all the same"))
    with pytest.raises(SimulationError, match="cancelled while its kernels were compiled"):
        simulate(built, data, engine="compiled", progress=lambda _, text: "compiling" not in text)
