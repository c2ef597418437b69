"""The design that a session is compared with: a second session, beside the first.

It is only looked at: its regions, cells and nodes can be selected, its graph folded, its timeline
zoomed; to change it, it has to be loaded.  It is built when it is asked for, and again if what it
stands for changes: run A when another one is pinned, a preset with data or machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fuseloom.errors import FuseloomError
from fuseloom_workbench.state import edits
from fuseloom_workbench.state.design import Design, build
from fuseloom_workbench.state.look import Comparand
from fuseloom_workbench.state.session import Session

PINNED, BEFORE, NOTHING, USUAL = "A", "before", "", "usual"
"""Choices beside presets and runs; the last is what a visitor most likely compares with."""


class CompareChoice(NamedTuple):
    """A design to compare with: its key, and what people call it."""

    key: str
    name: str


def choices(session: Session) -> Iterator[CompareChoice]:
    """Every design that a session can be compared with: of the same program and data."""
    pinned = session.reference
    if pinned is not None and pinned.design.subject == session.design.subject:
        yield CompareChoice(PINNED, f"run A: {pinned.name}")
    steps, here = session.trail
    if here and steps[here - 1].design.subject == session.design.subject:
        yield CompareChoice(BEFORE, f"the step before: {steps[here - 1].name or 'a saved one'}")
    yield from (CompareChoice(f"preset {name}", f"preset {name}") for name in session.presets)
    for number, run in enumerate(session.records.values()):
        if run.design.subject == session.design.subject and run is not pinned:
            yield CompareChoice(f"run {number}", f"run {run.name}, on {run.machine}")


def compare(session: Session, key: str) -> None:
    """Compare with one of :func:`choices`, with the usual one, or with nothing."""
    offered = {choice.key: choice.name for choice in choices(session)}
    if key == USUAL:
        key = _usual(session, list(offered))
    if key in offered:
        stays = key == BEFORE or key.startswith("run ")  # these are counted, and counts change
        design = _design(session, key) if stays else None
        session.comparand = Comparand(key, offered[key], design, session.comparand.turn + 1)
    elif key == NOTHING:
        session.comparand = Comparand(turn=session.comparand.turn + 1)


def _usual(session: Session, offered: Sequence[str]) -> str:
    """Run A, or the step before, or the first preset that is not the design itself."""
    own = f"preset {session.built.preset_name}"
    return next((key for key in offered if key != own), NOTHING)


def _design(session: Session, key: str) -> Design | None:
    """The design of a choice; None if there is none by now."""
    kind, _, name = key.partition(" ")
    runs = list(session.records.values())
    match kind:
        case "A":
            return None if session.reference is None else session.reference.design
        case "before":
            steps, here = session.trail
            return steps[here - 1].design if here else None
        case "preset" if name in session.presets:
            return edits.with_schedule(session.design, session.presets[name])
        case "run" if name.isascii() and name.isdigit() and int(name) < len(runs):
            return runs[int(name)].design
    return None


def beside(session: Session) -> Session | None:
    """The session of the design compared with; None without one, or if it cannot be built.

    It shows the region that holds what the region shown begins with, until another is selected in
    it, and has the same runs.
    """
    wanted = session.comparand
    pinned = session.pinned if wanted.key == PINNED else ""
    about = wanted.key, wanted.design, pinned, session.built.problem
    known = vars(session).get("_beside")
    if known is None or known[0] != about:
        known = vars(session)["_beside"] = about, _made(session, wanted)
    other: Session | None = known[1]
    if other is not None:
        if other.records is not session.records:
            other.param.update(records=session.records, latest=other.record)
        _follow(other, session)
    return other


def _made(session: Session, wanted: Comparand) -> Session | None:
    try:
        design = wanted.design or _design(session, wanted.key)
        if design is None or design.subject != session.design.subject:
            return None
        built = build(design, session.built)
    except (FuseloomError, MemoryError):  # what is shown stays, with nothing beside it
        return None
    return Session(built=built, most_nodes=session.most_nodes, run_limit=session.run_limit)


def _follow(other: Session, session: Session) -> None:
    """Show the region that holds what the region shown of a session begins with."""
    here = (session.built.configuration, session.region)
    if vars(other).get("_followed") == here:
        return
    vars(other)["_followed"] = here
    first = session.current.region.statements[0].out.tensor
    for number, region in enumerate(other.regions):
        if first in {s.out.tensor for s in region.region.statements}:
            other.select_region(number)


def load_beside(session: Session) -> None:
    """Show the design compared with in the place of the one shown."""
    other = beside(session)
    if other is not None:
        session.edit(lambda: other.design)
