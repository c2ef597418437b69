"""The machine that Run simulates: a preset, its channels' capacity, or one's own as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.dataflow.sim.machine import PRESETS
from engine.dataflow.sim.machine_text import UNBOUNDED, print_machine
from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.machines import machine_label, machine_text


class MachinePanel(SessionComponent):
    """The choice of a machine; what the engine refuses is answered here.

    Examples
    --------
    >>> panel = MachinePanel()
    >>> panel.handle({"kind": "preset", "name": "hbm2"})
    >>> panel.session.machine.name
    'hbm2'
    """

    _esm = script("machine_panel")
    _stylesheets = [style("machine_panel")]
    topics = ("machine",)

    def make_view(self) -> dict[str, Any]:
        machine = self.session.machine
        label = machine_label(machine)
        tokens = machine.channel_capacity
        return {
            "presets": list(PRESETS),
            "chosen": label if label in PRESETS else "",
            "label": label,
            "about": machine_text(machine),
            "capacity": UNBOUNDED if tokens is None else str(tokens),
            "text": print_machine(machine),
        }

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "preset", "name": str(name)}:
                self.session.set_machine(name)
            case {"kind": "capacity", "tokens": str(text)}:
                self.session.set_capacity(text)
            case {"kind": "apply", "text": str(text)}:
                self.session.set_machine(text)
