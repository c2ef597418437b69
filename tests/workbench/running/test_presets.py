"""Runs of every preset, one after the other."""

from __future__ import annotations

import pytest

from fuseloom_workbench.base.page_backend import backend_of
from fuseloom_workbench.running.presets import PresetRuns

from ..outcomes import outcome


@pytest.fixture
def backend(session, monkeypatch):
    """A page backend whose simulator answers at once, or as ``ends`` says."""
    backend = backend_of(session)
    backend.ends = {}

    def run(explain=False, events=False):
        name, built = session.built.preset_name, session.built
        backend.runner.param.update(running=True, failed=False, status="")
        failed, status = backend.ends.get(name, (False, "done"))
        if status == "done":
            session.finish(built, outcome(1_000, session=session))
        backend.runner.param.update(running=False, failed=failed, status=status)

    monkeypatch.setattr(backend, "run", run)
    return backend


@pytest.mark.deep  # takes seconds
def test_every_preset_is_run_and_the_design_is_as_before(backend, session):
    session.move_boundary(4, 3)
    said = []
    PresetRuns(backend, said.append).start()
    assert [run.name for run in session.records.values()] == list(session.presets)
    assert said[0] == "Running preset 1 of 4: unfused"
    assert said[-1] == "Every preset was run."
    assert session.cuts == (3,)
    assert session.record is None


def test_what_was_run_is_not_run_again(backend, session):
    session.finish(session.built, outcome(7, session=session))
    PresetRuns(backend, lambda said: None).start()
    assert len(session.records) == 4
    assert session.record.run.cycles == 7


def test_what_takes_long_is_left_out_and_said(backend, session, monkeypatch):
    monkeypatch.setattr(
        "fuseloom_workbench.state.machines.expected_seconds",
        lambda *_: 2000.0 if session.built.preset_name == "full" else 1.0,
    )
    said = []
    PresetRuns(backend, said.append).start()
    assert "full" not in {run.name for run in session.records.values()}
    assert said[-1].endswith("; full would take long: Run asks first.")


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("end", [(True, "the simulator stopped"), (False, "cancelled")])
def test_the_first_that_fails_or_is_cancelled_is_the_last(backend, session, end):
    backend.ends["C+S"] = end
    said = []
    runs = PresetRuns(backend, said.append)
    runs.start()
    assert [run.name for run in session.records.values()] == ["unfused"]
    assert said[-1] == "Running the presets has ended at C+S."
    backend.ends.clear()
    runs.start()
    assert len(session.records) == 4


def test_another_problem_ends_it(backend, session, monkeypatch):
    said = []
    runs = PresetRuns(backend, said.append)
    monkeypatch.setattr(backend, "run", lambda: backend.runner.param.update(running=True))
    runs.start()
    session.choose("spmm", "random")
    backend.runner.param.update(running=False, status="done")
    assert session.design.model == "spmm"
    assert said[-1].startswith("Running the presets has ended")


def test_a_program_of_ones_own_has_none(backend, session):
    session.set_program("A: 3x3 csr\nx: 3 dense\ny[i] = A[i,j] * x[j]\n")
    said = []
    PresetRuns(backend, said.append).start()
    assert said == ["This program has no presets: press Run."]
