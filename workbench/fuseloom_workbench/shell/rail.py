"""The rail: model and data, machine, presets, and the runs so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class Rail(SessionComponent):
    """The explored designs and runs; each run can be loaded, pinned as A, or forgotten.

    Examples
    --------
    >>> rail = Rail()
    >>> [preset["name"] for preset in rail.view["presets"]]
    ['unfused', 'C+S', 'partial', 'full']
    >>> rail.handle({"kind": "preset", "name": "full"})
    >>> [p["name"] for p in rail.view["presets"] if p["chosen"]]
    ['full']
    """

    _esm = script("shell/rail")
    _stylesheets = [style("shell/rail")]
    part = "rail"
    topics = ("fusion", "machine")

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "model", "name": str(name)}:
                self.backend.ask("choose", name)
            case {"kind": "data", "name": str(name)}:
                self.backend.ask("choose_data", name)
            case {"kind": "machine", "name": str(name)}:
                self.backend.ask("set_machine", name)
            case {"kind": "preset", "name": str(name)}:
                self.backend.ask("preset", name)
            case {"kind": "load", "number": int(number)}:
                self.backend.ask("recall", number)
            case {"kind": "pin", "number": int(number)}:
                self.backend.ask("pin", number)
            case {"kind": "forget", "number": int(number)}:
                self.backend.ask("forget", number)
