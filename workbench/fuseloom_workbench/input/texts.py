"""Program and schedule as text."""

from __future__ import annotations

from typing import Any

from fuseloom_workbench.state.session import Session


def program(session: Session) -> dict[str, Any]:
    """The program, as the user wrote it or as it prints."""
    return {"text": session.design.text or str(session.built.program)}


def schedule(session: Session) -> dict[str, Any]:
    """The schedule, a directive per line."""
    return {"text": str(session.built.schedule).replace("; ", "\n")}


def checked(session: Session) -> dict[str, Any]:
    """Return the faults of a text that is being written, and their positions."""
    return dict(session.checked)
