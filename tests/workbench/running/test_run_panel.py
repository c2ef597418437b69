"""The panel that runs: what is asked before, and what stands there after."""

from __future__ import annotations

import pytest

from fuseloom_workbench.running.run_panel import RunPanel
from fuseloom_workbench.state.session import Session
from tests.workbench.jobs import alone

from ..outcomes import outcome


@pytest.mark.deep  # takes seconds
def test_the_panel_keeps_the_record():
    session = Session("spmm", "random")
    panel = RunPanel(session)
    alone(lambda: panel.handle({"kind": "run"}))
    assert session.record is not None, panel.runner.status
    assert session.record.run.ok
    assert panel.view["result"]["cycles"].endswith(" cycles")


def test_the_run_panel_marks_stale_results(session):
    panel = RunPanel(session)
    assert panel.view["result"] == {}
    session.finish(session.built, outcome(12_345, session=session))
    result = panel.view["result"]
    assert result["cycles"] == "12,345 cycles"
    assert result["badge"] == "matches the dense reference (max. rel. error 3e-7)"
    assert not result["stale"]
    session.add_boundary(1)
    result = panel.view["result"]
    assert result["stale"]
    assert result["change"] == "+5,177 cycles against partial, 0.73× the speed"
    assert result["slower"]
    session.finish(session.built, outcome(7, ok=False, session=session))
    assert panel.view["result"]["verdict"].startswith("MISMATCH: stored coordinates")


def test_a_run_of_another_program_is_not_shown(session):
    panel = RunPanel(session)
    session.finish(session.built, outcome(12_345, session=session))
    session.set_machine("hbm2")
    assert panel.view["result"]["stale"], "of the same program, on another machine"
    session.choose("spmv")
    assert panel.view["result"] == {}


def test_a_long_run_is_asked_about_first(session, monkeypatch):
    monkeypatch.setattr("fuseloom_workbench.state.machines.expected_seconds", lambda *_: 2000.0)
    panel = RunPanel(session)
    panel.handle({"kind": "run"})
    assert not panel.runner.running
    assert panel.view["asking"].startswith("This may take about 33 minutes, more than the limit")
    session.preset("full")
    assert panel.view["asking"] == ""  # another design is another question
    panel.handle({"kind": "run"})
    assert panel.view["asking"]
    panel.handle({"kind": "leave"})
    assert panel.view["asking"] == ""


def test_a_failure_is_told_until_the_design_changes(session):
    panel = RunPanel(session)
    panel.runner.param.update(running=True, failed=False, status="starting the simulator")
    session.preset("full")  # while it runs: the failure is told all the same
    panel.runner.param.update(running=False, failed=True, status="a stream ended too early")
    assert panel.view["failed"]
    assert panel.view["status"] == "a stream ended too early"
    session.preset("unfused")
    assert not panel.view["failed"]
    assert panel.view["status"] == ""
    panel.runner.param.update(running=False, failed=False, status="cancelled")
    panel.runner.param.update(running=True)
    panel.runner.param.update(running=False, status="cancelled")
    assert panel.view["cancelled"]
    session.undo()
    assert not panel.view["cancelled"]
