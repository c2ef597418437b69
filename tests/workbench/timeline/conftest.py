"""Runs with events, one compared with another."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.events import files
from fuseloom.dataflow.sim.events.files import new_file
from fuseloom.dataflow.sim.explain.data import PAGE, observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom_workbench.state.records import KeptRun, source_of
from fuseloom_workbench.state.session import Session


def run(session: Session, *, events: bool = True) -> KeptRun:
    """Simulate what a session shows, as a worker does."""
    observe = observation(True, new_file() if events else None)
    made = simulate(session.compilation, session.built.data, session.machine, observe=observe)
    record = program_record(made, None, PAGE, source_of(session.built))
    return session.finish(session.built, record)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session that shows the run ``full`` over the pinned run ``partial``, both with events."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(files.ENVIRONMENT, str(tmp_path_factory.mktemp("cache")))
        session = Session("gcn", "karate")
        pinned = run(session)
        session.preset("full")
        run(session)
        session.pinned = pinned.configuration
        yield session
