"""The causes of a run's cycles, the recomputed results, and the differences from run A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class WhyPanel(SessionComponent):
    """A table of what is computed again, changes, a flame view, and the difference to run A."""

    _esm = script("why/why_panel")
    _stylesheets = [style("why/why_panel")]
    part = "why"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "apply", "text": str(text)}:
                self.backend.ask("apply_suggestion", text)
            case {"kind": "select", "region": int(region), "node": int(node)}:
                self.backend.ask("select_region", region)
                self.backend.ask("select_node", node)
            case {"kind": "select", "region": int(region)}:
                self.backend.ask("select_region", region)
