"""The last result and what a run may take, as plain data."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from fuseloom.results.check import TOLERANCE
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import (
    about,
    change,
    count,
    ratio,
    scientific,
    seconds,
    short,
    signed,
)
from fuseloom_workbench.state import machines
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session


@page_part("run")
def view(session: Session) -> dict[str, Any]:
    """The result bar: the run of this design, or one of another; and the length of a run.

    A run of another design is shown beside the estimate of this one; of another program, not.
    """
    record = session.record
    shown = record or session.latest
    if shown is not None and shown.design.subject != session.design.subject:
        shown = None
    result: dict[str, Any] = {}
    if shown is not None:
        run, base = shown.run, session.unfused_cycles(shown.problem)
        error = f"max. rel. error {scientific(shown.max_rel_error)}"
        result = {
            "name": shown.name,
            "cycles": count(run.cycles, "cycles"),
            "estimate": count(shown.estimated, "cycles"),
            "off": signed(shown.estimated / run.cycles - 1) if run.cycles else "",
            "ok": None if run.check is None else run.ok,
            "badge": _badge(shown, error),
            "verdict": shown.verdict,
            "stale": record is None,
            "took": seconds(run.seconds),
            "kept": record is not None and record.configuration not in session.records,
            "speedup": ratio(base / run.cycles) if base and run.cycles else "",
            **_compared(session, shown),
            "work": f"{count(run.flops, 'FLOPs')} · {count(run.bytes, 'bytes')}",
            "machine": shown.machine,
            "standin": shown.standin,
            **({} if record is not None else _changed(session, shown)),
        }
    return {
        "configuration": fingerprint(session.configuration),
        "question": _question(session) if expected(session) > machines.PATIENCE else "",
        "done": record is not None,
        "finished": session.finished,
        "estimate": count(session.estimate.cycles, "cycles"),
        "result": result,
    }


def _changed(session: Session, shown: KeptRun) -> dict[str, Any]:
    """The design beside the run before, estimate against estimate."""
    mine, theirs = session.estimate.cycles, shown.estimated
    more = round(mine) - round(theirs)
    text = change(more, "cycles") if more else "as many cycles"
    factor = f", {ratio(theirs / mine)} the speed" if more and mine and theirs else ""
    return {"change": f"{text} against {shown.name}{factor}", "slower": more > 0}


def _badge(shown: KeptRun, error: str) -> str:
    """The verdict in a few words."""
    check = shown.run.check
    if check is None or (check.ok and (check.rows or check.unchecked)):
        return shown.verdict
    verb = "matches" if check.ok else "differs from"
    small = not check.ok and check.max_rel_error <= TOLERANCE  # other coordinates are stored
    return f"{verb} {check.against.value}" + ("" if small else f" ({error})")


def _compared(session: Session, shown: KeptRun) -> dict[str, Any]:
    """The run against run A, in words; nothing without one, or for another problem."""
    pinned = session.reference
    if pinned is None or not pinned.run.ok or pinned.problem != shown.problem or pinned is shown:
        return {"compared": "", "slower": False}
    ours, theirs = shown.run.cycles, pinned.run.cycles
    if ours == theirs:
        return {"compared": f"as fast as A ({pinned.name})", "slower": False}
    if not ours or not theirs:
        return {"compared": "", "slower": False}
    slower = ours > theirs
    times = ratio(max(ours, theirs) / min(ours, theirs))
    word = "slower" if slower else "faster"
    return {"compared": f"{times} {word} than A ({pinned.name})", "slower": slower}


def fingerprint(text: str) -> str:
    """A short name for a long text."""
    return sha256(text.encode()).hexdigest()[:16]


def expected(session: Session) -> float:
    """Seconds that a run of the current configuration may take, very roughly."""
    tokens = session.built.tokens
    return machines.expected_seconds(tokens, session.machine, tokens <= machines.SMALL)


def _question(session: Session) -> str:
    takes = about(expected(session))
    if expected(session) > session.run_limit:
        takes += f", more than the limit of {about(session.run_limit)} for a run here"
    tokens = short(session.built.tokens, "tokens")
    return f"This may take {takes}: the estimate expects {tokens} to simulate."
