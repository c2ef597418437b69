"""The machine that Run simulates: a preset, its channels' capacity, or one's own as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.state.commands import known


class MachinePanel(SessionComponent):
    """The choice of a machine; what the engine refuses is answered here.

    Examples
    --------
    >>> panel = MachinePanel()
    >>> panel.handle({"kind": "preset", "name": "hbm2"})
    >>> panel.session.machine.name
    'hbm2'
    """

    _esm = script("input/machine_panel")
    _stylesheets = [style("input/machine_panel")]
    topics = ("machine",)
    part = "machine"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "preset", "name": str(name)}:
                self.backend.ask("set_machine", name)
            case {"kind": "capacity", "tokens": str(text)}:
                self.backend.ask("set_capacity", text)
            case {"kind": "field", "path": str(path), "text": str(text)}:
                if known("set_machine_field", [path, text]):
                    self.backend.ask("set_machine_field", path, text)
            case {"kind": "apply", "text": str(text)}:
                self.backend.ask("set_machine", text)
