"""Runs of pages in the run store: what a command would keep, and no more than that."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom.dataflow.sim.events import files
from fuseloom.errors import StoreError
from fuseloom.exploration.store import RunStore, State
from fuseloom_workbench.service.budgets import KEEP_RUNS, Budgets
from fuseloom_workbench.service.keeping import keep
from fuseloom_workbench.service.running import RunRequest, _outcome
from fuseloom_workbench.serving.serve import keep_runs
from fuseloom_workbench.state.saving import unpacked
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline.windows import has_events
from tests.workbench.outcomes import outcome


class Listener:
    """A listener that records a server's messages."""

    def __init__(self) -> None:
        self.told: list[dict] = []

    def send(self, message: dict) -> None:
        self.told.append(message)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    return tmp_path / "runs.sqlite"


def test_nothing_is_kept_unless_the_server_was_told_so(path, monkeypatch):
    monkeypatch.delenv(KEEP_RUNS, raising=False)
    session = Session("spmv", "random")
    end = _outcome(Listener(), session.built, RunRequest(), Budgets())
    assert "done" in end
    assert end["unkept"] == ""
    assert not path.exists()


def test_a_run_with_events_names_their_files(path, tmp_path, monkeypatch):
    monkeypatch.setenv(files.ENVIRONMENT, str(tmp_path))
    session = Session("gcn", "karate")
    end = _outcome(Listener(), session.built, RunRequest(events=True), Budgets())
    kept = unpacked(end["done"])
    assert has_events(kept)
    assert "exp takes 8 cycles in hardware" in kept.run.area.reason
    assert len(list((tmp_path / "events").iterdir())) == len(session.regions)


def test_a_kept_run_is_that_of_a_command(path, monkeypatch, capsys):
    monkeypatch.setenv(KEEP_RUNS, str(path))
    session = Session("spmv", "random")
    assert _outcome(Listener(), session.built, RunRequest(explain=True), Budgets())["unkept"] == ""
    with RunStore(path) as store:
        (run,) = store.whole()
        assert (run.state, run.label.name) == (State.DONE, "spmv")
        assert run.record.regions[0].nodes is None
        assert run.record.regions[0].path is None
        assert run.record.area is not None
        assert run.label.estimated is not None
    assert main(["simulate", "--model", "spmv", "--data", "random", "--keep"]) == 0
    assert "kept from a run" in capsys.readouterr().out


def test_a_store_that_is_large_damaged_or_held_does_not_stop_a_run(path, monkeypatch):
    monkeypatch.setenv(KEEP_RUNS, str(path))
    session = Session("spmv", "random")
    run = outcome(session=session)
    assert keep(session.built, run, 1) == ""
    assert keep(session.built, run, 1) == "the run store has more than 0 MiB"
    path.write_text("no store at all")
    assert "is no run store" in keep(session.built, run, 1 << 30)
    assert "done" in _outcome(Listener(), session.built, RunRequest(), Budgets())


def test_the_flag_of_the_server(path, monkeypatch):
    monkeypatch.setenv(KEEP_RUNS, "left over")
    keep_runs(argparse.Namespace(keep_runs=False))
    assert KEEP_RUNS not in os.environ
    keep_runs(argparse.Namespace(keep_runs=True))
    assert os.environ[KEEP_RUNS] == str(path)
    assert path.exists()
    path.write_text("no store at all")
    with pytest.raises(StoreError):
        keep_runs(argparse.Namespace(keep_runs=True))
