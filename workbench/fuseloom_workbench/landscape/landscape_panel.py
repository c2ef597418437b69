"""The map of all pairs of moves of fusion boundaries, with what has a name marked on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class LandscapePanel(SessionComponent):
    """Estimated cycles after any one or two moves, as a heat map made on demand.

    A click on a place makes both moves; Undo goes back.

    Examples
    --------
    >>> panel = LandscapePanel()
    >>> panel.view["mapped"], panel.view["total"]
    (False, 28)
    """

    _esm = script("landscape/landscape_panel")
    _stylesheets = [style("landscape/landscape_panel")]
    part = "landscape"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "map", "on": bool(on)}:
                self.backend.ask("map_pairs", on)
            case {"kind": "take", "gaps": [int(first), int(second)]}:
                self.backend.ask("take_pair", first, second)
