"""``fuseloom autoschedule`` with machines to choose among, for people and with JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from fuseloom.cli.codesign import design_budget
from tests.cli.commands import error, output

SPMM = ("autoschedule", "--model", "spmm", "--data", "random", "--gap", "0", "--time-limit", "600")
SPACE = 'base = "hbm2"\n[parameters]\nlanes = [1, 2]\n"memory.channels" = [2, 8]\n'


@pytest.fixture
def space(tmp_path: Path) -> str:
    """A file of four machines."""
    path = tmp_path / "space.toml"
    path.write_text(SPACE, encoding="utf-8")
    return str(path)


def test_the_best_machine_with_its_schedule(capsys: pytest.CaptureFixture[str], space: str) -> None:
    options = (*SPMM, "--machine-space", space, "--objective", "edp", "--pareto")
    printed = output(capsys, *options)
    told = json.loads(output(capsys, *options, "--json"))
    assert told["fuseloom"] == "codesign"
    assert f"edp: {told['value']:.6g} J·s, simulated" in printed
    assert "no machine of this space has a better schedule" in printed
    assert told["gap"] == 0
    assert len(told["machines"]) == 4
    assert "machine: lanes " in printed
    assert "the best with each value of a parameter:" in printed
    assert "none of these is beaten in time and energy:" in printed
    best = [m for m in told["machines"] if m["verdict"] == "the best"]
    assert [m["settings"] for m in best] == [told["design"]["settings"]]
    for line in told["design"]["schedule"].split("; "):
        assert line in printed


def test_an_objective_and_budgets_of_one_machine(capsys: pytest.CaptureFixture[str]) -> None:
    options = (*SPMM, "--machine", "hbm2", "--json")
    least = json.loads(output(capsys, *options, "--objective", "energy", "--budget", "lanes=2"))
    fast = json.loads(output(capsys, *options, "--objective", "time", "--budget", "lanes=2"))
    assert least["design"]["energy"] <= fast["design"]["energy"]
    assert fast["design"]["seconds"] <= least["design"]["seconds"]
    limit = f"lanes=2,energy={least['design']['energy'] * 1.0001}"
    frugal = json.loads(output(capsys, *options, "--budget", limit))
    assert frugal["design"]["energy"] <= least["design"]["energy"] * 1.0001
    assert frugal["objective"] == "cycles"


def test_rules_are_kept_with_and_without_machines(
    capsys: pytest.CaptureFixture[str], space: str
) -> None:
    for more in ((), ("--machine-space", space)):
        printed = output(capsys, *SPMM, "--require", "order i j", *more)
        assert "order T..T: i,j,k" in printed


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--machine-space", "{space}", "--budget", "lanes=2"), "--budget lanes goes with"),
        (("--machine-space", "{space}", "--nonzero"), "--nonzero goes with"),
        (("--machine-space", "{space}", "--machine", "ddr4"), "--machine and --capacity go with"),
        (("--machine-space", "{space}", "--capacity", "4"), "--machine and --capacity go with"),
        (("--machine-space", "{space}.not"), "space.toml.not"),
        (("--machine-space", "{wrong}"), "wrong.toml: a space of machines without parameters"),
        (("--budget", "energy=1e-30"), "no design was found"),
        (("--budget", "bandwidth=1B/s"), "its memory has no limit"),
        (("--require", "melt A"), "is no kind of requirement"),
        (("--every-machine",), "--every-machine goes with several machines"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    space: str,
    options: tuple[str, ...],
    told: str,
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('base = "hbm2"\n', encoding="utf-8")
    given = [option.format(space=space, wrong=wrong) for option in options]
    assert told in error(capsys, *SPMM, *given)


def test_why_has_no_budget_of_machines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    schedule = tmp_path / "a.sched"
    schedule.write_text("order T: i,k,j", encoding="utf-8")
    given = ("why", *SPMM[1:], "--schedule", str(schedule), "--budget", "area=20k")
    assert "--budget area goes with autoschedule" in error(capsys, *given)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("area", "20k", 20e3), ("area", "1.5MLUTs", 1.5e6), ("area", "300 LUT", 300.0),
        ("energy", "2.5uJ", 2.5e-6), ("energy", "3e-6", 3e-6), ("energy", "7 nJ", 7e-9),
        ("bandwidth", "64GB/s", 64e9), ("bandwidth", "1.2T", 1.2e12),
    ],
)  # fmt: skip
def test_budgets_have_units(name: str, text: str, value: float) -> None:
    assert design_budget(name, text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "text"),
    [("area", "1e"), ("area", ""), ("area", "-3"), ("energy", "3B/s"), ("energy", "nan"),
     ("bandwidth", "64GiB/s"), ("area", "1e999x")],
)  # fmt: skip
def test_what_is_no_budget_is_refused(name: str, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        design_budget(name, text)
