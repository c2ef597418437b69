"""``fuseloom explore --vary``: a sweep from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom.exploration.store import RunStore, State
from tests.cli.commands import error, output
from tests.waiting import PATIENCE, until

SPMV = ("explore", "--model", "spmv", "--data", "random")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "runs.sqlite"
    monkeypatch.setenv("FUSELOOM_RUNS", str(path))
    return path


def test_a_table_and_what_is_new(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, *SPMV, "--vary", "capacity=2,none").splitlines()
    assert lines[0].split() == ["capacity", "estimated", "cycles", "bytes", "state"]
    assert lines[-1] == f"2 configurations; new runs: 2 estimated; kept in {store}"
    lines = output(capsys, *SPMV, "--vary", "capacity=2,none", "--simulate", "--jobs", "0")
    assert "new runs: 2 done" in lines
    again = output(capsys, *SPMV, "--vary", "capacity=2,none", "--simulate", "--jobs", "0")
    assert "all runs were there already" in again
    assert (
        output(capsys, "simulate", *SPMV[1:], "--capacity", "2", "--keep")
        .splitlines()[-1]
        .startswith("matches the dense reference")
    )


def test_a_run_of_simulate_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    output(capsys, "simulate", *SPMV[1:], "--machine", "hbm2", "--keep")
    made = output(capsys, *SPMV, "--vary", "machine=hbm2", "--simulate", "--jobs", "0", "--json")
    assert json.loads(made)["new"] == {}
    kept = output(capsys, "simulate", *SPMV[1:], "--machine", "hbm2", "--keep")
    assert "kept from a run" in kept


def test_program_files_schedules_and_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.loom").write_text("A: 4x4 csr\nX: 4x3 dense\nT[i,j] = A[i,k] * X[k,j]\n")
    (tmp_path / "a.sched").write_text("order T: i,j,k\n")
    (tmp_path / "m.toml").write_text(output(capsys, "machine", "hbm2"))
    axes = ("--vary", f"schedule={tmp_path / 'a.sched'}",
            "--vary", f"machine={tmp_path / 'm.toml'},default")  # fmt: skip
    made = json.loads(output(capsys, "explore", str(tmp_path / "a.loom"), *axes, "--json"))
    schedules = {found["schedule"] for found in made["configurations"]}
    assert schedules == {"order T: i,j,k; order T..T: i,j,k"}
    assert made["configurations"][0]["estimated"] != made["configurations"][1]["estimated"]
    told = error(capsys, "explore", str(tmp_path / "a.loom"), "--vary", "seed=1")
    assert "goes with a model" in told


def test_what_makes_no_sense(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, told in (
        (("--vary", "capacity"), "AXIS=VALUE"),
        (("--vary", "capacity="), "AXIS=VALUE"),
        (("--vary", "capacity=1,,2"), "AXIS=VALUE"),
        (("--vary", "seed=1", "--vary", "seed=2"), "twice"),
        (("--vary", "schedule=none.sched"), "cannot read"),
        (("--vary", "machine=none"), "no machine is called"),
        (("--no-estimate",), "--simulate"),
        (("--simulate", "0"), "at least 1"),
        (("--simulate", "--jobs", "2", "--scheduler", "tcp://x"), "not both"),
        (("--simulate", "--time-limit", "soon"), "no time"),
        (("--vary", "preset=full", "--preset", "full", "--schedule", "a"), "not both"),
        (("--vary", "preset=full"), "no configuration of this space can be"),
    ):
        assert told in error(capsys, *SPMV, *wrong), wrong


def test_dask_is_an_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    for name in ("dask", "dask_worker"):
        monkeypatch.delitem(sys.modules, f"fuseloom.exploration.executors.{name}", raising=False)
    told = error(capsys, *SPMV, "--simulate", "--scheduler", "tcp://127.0.0.1:1")
    assert "pip install 'fuseloom[dask]'" in told


def test_limits_are_results(capsys: pytest.CaptureFixture[str]) -> None:
    made = output(capsys, *SPMV, "--simulate", "--jobs", "0", "--token-limit", "5", "--json")
    assert [c["state"] for c in json.loads(made)["configurations"]] == ["limit"]
    made = output(capsys, *SPMV, "--simulate", "--jobs", "0", "--again", "limit", "--json")
    assert json.loads(made)["new"] == {"done": 1}


def test_models_may_be_an_axis_only(capsys: pytest.CaptureFixture[str]) -> None:
    made = output(capsys, "explore", "--vary", "model=spmv,spmm", "--vary", "seed=3", "--json")
    found = json.loads(made)["configurations"]
    assert [c["values"]["model"] for c in found] == ["spmv", "spmm"]
    assert main(["explore", "--vary", "seed=3"]) == 2


def test_ctrl_c_leaves_what_was_finished(store: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "fuseloom", "explore", "--model", "spmm", "--simulate",
               "--jobs", "1", "--vary", f"seed={','.join(map(str, range(400)))}"]  # fmt: skip
    done = subprocess.Popen(
        command,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        # what runs the tests may ignore Ctrl+C, and what it starts would, too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until(
        lambda: store.exists() and RunStore(store).counts().get(State.DONE, 0) > 3,
        "some runs are done",
    )
    done.send_signal(signal.SIGINT)
    assert "cancelled" in done.communicate(timeout=PATIENCE)[1]
    assert done.returncode == 130
    with RunStore(store) as kept:
        assert set(kept.counts()) == {State.DONE}
