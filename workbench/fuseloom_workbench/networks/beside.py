"""The same network on the dataflow machine, beside the nests of this CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class Beside(SessionComponent):
    """Simulated cycles, operations and bytes of the same contractions; the CPU's best times.

    Examples
    --------
    >>> from fuseloom_workbench.networks.asked import Asked
    >>> from fuseloom_workbench.networks.backend import NetworkDesk
    >>> backend = NetworkDesk(Asked.shipped("two-layer GCN"))
    >>> card = Beside(backend)
    >>> card.handle({"kind": "dataflow"})
    >>> backend.wait()
    >>> [row["name"] for row in card.view["rows"]]
    ['unfused', 'fused']
    >>> backend.close()
    """

    _esm = script("networks/units", "networks/beside")
    _stylesheets = [style("networks/beside")]
    part = "dataflow"

    def handle(self, request: Mapping[str, Any]) -> None:
        if request["kind"] == "dataflow":
            self.backend.ask("dataflow")
