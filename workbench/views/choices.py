"""What the toolbar offers, and what is chosen there."""

from __future__ import annotations

from typing import Any

from workbench.session import Session
from workbench.sources import fitting_data, model_names

OWN = "yours"
"""What the choice of presets shows for a design that is none."""


def view(session: Session) -> dict[str, Any]:
    """Models, data sets, presets; whether there is something to undo and to redo."""
    design, name = session.design, session.built.preset_name
    fitting = fitting_data(design.model)
    return {
        "model": design.model,
        "models": list(model_names()),
        "data": design.data,
        "datas": list(fitting) if design.data in fitting else [*fitting, design.data],
        "preset": name or OWN,
        # the user's own design is a choice while it is none of the presets
        "presets": [*session.presets, *([] if name else [OWN])],
        "undo": session.travels[0],
        "redo": session.travels[1],
    }


def label(session: Session) -> dict[str, Any]:
    """What the data are called, and where they are from."""
    loaded = session.built.loaded
    return {"standin": loaded.standin, "label": loaded.label, "origin": loaded.origin}
