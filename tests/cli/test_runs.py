"""``fuseloom runs`` and ``simulate --keep``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom.cli.command import age, seconds
from fuseloom.exploration.store import Outcome, RunLabel, RunStore, State
from tests.cli.commands import INTERPRETER, error, output
from tests.exploration.store.samples import LABEL, identity, outcome


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the location of this test's runs."""
    path = tmp_path / "runs.sqlite"
    monkeypatch.setenv("FUSELOOM_RUNS", str(path))
    return path


@pytest.fixture
def store(path: Path) -> RunStore:
    """A store of ten runs."""
    store = RunStore(path)
    for number in range(10):
        store.put(identity(number), outcome(number), LABEL)
    return store


def test_a_list(store: RunStore, capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, "runs", "list").splitlines()
    assert lines[0].split()[:4] == ["run", "when", "state", "program"]
    assert len(lines) == 11
    assert lines[1].split()[3:7] == ["done", "spmv", "random", "default"]
    lines = output(capsys, "runs", "list", "--limit", "2").splitlines()
    assert len(lines) == 4
    assert lines[-1] == "showing 2 of 10 runs"
    text = output(capsys, "runs", "list", "--state", "refused", "--state", "limit")
    assert "more than 3 tokens" in text
    assert text.count("\n") == 3
    made = json.loads(output(capsys, "runs", "list", "--json", "--limit", "3"))
    assert (made["total"], len(made["runs"])) == (10, 3)
    assert made["runs"][0]["record"] is None


def test_no_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "runs", "list") == f"no runs are kept in {path}\n"
    assert "no run has a key" in error(capsys, "runs", "show", "abc")


def test_what_a_lease_is_called(store: RunStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.claim(identity(20), LABEL)
    child = os.fork()
    if not child:
        store.claim(identity(21), LABEL)
        os._exit(0)
    os.waitpid(child, 0)
    gone, held = output(capsys, "runs", "list", "--state", "leased").splitlines()[1:]
    assert f"nobody: gone is process {child} on " in gone
    assert f"  process {os.getpid()} on " in held


def test_one_run(store: RunStore, capsys: pytest.CaptureFixture[str]) -> None:
    key = identity(1).key
    text = output(capsys, "runs", "show", key[:12])
    assert key in text
    assert "matches the dense reference" in text
    assert "order y: i,j # 1" in text
    assert "settings   capacity sized" in text
    made = json.loads(output(capsys, "runs", "show", key, "--json"))
    assert made["runs"][0]["record"]["cycles"] == 101
    assert made["runs"][0]["program"] == identity(1).program
    assert "j must stay outside i" in output(capsys, "runs", "show", identity(5).key)


def test_names_are_no_commands_to_the_terminal(
    store: RunStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store.put(identity(50), outcome(0), RunLabel("a\x1b[2Jb\r\nc" + "d" * 500, "\x07", "\u202e"))
    for text in (
        output(capsys, "runs", "list"),
        output(capsys, "runs", "show", identity(50).key),
    ):
        assert all(c.isprintable() or c == "\n" for c in text)


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_export_and_import(
    ending: str, store: RunStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = str(tmp_path / f"out.{ending}"), str(tmp_path / "other.sqlite")
    store.claim(identity(20))
    assert output(capsys, "runs", "export", file) == f"10 runs written to {file}\n"
    assert output(capsys, "runs", "import", file, "--store", other) == "10 runs added\n"
    assert "0 runs added; 10 were there" in output(capsys, "runs", "import", file, "--store", other)
    shown = output(capsys, "runs", "list", "--store", other)
    assert sorted(shown.splitlines()) == sorted(
        line for line in output(capsys, "runs", "list").splitlines() if "leased" not in line
    )
    assert "2 runs written to" in output(
        capsys, "runs", "export", file, "--state", "refused", "--state", "limit"
    )
    Path(file).write_text("x")
    assert "fuseloom: error" in error(capsys, "runs", "import", file)


def test_throwing_away(store: RunStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert "say what is to go" in error(capsys, "runs", "gc")
    assert output(capsys, "runs", "gc", "--older-than", "30d").startswith("0 runs thrown away")
    assert "10 runs would go" in output(capsys, "runs", "gc", "--older-than", "0s", "--dry-run")
    made = json.loads(output(capsys, "runs", "gc", "--larger-than", "5KiB", "--json"))
    assert 0 < made["runs"] < 10
    assert made["bytes"] > 0
    assert len(store.runs()) == 10 - made["runs"]


def test_ages(capsys: pytest.CaptureFixture[str]) -> None:
    assert [age(t) for t in ("10s", "2m", "1.5h", "30d", "1 w")] == [
        10, 120, 5400, 30 * 86400, 7 * 86400
    ]  # fmt: skip
    assert [seconds(t) for t in ("10", "250ms", "5min", "5 M", "2h")] == [10, 0.25, 300, 300, 7200]
    for text in ("soon", "30", "-1d", "1e3s", "9" * 12 + "s"):
        assert "--older-than" in error(capsys, "runs", "gc", "--older-than", text)
    for text in ("0", "0ms", "s", "1 y"):
        with pytest.raises(ArgumentTypeError):
            seconds(text)


def test_faults_are_told(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text("no store at all")
    assert "is no run store" in error(capsys, "runs", "list")
    assert path.read_text() == "no store at all"
    path.unlink()
    assert "leave one out" in error(capsys, "runs", "list", "--follow", "--json")


@pytest.mark.deep  # takes seconds
def test_following(store: RunStore, path: Path) -> None:
    follower = subprocess.Popen(
        [sys.executable, "-m", "fuseloom", "runs", "list", "--follow", "--limit", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        # what runs the tests may ignore Ctrl+C, and what it starts would, too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert follower.stdout is not None
    assert follower.stdout.readline().startswith("run ")
    assert "109" in follower.stdout.readline()
    store.collect(older=-10)
    store.put(identity(30), outcome(0), LABEL)
    assert "100" in follower.stdout.readline()
    lease = store.claim(identity(31), LABEL)
    assert lease is not None
    assert "leased" in follower.stdout.readline()
    follower.send_signal(signal.SIGINT)
    assert follower.communicate(timeout=60)[1] == "fuseloom: cancelled\n"
    assert follower.returncode == 130


# Keeping runs ----------------------------------------------------------------------------------


@pytest.mark.deep  # takes seconds
def test_a_run_that_is_kept_is_not_done_again(
    path: Path, program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("simulate", program, *INTERPRETER, "--keep")
    first = output(capsys, *words)
    made = output(capsys, *words, "--json")
    monkeypatch.setattr("fuseloom.cli.programs.simulate", None)  # nobody may call it
    again = output(capsys, *words)
    assert "kept from a run that took" in again
    assert again.splitlines()[:-1] == first.splitlines()[:-1]
    assert output(capsys, *words, "--json") == made
    (run,) = RunStore(path).runs()
    assert (run.state, run.label.name, run.attempts) == (State.DONE, "chain", 1)
    assert json.loads(made)["cycles"] == run.cycles
    monkeypatch.undo()


def test_other_runs_are_other_runs(
    path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("simulate", program, *INTERPRETER, "--keep")
    for more in ((), ("--seed", "1"), ("--capacity", "sized"), ("--machine", "hbm2"),
                 ("--capacity", "9")):  # fmt: skip
        output(capsys, *words, *more)
    assert len(RunStore(path).runs()) == 5


def test_a_record_that_lacks_what_is_asked_for_is_replaced(
    path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("simulate", program, *INTERPRETER, "--keep")
    output(capsys, *words, "--no-check")
    assert "kept from" in output(capsys, *words, "--no-check")
    assert "matches" in output(capsys, *words)
    output(capsys, *words, "--explain")
    (run,) = RunStore(path).whole()
    assert run.attempts == 3
    assert run.record is not None
    assert run.record.ok
    assert run.record.explained
    output(capsys, *words, "--trace", "--no-check")  # lacks more than it adds
    assert next(RunStore(path).whole()).record == run.record
    assert main([*words, "--trace", "--token-limit", "1"]) == 2
    assert next(RunStore(path).whole()).state is State.DONE


def test_the_area_is_kept_with_a_run(
    path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("simulate", program, *INTERPRETER, "--machine", "size-S")
    assert "area:" not in output(capsys, *words)
    assert json.loads(output(capsys, *words, "--json"))["area"] is None
    (line,) = (one for one in output(capsys, *words, "--area").splitlines() if "area:" in one)
    assert line in output(capsys, *words, "--keep").splitlines()
    (run,) = RunStore(path).whole()
    assert run.record is not None
    assert run.record.area is not None
    assert run.record.area.known
    assert line in output(capsys, "runs", "show", run.key).splitlines()


def test_a_kept_run_without_an_area_is_done_again_for_it(
    path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("simulate", program, *INTERPRETER, "--machine", "size-S", "--keep")
    output(capsys, *words)
    (run,) = RunStore(path).whole()
    assert run.record is not None
    regions = tuple(replace(region, area=None) for region in run.record.regions)
    with RunStore(path) as store:
        lease = store.claim(run.identity, again=[State.DONE])
        assert lease is not None
        store.finish(lease, Outcome.of(replace(run.record, regions=regions)))
    assert "area:" not in output(capsys, "runs", "show", run.key)
    assert "kept from" in output(capsys, *words)
    assert "area: " in output(capsys, *words, "--area")
    again = next(RunStore(path).whole()).record
    assert again is not None
    assert again.area == run.record.area


def test_graphs_have_no_area(capsys: pytest.CaptureFixture[str]) -> None:
    text = error(capsys, "simulate", "--graph", "g.json", "--tensors", "t.npz", "--area")
    assert "--area goes with a program" in text


def test_limits_are_kept(path: Path, program: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("simulate", program, *INTERPRETER, "--keep")
    assert main([*words, "--token-limit", "1"]) == 2
    capsys.readouterr()
    (run,) = RunStore(path).runs()
    assert run.state is State.LIMIT
    assert "more than 1 token" in run.reason
    output(capsys, *words)
    (run,) = RunStore(path).runs()
    assert (run.state, run.attempts) == (State.DONE, 2)


def test_a_run_that_is_under_way_is_said_to_be(
    path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("simulate", program, *INTERPRETER, "--keep")
    output(capsys, *words)
    store = RunStore(path)
    (run,) = store.whole()
    lease = store.claim(run.identity, again=[State.DONE])
    assert lease is not None
    began = time.time()
    assert main([*words, "--explain"]) == 0
    told = capsys.readouterr()
    assert "another process is at this run" in told.err
    assert "matches" in told.out
    assert store.release(lease)
    assert store.runs()[0].changed < began + 60


def test_graphs_are_not_kept(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = error(capsys, "simulate", "--graph", "g.json", "--tensors", "t.npz", "--keep")
    assert "--keep goes with a program" in text
    assert not path.exists()
