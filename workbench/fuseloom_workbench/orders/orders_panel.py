"""The dataflow orders of a region: their number, and the cheapest of their graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class OrdersPanel(SessionComponent):
    """Legal orders of the region shown, one per graph they give, ranked by estimated cycles.

    Only the first :data:`fuseloom_workbench.orders.view.LIMIT` nest classes are estimated, and the
    panel says so; dragging the table's rows reaches all others.
    """

    _esm = script("orders/orders_panel")
    _stylesheets = [style("orders/orders_panel")]
    part = "orders"
    more = ("selection",)

    def handle(self, request: Mapping[str, Any]) -> None:
        order = request.get("order")
        if request["kind"] == "choose" and isinstance(order, list):
            region = (self.backend.part("selection") or {}).get("region", 0)
            self.backend.ask("set_order", region, [str(x) for x in order])
