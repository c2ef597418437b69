"""The dataflow graph of a region: pan, zoom, search, paths, heat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.drawing import node_key


class GraphView(SessionComponent):
    """The graph of the region shown, drawn by Graphviz in another process.

    While that draws, the old picture stays, dimmed; a drawing that has been overtaken by a newer
    one is dropped.
    """

    _esm = script("graph_view")
    _stylesheets = [style("graph_view")]
    part = "graph"
    more = ("heat", "selection")

    heat = param.Dict({}, doc="Node key to share (0 to 1), by kind of heat.")
    critical = param.Dict({}, doc="Node key to share of the critical path, and its edges.")
    selected = param.String("", doc="Key of the selected node.")
    busy = param.Boolean(False, doc="Whether a drawing is under way.")
    direction = param.Selector(default="LR", objects=["LR", "TB"])

    def refresh(self) -> None:
        changes = self.changes()
        if (self.desk.part("later") or {}).get("graph"):
            # heat and selection of the new graph make no sense in the old picture
            self.param.update(busy=True, status=changes.get("status", self.status))
            return
        drawn = changes.pop("drawn", None)
        heat = self.desk.part("heat") or {"heat": {}, "critical": {}}
        node = (self.desk.part("selection") or {}).get("node", -1)
        changes["direction"] = (self.desk.part("graph") or {}).get("direction", "LR")
        self.param.update(**{k: v for k, v in changes.items() if getattr(self, k) != v})
        if heat["heat"] != self.heat or heat["critical"] != self.critical:
            self.param.update(heat=heat["heat"], critical=heat["critical"])
        if drawn is not None:
            self.drawn = drawn
        self.selected = node_key(node) if node >= 0 else ""
        self.busy = False

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "select", "node": str(key)} if not self.busy:
                # while a drawing is under way, the old one's keys mean other nodes
                number = key.removeprefix("n")
                named = number.isascii() and number.isdecimal() and len(number) < 9
                self.desk.ask("select_node", int(number) if named else -1)
            case {"kind": "clusters", "on": bool(on)}:
                self.desk.ask("draw_framed", on)
            case {"kind": "direction", "to": "LR" | "TB" as to}:
                self.desk.ask("draw_towards", to)
