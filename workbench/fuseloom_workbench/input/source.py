"""What the data are, as plain data."""

from __future__ import annotations

from typing import Any

from fuseloom_workbench.state.session import Session


def label(session: Session) -> dict[str, Any]:
    """What the data are called, and where they are from."""
    loaded = session.built.loaded
    return {"standin": loaded.standin, "label": loaded.label, "origin": loaded.origin}
