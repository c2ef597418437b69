"""Cycles of hardware that are kept, and how they are measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fuseloom.experiments.hardware_kernels import GROUPS, KernelGroup
from fuseloom.experiments.hardware_runs import (
    HardwareCycles,
    kept,
    kept_text,
    main,
    measured,
    read_kept,
    run_group,
    simulated,
)
from fuseloom.experiments.recipes.hardware import reason


def _quiet(share: float, what: str) -> bool:
    return True


def test_what_is_kept_is_read_as_it_was_written() -> None:
    some = [
        HardwareCycles("a b", 10, 11, 1e-7, 3, "icarus", (("Acc1_k", 1),)),
        HardwareCycles("c, 2 lanes", 7, 7, 0.0, 2, "verilator"),
    ]
    assert list(read_kept(kept_text(some, "some tools")).values()) == some


def test_what_is_kept_is_of_more_kernels_than_were_published_and_explained() -> None:
    found = kept()
    by_model = {
        model: sum(name.startswith(f"{model} ") for name in found)
        for model in ("GCN", "GraphSAGE", "GPT-3")
    }
    assert by_model["GCN"] >= 11
    assert by_model["GraphSAGE"] >= 13
    assert by_model["GPT-3"] >= 17
    for one in found.values():
        assert one.error < 1e-6, one
        assert 0 <= one.cycles - one.simulated <= 0.01 * one.cycles, one
        assert reason(one) != "unexplained", one


@pytest.mark.deep
def test_the_present_simulator_takes_the_cycles_that_are_kept() -> None:
    """If it does not, the kernels have changed: measure them again (see the module's text)."""
    now = {}
    for one in GROUPS:
        now |= simulated({"group": one.name}, _quiet)
    assert now == {name: one.simulated for name, one in kept().items()}


@pytest.mark.deep
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog")
def test_a_kernel_measured_again_takes_the_cycles_that_are_kept() -> None:
    (one,) = run_group(KernelGroup("GCN", "unfused", regions=("T7",)))
    assert one == kept()["GCN T7"]


@pytest.mark.fuzz
@pytest.mark.skipif(shutil.which("verilator") is None, reason="needs Verilator")
@pytest.mark.parametrize("name", [one.name for one in GROUPS])
def test_all_kernels_measured_again(name: str) -> None:
    for values in measured({"group": name}, _quiet):
        assert HardwareCycles(**values) == kept()[values["kernel"]]


def test_the_command_wants_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
