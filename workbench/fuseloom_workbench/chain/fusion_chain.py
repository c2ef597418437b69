"""The chain of kernels with the boundaries between fused regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class FusionChain(SessionComponent):
    """Kernels as boxes; drag, add and remove the boundaries between regions.

    Examples
    --------
    >>> chain = FusionChain()
    >>> [region["name"] for region in chain.view["regions"]]
    ['T1..H', 'T5..Y']
    >>> chain.handle({"kind": "move", "gap": 4, "to": 3})
    >>> [region["name"] for region in chain.view["regions"]]
    ['T1..T3', 'H..Y']
    """

    _esm = script("base/light", "chain/fusion_chain")
    topics = ("fusion",)
    _stylesheets = [style("chain/fusion_chain")]
    part = "chain"
    more = ("why", "prices", "selection")

    factors = param.Dict({}, doc="Tensor to how often it is computed, as text and in words.")

    chosen = param.List([], doc="Statements of what is selected anywhere.")
    prices = param.Dict({}, doc="Moves of boundaries, and what each is estimated to change.")

    def changes(self) -> dict[str, Any]:
        prices = self.backend.part("prices") or {}
        repeated = (self.backend.part("why") or {}).get("recomputed", [])
        factors = {
            one["tensor"]: [
                one["factor"],
                f"{one['made']} instead of {one['needed']} values",
            ]
            for one in repeated
        }
        changes = super().changes()
        if factors != self.factors:
            changes["factors"] = factors
        chosen = (self.backend.part("selection") or {}).get("statements", [])
        if chosen != self.chosen:
            changes["chosen"] = chosen
        if prices != self.prices:
            changes["prices"] = prices
        return changes

    def handle(self, request: Mapping[str, Any]) -> None:
        gap, to = request.get("gap"), request.get("to")
        match request["kind"]:
            case "move" if isinstance(gap, int) and isinstance(to, int):
                self.backend.ask("move_boundary", gap, to)
            case "add" if isinstance(gap, int):
                self.backend.ask("add_boundary", gap)
            case "remove" if isinstance(gap, int):
                self.backend.ask("remove_boundary", gap)
            case "kernel" if isinstance(request.get("number"), int):
                self.backend.ask("select_kernel", request["number"])
            case "show" if isinstance(request.get("region"), int):
                self.backend.ask("select_region", request["region"])
