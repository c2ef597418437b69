"""The last answer, and what is selected."""

from __future__ import annotations

from typing import Any

from fuseloom_workbench.state.session import Session


def view(session: Session) -> dict[str, Any]:
    """Return the result of the last request: its success, topic and messages."""
    return {
        "ok": session.ok,
        "topic": session.topic,
        "message": session.message,
        "summary": session.summary,
        "place": list(session.place),
        "ways": [way.text for way in session.ways],
        "answers": session.answers,
    }


def selection(session: Session) -> dict[str, Any]:
    """The region shown, and the cell and node selected in it."""
    return {"region": session.region, "cell": list(session.cell), "node": session.node}
