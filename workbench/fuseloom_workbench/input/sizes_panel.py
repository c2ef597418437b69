"""Sizes and densities of the model: what the command line takes as ``--with``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class SizesPanel(SessionComponent):
    """A form of the model's numbers; what the engine refuses is answered here.

    Examples
    --------
    >>> panel = SizesPanel()
    >>> panel.handle({"kind": "use", "values": {"hidden": "8"}})
    >>> panel.session.design.options
    (('hidden', 8),)
    """

    _esm = script("input/sizes_panel")
    _stylesheets = [style("input/sizes_panel")]
    topics = ("sizes",)
    part = "sizes"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "use", "values": dict(values)}:
                self.backend.ask("set_options", values)
            case {"kind": "own"}:
                self.backend.ask("set_options", {})
