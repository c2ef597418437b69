"""Files that came from the page, as plain data."""

from __future__ import annotations

from typing import Any

from fuseloom.errors import FuseloomError
from fuseloom_workbench.state.files import Upload, fits
from fuseloom_workbench.state.session import Session


def _used(session: Session, upload: Upload) -> bool:
    try:
        return fits(upload, session.built.loaded)
    except FuseloomError:  # the file was removed since
        return False


def view(session: Session) -> dict[str, Any]:
    """The file that came last, what the program takes, and which inputs come from files."""
    program, design = session.built.program, session.design
    return {
        "received": session.received,
        "waiting": bool(session.graph_text),
        "most": session.most_file,
        "inputs": [
            {"name": name, "shape": "×".join(map(str, program.tensor(name).shape))}
            for name in program.given
        ],
        "bound": [
            {"tensor": u.tensor, "label": u.label, "used": _used(session, u)}
            for u in design.uploads
        ],
    }
