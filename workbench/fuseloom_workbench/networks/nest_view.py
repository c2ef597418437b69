"""One loop nest: its loops with brackets where contractions share them, workspaces, code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class NestView(SessionComponent):
    """The chosen nest.

    Examples
    --------
    >>> from fuseloom_workbench.networks.asked import Asked
    >>> from fuseloom_workbench.networks.backend import NetworkDesk
    >>> backend = NetworkDesk(Asked.shipped("MTTKRP"))
    >>> backend.wait()
    >>> NestView(backend).view["lines"][0]["kind"]
    'for'
    >>> backend.close()
    """

    _esm = script("networks/units", "networks/nest_view")
    _stylesheets = [style("networks/nest_view")]
    part = "nest"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "code", "number": int(number)}:
                self.backend.ask("code", number)
