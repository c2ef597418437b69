"""Compiling beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.compiled import cache, simulation, warmup
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import SimulationError
from fuseloom.models import load
from fuseloom.program import parse


def test_a_run_can_be_cancelled_before_its_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, data = load("gcn", "karate")
    built = compile_program(model.program, model.presets["full"])
    monkeypatch.setattr(warmup, "ready", lambda _: False)
    monkeypatch.setattr(warmup, "warmup", lambda *_, **__: pytest.fail("compiled all the same"))
    with pytest.raises(SimulationError, match="cancelled while its kernels were compiled"):
        simulate(built, data, engine="compiled", progress=lambda _, text: "compiling" not in text)


@pytest.mark.deep
def test_kernels_that_cannot_be_kept_are_compiled_for_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The processes that compile beforehand give up at once, and the run goes on without them."""
    program = parse("a: 4 dense\nb[i] = 2 * a[i]")
    built, data = compile_program(program), {"a": np.arange(4.0)}
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    monkeypatch.setattr(cache, "SAID", [])
    monkeypatch.setattr(cache._KernelStore, "kept", property(lambda _: False))
    monkeypatch.setattr(cache._KernelStore, "save_overload", lambda *_: cache.say_unkept("full"))
    monkeypatch.setattr(warmup, "_compile_all", lambda *_: iter(()))
    fresh = {
        k: cache.CompiledKernel(k, v.function, v.slots, v.setup) for k, v in cache.KERNELS.items()
    }
    for module in (warmup, simulation):
        monkeypatch.setattr(module, "KERNELS", fresh)
    run = simulate(built, data, engine="compiled")
    assert run.outputs["b"].to_dense().tolist() == [0, 2, 4, 6]
    shown = capfd.readouterr().err
    assert shown.count("\n") == 1
    assert "warning: cannot keep compiled kernels" in shown


def test_warming_up_what_cannot_be_kept_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache._KernelStore, "kept", property(lambda _: False))
    monkeypatch.setattr(warmup, "_compile_all", lambda *_: iter(()))
    root = cache.KERNELS["root"]
    fresh = cache.CompiledKernel(root.name, root.function, root.slots, root.setup)
    monkeypatch.setattr(warmup, "KERNELS", {"root": fresh})
    with pytest.raises(warmup.UnkeptError, match="writable, and is there room"):
        warmup.warmup()
