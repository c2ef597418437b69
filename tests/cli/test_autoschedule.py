"""``fuseloom autoschedule`` and ``why``, for people and with JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.commands import error, output

SPMM = ("--model", "spmm", "--data", "random", "--gap", "0")


def test_a_schedule_with_its_proof(capsys: pytest.CaptureFixture[str]) -> None:
    printed = output(capsys, "autoschedule", *SPMM)
    assert printed.splitlines()[0].startswith("order T..T: ")
    assert "no schedule of this space takes fewer\n" in printed
    told = json.loads(output(capsys, "autoschedule", *SPMM, "--json"))
    assert f"{told['cycles']:,} cycles, simulated" in printed
    assert told["certificate"]["gap"] == 0
    assert told["certificate"]["simulated"]


def test_its_text_is_a_schedule(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = json.loads(output(capsys, "autoschedule", *SPMM, "--budget", "lanes=2", "--json"))
    assert "parallel" in told["schedule"]
    file = tmp_path / "best.sched"
    file.write_text(told["schedule"], encoding="utf-8")
    again = json.loads(output(capsys, "simulate", *SPMM[:4], "--schedule", str(file), "--json"))
    assert again["cycles"] == told["cycles"]
    assert again["check"]["ok"]


def test_results_may_leave_their_zeros_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "chain.loom"
    program.write_text("X: 20x20 dense\nW: 20x4 dense\nH[i,k] = relu(X[i,k])\n"
                       "Y[i,j] = H[i,k] * W[k,j]\n", encoding="utf-8")  # fmt: skip
    x = np.where(np.arange(400).reshape(20, 20) % 9, -1.0, 1.0)
    np.savez(tmp_path / "data.npz", X=x, W=np.ones((20, 4)))
    given = (str(program), "--tensors", str(tmp_path / "data.npz"), "--json")
    plain, without = (
        json.loads(output(capsys, "autoschedule", *given, *more)) for more in ((), ("--nonzero",))
    )
    assert "nonzero H" in without["schedule"]
    assert without["cycles"] < plain["cycles"] / 2


def test_a_front_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("autoschedule", *SPMM, "--budget", "lanes=2,copies=1", "--time-limit", "2s")
    printed = output(capsys, *options, "--pareto")
    assert "none of these is beaten in all respects:" in printed
    told = json.loads(output(capsys, *options, "--pareto", "--json"))
    assert [c["cycles"] for c in told["choices"]] == sorted(c["cycles"] for c in told["choices"])
    assert told["choices"][0]["cycles"] == told["cycles"]
    assert told["space"]["schedules"] > 20
    assert told["space"]["exact"]


def test_channels_are_sized(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sized = ("--capacity", "sized", "--json")
    told = json.loads(output(capsys, "autoschedule", *SPMM, *sized))
    file = tmp_path / "best.sched"
    file.write_text(told["schedule"], encoding="utf-8")
    again = output(capsys, "simulate", *SPMM[:4], "--schedule", str(file), *sized)
    assert json.loads(again)["cycles"] == told["cycles"]


def test_why_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.sched"
    file.write_text("order T..T: k,i,j", encoding="utf-8")
    printed = output(capsys, "why", *SPMM, "--schedule", str(file))
    assert printed.startswith(("removed by its", "not legal"))
    assert "the best found, " in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("autoschedule", *SPMM, "--preset", "unfused"), "--preset goes with other commands"),
        (("why", *SPMM), "why not which schedule?"),
        (("autoschedule", *SPMM, "--orders", "first"), "--orders first goes with other commands"),
        (("autoschedule", *SPMM, "--budget", "lanes=65536"), "a budget of 65,536 lanes"),
        (("autoschedule", *SPMM, "--also", "fuse T..T"), "'fuse T' is searched"),
        (
            ("autoschedule", "--model", "gcn", "--budget", "onchip=1B", "--time-limit", "500ms"),
            "no schedule was found",
        ),
    ],
)
def test_errors(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in error(capsys, *arguments)


@pytest.mark.parametrize(
    "option",
    ["--gap=1", "--gap=x", "--time-limit=0s", "--time-limit=1x", "--budget=lanes=0",
     "--budget=lanes=2,lanes=3", "--budget=memory=3", "--budget=onchip=much"],
)  # fmt: skip
def test_what_is_no_option(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert option.split("=")[0] in error(capsys, "autoschedule", *SPMM, option)
