"""Components without a browser."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.explain.data import PAGE, observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom_workbench.state.records import source_of
from fuseloom_workbench.state.session import Session


@pytest.fixture
def session() -> Session:
    return Session("gcn", "karate")


@pytest.fixture(scope="session")
def explained() -> Session:
    """A session with an explained run on hbm2; tests only look at it."""
    session = Session("gcn", "karate", machine=Machine.preset("hbm2"))
    run = simulate(
        session.compilation, session.built.data, session.machine, observe=observation(True)
    )
    session.finish(session.built, program_record(run, run.check(), PAGE, source_of(session.built)))
    return session


@pytest.fixture
def run_once(explained: Session) -> Session:
    """A session of one's own with the explained run."""
    session = Session("gcn", "karate", machine=Machine.preset("hbm2"))
    session.keep(explained.record)
    return session
