"""Fig. 13 from what was simulated and measured."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from fuseloom.experiments.hardware_runs import HardwareCycles, kept
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, MissingError, RecipeResults
from fuseloom.experiments.recipes.hardware import HARDWARE, compared, groups, reason

SMOKE, PAPER = ExperimentSize.SMOKE, AccountingMode.PAPER


def _simulated() -> dict[str, dict[str, int]]:
    """What the smallest groups take in the simulator, as it was when they were measured."""
    every = {name: one.simulated for name, one in kept().items()}
    unfused, partial = (one.name for one in groups(SMOKE))
    names = [name for name in every if name.startswith("GCN ") and "," not in name]
    return {
        unfused: {name: every[name] for name in names if name not in ("GCN T1..H", "GCN T5..Y")},
        partial: {name: every[name] for name in ("GCN T1..H", "GCN T5..Y")},
    }


def test_equal_cycles_have_an_r2_of_1() -> None:
    results = RecipeResults({}, measured=_simulated())
    found = compared(results, SMOKE)
    assert found.determination > 0.9999
    assert found.most_apart < 0.01
    assert not found.changed
    (plot, text) = HARDWARE.panels(results, SMOKE, PAPER)
    assert len(plot.series[0].x) == len(found.kernels)
    assert "GCN T1..H" in text.text


def test_kernels_that_have_changed_are_left_out_and_named() -> None:
    simulated = _simulated()
    unfused, _ = simulated
    simulated[unfused]["GCN T1"] += 1
    results = RecipeResults({}, measured=simulated)
    assert compared(results, SMOKE).changed == ("GCN T1",)
    _, text = HARDWARE.panels(results, SMOKE, PAPER)
    assert "not compared, as they have changed since hardware was measured: GCN T1" in text.text


def test_what_was_measured_again_comes_before_what_is_kept() -> None:
    again = [asdict(replace(one, cycles=2 * one.cycles)) for one in kept().values()]
    measured = {
        **_simulated(),
        **dict.fromkeys(HARDWARE.measures_on_request(SMOKE, PAPER), again),
    }
    found = compared(RecipeResults({}, measured=measured), SMOKE)
    assert found.most_apart > 0.4
    assert (
        HARDWARE.values(SMOKE, PAPER)["13.apart"](RecipeResults({}, measured=measured)).value > 40
    )


def test_without_a_simulation_there_is_nothing() -> None:
    with pytest.raises(MissingError):
        compared(RecipeResults({}), SMOKE)


def test_reasons_name_the_nodes() -> None:
    one = HardwareCycles("k", 10, 11, 0.0, 3, "icarus", (("LS A.i", 1), ("Acc1_k", 4)))
    assert reason(one).startswith("Acc1_k: a row leaves a coordinate a cycle")
    assert reason(replace(one, apart=(("Drop T.i", 1),))).startswith("Drop T.i: what waits")
    assert reason(replace(one, apart=(("LS A.i", 1),))) == "unexplained"
    assert reason(replace(one, cycles=10)) == ""
