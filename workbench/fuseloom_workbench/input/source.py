"""The source of the data, as plain data."""

from __future__ import annotations

from typing import Any

from fuseloom_workbench.state.session import Session


def label(session: Session) -> dict[str, Any]:
    """Return the name of the data, and their origin."""
    loaded = session.built.loaded
    return {"standin": loaded.standin, "label": loaded.label, "origin": loaded.origin}
