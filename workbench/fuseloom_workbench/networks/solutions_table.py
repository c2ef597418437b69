"""All nests of a network in one table: what they are expected to take, and what they took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class SolutionsTable(SessionComponent):
    """The nests, the best first; a row is chosen to be looked at, or measured.

    Examples
    --------
    >>> from fuseloom_workbench.networks.asked import Asked
    >>> from fuseloom_workbench.networks.backend import NetworkDesk
    >>> backend = NetworkDesk(Asked.shipped("MTTKRP"))
    >>> backend.wait()
    >>> sorted(SolutionsTable(backend).view["ways"])
    ['fused', 'n-ary', 'unfused']
    >>> backend.close()
    """

    _esm = script("networks/units", "networks/solutions_table")
    _stylesheets = [style("networks/solutions_table")]
    part = "solutions"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "look" | "measure" as what, "number": int(number)}:
                self.backend.ask(what, number)
