"""Questions about a schedule or a text: answered beside the design, which stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import FuseloomError, ScheduleError
from fuseloom.program import parse
from fuseloom.results.method import Budget
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.state import edits
from fuseloom_workbench.state.answered import digest
from fuseloom_workbench.state.design import BuiltDesign, build
from fuseloom_workbench.state.session import Session

if TYPE_CHECKING:
    from fuseloom.exploration.verdict import ScheduleVerdict


def why_not(session: Session, text: str, best: float, lanes: int, copies: int, kept: str) -> None:
    """Say why the design shown, or a schedule as text, is not the best that was found.

    Parameters
    ----------
    text : str
        Empty for the design shown.
    best : float
        Clock cycles of the best found; 0 if nothing was searched: then the best run counts.
    lanes, copies : int
        Budget of the search.
    kept : str
        Settings that held throughout it.
    """
    rival, shown = "the search", digest(session.configuration)
    if not best:
        runs = [r.run.cycles for r in session.records.values()
                if r.problem == session.built.problem and r.run.ok is not False]  # fmt: skip
        rival, best = "the runs of this page", float(min(runs, default=0))
    if not best:
        why = "Nothing to compare with yet: press Start search, or Run."
        session.verdict = {"fate": "unknown", "text": why, "of": text, "shown": shown}
    else:
        told = _verdict(session, text, best, lanes, copies, kept)
        session.verdict = {
            "fate": told.fate.value,
            "text": f"{told.text[0].upper()}{told.text[1:]}" + "." * (told.text[-1] not in ".)"),
            "best": count(best, "cycles"),
            "from": rival,
            "least": "" if told.least is None else count(told.least, "cycles"),
            "expected": "" if told.expected is None else count(told.expected, "cycles"),
            "cycles": "" if told.cycles is None else count(told.cycles, "cycles"),
            "outside": list(told.outside) if lanes else [],
            "searched": bool(lanes),
            "of": text,
            "shown": shown,
        }


def _verdict(
    session: Session, text: str, best: float, lanes: int, copies: int, kept: str
) -> ScheduleVerdict:
    # what the search needs is loaded when somebody asks
    from fuseloom.exploration.verdict import judged, outside, refused

    built = session.built
    try:
        if text:
            session.bounded(text)
            built = build(edits.with_schedule(session.design, text), built)
        base = Schedule.parse(kept)
    except FuseloomError as reason:
        return refused(str(reason), best)
    run = session.records.get(built.configuration)
    cycles = None if run is None else float(run.run.cycles)
    without = outside(built.compilation, base, Budget(max(lanes, 1), copies=copies))
    return judged(built.estimate, best, cycles, without)


def take_found(
    session: Session, problem: str, schedule: str, as_written: bool, machine: str = ""
) -> None:
    """Take over one of the schedules that a search has found, and the machine it was found for."""
    if problem != digest(session.built.problem):
        session.refuse(
            ScheduleError(
                "this was found for what is not shown any more", hint="go back, or search again"
            )
        )
        return
    told = "A schedule that the search found was taken over; Undo goes back."
    if machine:
        told = "A machine and its schedule that the search found were taken over; Undo goes back."
    session.take(session.built.problem, schedule, told, as_written, machine)


def take_design(session: Session, problem: str, machine: str, schedule: str) -> None:
    """Take over a machine that a search has found, and the schedule that is best on it."""
    take_found(session, problem, schedule, True, machine)


def map_pairs(session: Session, on: bool) -> None:
    """Map all pairs of moves of the design as it stands, or no more."""
    session.mapped = session.built if on else None


def mapped_design(session: Session) -> BuiltDesign | None:
    """The design whose pairs of moves are mapped; None if it is of another problem by now."""
    base: BuiltDesign | None = session.mapped
    return base if base is not None and base.problem == session.built.problem else None


def take_pair(session: Session, first: int, second: int) -> None:
    """Show the design that two moves make of the one that was mapped."""
    base = mapped_design(session)
    if base is None:
        reason = "no pairs of moves of this program, its data and the machine are mapped"
        session.refuse(ScheduleError(reason, hint="map them first, under Landscape"))
    else:
        session.edit(lambda: edits.with_pair_moved(base, first, second))


def check(session: Session, what: str, text: str, number: int) -> None:
    """Say what is wrong with a text that is being written, without taking it over."""
    found: dict[str, Any] = {"what": what, "number": number, "ok": True, "message": ""}
    try:
        session.bounded(text)
        if what == "program":
            parse(text)
        else:
            edits.with_schedule(session.design, text)
    except FuseloomError as reason:
        found |= {"ok": False, "message": str(reason)[:500], **_place(reason)}
    except RecursionError:
        found |= {"ok": False, "message": "this is nested too deeply: write it in parts"}
    session.checked = found


def _place(reason: FuseloomError) -> Mapping[str, int]:
    line = reason.line or 0
    return {"line": line, "column": (reason.column or 1) if line else 0}
