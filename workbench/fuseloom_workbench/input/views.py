"""The input of a design as plain data: machine, sizes, where the data are from, texts, files."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.machine import PRESETS
from fuseloom.dataflow.machine.text import UNBOUNDED, print_machine
from fuseloom.errors import FuseloomError
from fuseloom.models import PARAMETERS, parameters
from fuseloom.models.parameters import number_text
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.input.forms import fields
from fuseloom_workbench.state.files import Upload, fits
from fuseloom_workbench.state.machines import machine_label, machine_text
from fuseloom_workbench.state.session import Session

TAKES = (
    "Matrix Market, FROSTT .tns, lists of edges, Parquet, .npz, .npy, MLIR, a SAM graph (DOT), "
    "program text, a model (.fuseloom), or a saved session"
)
"""The kinds of files, in words."""


@page_part("machine")
def machine(session: Session) -> dict[str, Any]:
    """Return the machine's name, its parts, and its text."""
    chosen = session.machine
    label, tokens = machine_label(chosen), chosen.channel_capacity
    return {
        "presets": list(PRESETS),
        "chosen": label if label in PRESETS else "",
        "label": label,
        "about": machine_text(chosen),
        "capacity": UNBOUNDED if tokens is None else str(tokens),
        "text": print_machine(chosen),
        "groups": fields(chosen),
    }


@page_part("sizes")
def sizes(session: Session) -> dict[str, Any]:
    """One entry per number of the model, and a line of all; ``fixed`` says why it is no choice."""
    design, options = session.design, session.built.loaded.options
    declared = parameters(design.model, design.data) if design.model in PARAMETERS else ()
    free = {p.name: p for p in declared}
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


@page_part("label")
def label(session: Session) -> dict[str, Any]:
    """Return the name of the data, and their origin."""
    loaded = session.built.loaded
    return {"standin": loaded.standin, "label": loaded.label, "origin": loaded.origin}


@page_part("program")
def program(session: Session) -> dict[str, Any]:
    """The program, as the user wrote it or as it prints, and the kernels of its statements."""
    units = session.built.units
    return {
        "text": session.design.text or str(session.built.program),
        "kernels": {name: k for k, unit in enumerate(units) for name in unit.statements},
    }


@page_part("schedule")
def schedule(session: Session) -> dict[str, Any]:
    """The schedule, a directive per line."""
    return {"text": str(session.built.schedule).replace("; ", "\n")}


@page_part("checked")
def checked(session: Session) -> dict[str, Any]:
    """Return the faults of a text that is being written, and their positions."""
    return dict(session.checked)


def _used(session: Session, upload: Upload) -> bool:
    try:
        return fits(upload, session.built.loaded)
    except FuseloomError:  # the file was removed since
        return False


@page_part("upload")
def upload(session: Session) -> dict[str, Any]:
    """The file that came last, what the program takes, and which inputs come from files."""
    program, design = session.built.program, session.design
    return {
        "received": session.received,
        "waiting": bool(session.graph_text),
        "most": session.most_file,
        "takes": TAKES,
        "inputs": [
            {"name": name, "shape": "×".join(map(str, program.tensor(name).shape))}
            for name in program.given
        ],
        "bound": [
            {"tensor": u.tensor, "label": u.label, "used": _used(session, u)}
            for u in design.uploads
        ],
    }
