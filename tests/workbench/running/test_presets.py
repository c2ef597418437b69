"""Runs of every preset, one after the other."""

from __future__ import annotations

import pytest

from fuseloom_workbench.base.page_backend import backend_of
from fuseloom_workbench.running.presets import PresetRuns

from ..outcomes import outcome


@pytest.fixture
def desk(session, monkeypatch):
    """A desk whose simulator answers at once, or as ``ends`` says."""
    desk = backend_of(session)
    desk.ends = {}

    def run(explain=False, events=False):
        name, built = session.built.preset_name, session.built
        desk.runner.param.update(running=True, failed=False, status="")
        failed, status = desk.ends.get(name, (False, "done"))
        if status == "done":
            session.finish(built, outcome(1_000, session=session))
        desk.runner.param.update(running=False, failed=failed, status=status)

    monkeypatch.setattr(desk, "run", run)
    return desk


def test_every_preset_is_run_and_the_design_is_as_before(desk, session):
    session.move_boundary(4, 3)
    said = []
    PresetRuns(desk, said.append).start()
    assert [run.name for run in session.records.values()] == list(session.presets)
    assert said[0] == "Running preset 1 of 4: unfused"
    assert said[-1] == "Every preset was run."
    assert session.cuts == (3,)
    assert session.record is None


def test_what_was_run_is_not_run_again(desk, session):
    session.finish(session.built, outcome(7, session=session))
    PresetRuns(desk, lambda said: None).start()
    assert len(session.records) == 4
    assert session.record.run.cycles == 7


def test_what_takes_long_is_left_out_and_said(desk, session, monkeypatch):
    monkeypatch.setattr(
        "fuseloom_workbench.state.machines.expected_seconds",
        lambda *_: 2000.0 if session.built.preset_name == "full" else 1.0,
    )
    said = []
    PresetRuns(desk, said.append).start()
    assert "full" not in {run.name for run in session.records.values()}
    assert said[-1].endswith("; full would take long: Run asks first.")


@pytest.mark.parametrize("end", [(True, "the simulator stopped"), (False, "cancelled")])
def test_the_first_that_fails_or_is_cancelled_is_the_last(desk, session, end):
    desk.ends["C+S"] = end
    said = []
    runs = PresetRuns(desk, said.append)
    runs.start()
    assert [run.name for run in session.records.values()] == ["unfused"]
    assert said[-1] == "Running the presets has ended at C+S."
    desk.ends.clear()
    runs.start()
    assert len(session.records) == 4


def test_another_problem_ends_it(desk, session, monkeypatch):
    said = []
    runs = PresetRuns(desk, said.append)
    monkeypatch.setattr(desk, "run", lambda: desk.runner.param.update(running=True))
    runs.start()
    session.choose("spmm", "random")
    desk.runner.param.update(running=False, status="done")
    assert session.design.model == "spmm"
    assert said[-1].startswith("Running the presets has ended")


def test_a_program_of_ones_own_has_none(desk, session):
    session.set_program("A: 3x3 csr\nx: 3 dense\ny[i] = A[i,j] * x[j]\n")
    said = []
    PresetRuns(desk, said.append).start()
    assert said == ["This program has no presets: press Run."]
