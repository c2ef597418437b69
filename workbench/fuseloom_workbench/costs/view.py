"""Every configuration that was run, here or by others who kept it, as plain data.

:func:`costs` changes with the runs there are, :func:`look` with what is looked at: so a page is
sent the runs once, and only a few letters at each change of the design.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuseloom_workbench.base.palette import RUN_KINDS
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.costs.choices import chosen, settings_of, with_cuts
from fuseloom_workbench.costs.importance import LEAST, importance
from fuseloom_workbench.costs.points import Point, ProblemScope, fingerprint, kept_point, own_point
from fuseloom_workbench.state.machines import machine_label
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.shared import FASTEST, LATEST, SharedRun, StoredRuns


@page_part("costs")
def costs(session: Session) -> dict[str, Any]:
    """A point per run, the session's own in their order, then those of the store."""
    others = sorted(session.others, key=lambda run: (run.cycles, -run.changed))
    shared = _shared_here(session)
    return {
        "kinds": {name: kind._asdict() for name, kind in RUN_KINDS.items()},
        "runs": [*_own(session), *_kept(session, others)],
        "note": _note(session, len(others)),
        "trouble": shared.trouble,
        "importance": _importance(session, others),
    }


@page_part("costs_look")
def look(session: Session) -> dict[str, Any]:
    """Which run is the design's own, which is pinned as A, and which problem is shown."""
    built = session.built
    current = _place(session, session.configuration)
    if not current:
        runs = (r for r in session.others if not r.engine and r.schedule == built.resolved)
        found = next(runs, None)
        current = "" if found is None else f"kept:{found.key}"
    return {
        "current": current,
        "pinned": _place(session, session.pinned),
        "problem": fingerprint(built.problem),
    }


def _place(session: Session, configuration: str) -> str:
    """A run of the session, by the name that the page knows it by."""
    numbers = (k for k, known in enumerate(session.records) if known == configuration)
    number = next(numbers, None)
    return "" if number is None else f"run:{number}"


def _own(session: Session) -> Iterator[Point]:
    for number, record in enumerate(session.records.values()):
        yield own_point(number, record, session.unfused_cycles(record.problem))


def _kept(session: Session, runs: list[SharedRun]) -> Iterator[Point]:
    if not runs:
        return
    built, refusals = session.built, session.judged.refused
    place = ProblemScope.of(built)
    base = session.unfused_cycles(built.problem)
    for run in runs:
        point = kept_point(run, session.name_of(run), place, session.estimated_of(run), base)
        if refused := refusals.get(run.key, ""):
            point["refused"] = f"this engine does not take its schedule: {refused}"
        yield point


def _shared_here(session: Session) -> StoredRuns:
    shared: StoredRuns = session.shared
    return shared if shared.problem == session.built.problem else StoredRuns()


def _note(session: Session, shown: int) -> str:
    """Return a note on the part of the store that is shown."""
    total = _shared_here(session).total
    if total <= LATEST:
        return ""
    return (
        f"showing {shown:,} of {total:,} kept runs: the last {LATEST} and the {FASTEST} of the "
        "fewest cycles, a schedule once; fuseloom runs list has all"
    )


def _importance(session: Session, others: list[SharedRun]) -> dict[str, Any]:
    """Return the importance of each choice for the model and data shown, on any machine.

    Runs that are known to be wrong are left out, and those of other versions of the engine.
    """
    subject = session.design.subject
    runs = []
    for record in session.records.values():
        if record.run.ok and record.design.subject == subject:
            values = chosen(record.run.regions, record.design.settings, record.machine)
            runs.append((float(record.run.cycles), values, record.run.regions))
    machine = machine_label(session.machine)
    for run in others:
        if run.engine or run.run is None or not run.run.ok:
            continue
        settings = settings_of(run.schedule)
        if settings is not None:
            values = chosen(run.run.regions, settings, machine)
            runs.append((float(run.cycles), values, run.run.regions))
    names = {
        statement: unit.name if place == 0 else statement
        for unit in session.built.units
        for place, statement in enumerate(unit.statements)
    }
    shares = importance(with_cuts(runs, names))
    return {"runs": len(runs), "least": LEAST, "shares": [share.to_dict() for share in shares]}
