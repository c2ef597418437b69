"""From the explorer to the page of all systems: program, data and schedule as an address."""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine
from fuseloom.models.parameters import number_text
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.sources import ARCHIVED
from fuseloom_workbench.systems.asked import SystemsQuestion, address

BY_COMMAND = "save its text as {name}.loom, and run fuseloom compare {name}.loom"


def to_compare(session: Session) -> dict[str, str]:
    """An address of the page of all systems with what a session shows, and what it lacks, in words.

    The address is empty where the design does not fit into one; the words then are a way out.

    Examples
    --------
    >>> made = to_compare(Session("gcn", "karate"))
    >>> made["address"]
    'compare?model=gcn&seed=0&data=karate&schedule=fuse+T1..H%3B+fuse+T5..Y'
    >>> made["lacks"]
    ''
    """
    design, built = session.design, session.built
    if ARCHIVED.fullmatch(design.model):
        told = "The model came in a file, which no address holds: run fuseloom compare on this file"
        return {"address": "", "lacks": told}
    preset = built.model.presets.get(built.preset_name)
    asked = SystemsQuestion(
        design.model,
        design.text or "",
        design.seed,
        design.data,
        tuple((name, number_text(value)) for name, value in design.options),
        str(built.schedule) if preset is None else preset,
    )
    query = address(asked)
    if not query:
        by_command = BY_COMMAND.format(name=built.program.name)
        return {"address": "", "lacks": f"The program is too long for an address: {by_command}"}
    lacks = []
    if design.uploads:
        names = ", ".join(upload.tensor for upload in design.uploads)
        lacks.append(f"without the values from files of {names}")
    if design.machine != Machine.default():
        lacks.append("on the default machine")
    return {"address": f"compare?{query}", "lacks": ", ".join(lacks)}
