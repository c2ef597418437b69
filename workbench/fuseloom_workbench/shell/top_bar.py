"""The line on top: undo and redo over every step, finding, sharing, saving, theme and keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.shell.finding import TAKEN


class TopBar(SessionComponent):
    """Steps so far with what each did to the cycles, and what is done with the whole design.

    Examples
    --------
    >>> bar = TopBar()
    >>> bar.handle({"kind": "undo"})
    >>> bar.session.message
    'nothing to undo'
    """

    _esm = script("base/header", "shell/palette", "shell/top_bar")
    _stylesheets = [style("base/header", "shell/top_bar")]
    part = "trail"

    pages = param.List(doc="The pages of the server: name, title, text.")

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "undo" | "redo" as name}:
                self.backend.ask(name)
            case {"kind": "travel", "by": int(steps)}:
                self.backend.ask("travel", steps)
            case {"kind": "take", "do": [str(name), *arguments]} if name in TAKEN:
                self.backend.ask(name, *arguments)
            case {"kind": "restore", "saved": dict(saved)}:
                self.backend.ask("restore", saved)
