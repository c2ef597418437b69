"""Sessions of which everything was found: the GCN fused whole, with its layers' run pinned."""

from __future__ import annotations

from functools import cache

from fuseloom.dataflow.sim.explain.data import PAGE, observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.results.record import RunRecord
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.why import finding
from fuseloom_workbench.why.finding import Findings


@cache
def _ran(preset: str) -> RunRecord:
    session = Session("gcn", "karate")
    session.preset(preset)
    return run_of(session)


def run_of(session: Session) -> RunRecord:
    built = session.built
    run = simulate(
        built.compilation,
        built.data,
        session.machine,
        observe=observation(True),
    )
    return program_record(run, run.check(), PAGE)


def fused(session: Session | None = None) -> Session:
    """The full fusion with its run, compared with that of the layers; in a session of GCN's."""
    session = session or Session("gcn", "karate")
    session.finish(session.built, _ran("partial"))
    session.pin(0)
    session.preset("full")
    session.finish(session.built, _ran("full"))
    return session


@cache
def found() -> Findings:
    """Return the findings about :func:`fused`."""
    return looked(fused())


def looked(session: Session) -> Findings:
    """All that is found of a session."""
    *_, last = finding.find(session)
    return last
