"""Recent runs on the home page: what they say, and that an address opens the same run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlparse

import pytest

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.exploration.store import Outcome, RunStore, StoredRun, data_hash
from fuseloom.exploration.store.runs import RunLabel
from fuseloom.exploration.sweep.plan import run_identity
from fuseloom_workbench.serving.home import home
from fuseloom_workbench.serving.recent_runs import MOST, recent_runs, run_address
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session
from tests.exploration.store.samples import LABEL, identity, outcome, record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


def stored(path: Path, model: str, schedule: str, **sizes: int) -> StoredRun:
    """A run of a model, kept."""
    made, data = fl.load(model, **sizes)
    compiled = fl.compile(made.program, schedule)
    machine = Machine.default()
    mine = run_identity(made.program, str(compiled.resolved), data_hash(data), machine)
    shown = RunLabel(model, {"gcn": "karate"}.get(model, "random"), machine.name)
    with RunStore(path) as store:
        store.put(mine, Outcome.of(record(3)), shown)
        found = store.get(mine.key)
    assert found is not None
    return found


def opened(address: str) -> Session:
    session = Session("spmv", "random")
    for name, *arguments in requests_of(dict(parse_qsl(urlparse(address).query, True))):
        carry_out(session, name, arguments)
        assert session.ok, session.message
    return session


@pytest.mark.parametrize(
    ("model", "schedule", "sizes"),
    [
        ("gcn", "fuse T1..H; fuse T5..Y", {}),
        ("gcn", "", {}),
        ("spmm", "", {}),
        ("spmv", "", {"rows": 12}),
    ],
)
def test_an_address_opens_the_same_run(path, model, schedule, sizes):
    run = stored(path, model, schedule, **sizes)
    session = opened(run_address(run))
    assert str(session.built.program) == run.identity.program
    assert session.built.resolved == run.identity.schedule
    assert session.machine.fingerprint == run.identity.machine
    assert (session.design.text is None) == (not sizes)


def test_what_no_address_has_has_none(path):
    run = stored(path, "spmv", "")
    assert run_address(run)
    for label in (
        RunLabel("mine", "random", "default"),
        RunLabel("spmv", "cora", "default"),
        RunLabel("spmv", "random", "default, but faster"),
        RunLabel("spmv", "random (stand-in, seed 7)", "default"),
        RunLabel("spmv", "../random", "default"),
    ):
        assert not run_address(replace(run, label=label))
    for other in (
        {"machine": "0" * 16}, {"settings": {"capacity": "sized"}}, {"program": ""},
        {"program": "#" * 9_000},
    ):  # fmt: skip
        assert not run_address(replace(run, identity=replace(run.identity, **other)))


def test_the_latest_are_shown_and_nothing_is_html(path):
    with RunStore(path) as store:
        for number in range(20):
            name = "<script>alert(1)</script>" if number == 16 else f"run{number}"
            store.put(identity(number), outcome(number), replace(LABEL, name=name))
    text = recent_runs(path)
    assert text.count("<li>") == MOST
    assert "run19</b>" in text
    assert "119 cycles" in text
    assert "run5<" not in text
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert text in home(("explorer",), text)
    assert "Recent runs" not in home(("explorer",))


def test_an_empty_store_shows_nothing_and_a_broken_one_says_so(path):
    RunStore(path).close()
    assert recent_runs(path) == ""
    path.write_bytes(b"no store " * 300)
    assert "They cannot be read" in recent_runs(path)


def test_what_was_measured_is_a_time(path):
    run = stored(path, "spmv", "")
    with RunStore(path) as store:
        mine = replace(run.identity, machine="a" * 64, schedule="calls, tuned")
        store.put(mine, Outcome.of(record(3)), RunLabel("mttkrp", "random", "CPU x, 1 ns cycles"))
    assert "mttkrp</b> on random: 103 ns" in recent_runs(path)
