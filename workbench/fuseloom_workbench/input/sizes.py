"""The parameters of a model, as plain data: sizes and densities, and who decides them."""

from __future__ import annotations

from typing import Any

from fuseloom.models import parameters
from fuseloom.models.parameters import number_text
from fuseloom_workbench.state.session import Session


def view(session: Session) -> dict[str, Any]:
    """One entry per number of the model, and a line of all; ``fixed`` says why it is no choice."""
    design, options = session.design, session.built.loaded.options
    free = {p.name: p for p in parameters(design.model, design.data)}
    why = "the program was edited: its text has the sizes" if design.text is not None else ""
    entries = []
    for name, value in options.items():
        parameter = free.get(name)
        entries.append(
            {
                "name": name,
                "value": f"{value:.10g}" if isinstance(value, float) else str(value),
                "own": number_text(parameter.default) if parameter else "",
                "help": parameter.help if parameter else "",
                "bounds": parameter.bounds if parameter else "",
                "fixed": why if parameter else "decided by the data",
            }
        )
    return {
        "entries": entries,
        "line": ", ".join(f"{name} {number_text(value)}" for name, value in options.items()),
        "chosen": [name for name, _ in design.options],
    }
