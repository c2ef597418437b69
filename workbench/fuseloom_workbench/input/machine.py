"""The machine of a design, as plain data."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.machine import PRESETS
from fuseloom.dataflow.sim.machine_text import UNBOUNDED, print_machine
from fuseloom_workbench.input.forms import fields
from fuseloom_workbench.state.machines import machine_label, machine_text
from fuseloom_workbench.state.session import Session


def view(session: Session) -> dict[str, Any]:
    """Return the machine's name, its parts, and its text."""
    machine = session.machine
    label = machine_label(machine)
    tokens = machine.channel_capacity
    return {
        "presets": list(PRESETS),
        "chosen": label if label in PRESETS else "",
        "label": label,
        "about": machine_text(machine),
        "capacity": UNBOUNDED if tokens is None else str(tokens),
        "text": print_machine(machine),
        "groups": fields(machine),
    }
