"""A network and its contraction tree, drawn; the tree can be changed by dragging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class NetworkView(SessionComponent):
    """Operands with the indices they share, and the tree in which they are contracted.

    A node of the tree that is dragged on another is contracted with it first; by keys, ``m`` marks
    a node and ``Enter`` on another joins them, ``s`` exchanges the operands of a contraction.

    Examples
    --------
    >>> from fuseloom_workbench.networks.backend import NetworkDesk
    >>> backend = NetworkDesk()
    >>> backend.wait()
    >>> NetworkView(backend).view["text"]
    '(((A B) C) D)'
    >>> backend.close()
    """

    _esm = script("networks/network_view")
    _stylesheets = [style("networks/network_view")]
    part = "network"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "contract", "moved": list(moved), "beside": list(beside)}:
                self.backend.ask("contract", moved, beside)
            case {"kind": "swap", "place": list(place)}:
                self.backend.ask("swap", place)
