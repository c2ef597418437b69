"""The dataflow graph of a region: pan, zoom, search, paths, heat."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import panel as pn
import param

from engine.samml.dot import to_dot
from workbench import layout
from workbench.assets import script, style
from workbench.child import ChildError
from workbench.component import SessionComponent
from workbench.drawing import edge_list, legend, node_key


class GraphView(SessionComponent):
    """The graph of the region shown, drawn by Graphviz in a worker process.

    While the worker draws, the old picture stays, dimmed; a drawing that has been overtaken by
    a newer one is dropped.
    """

    _esm = script("graph_view")
    _stylesheets = [style("graph_view")]

    heat = param.Dict({}, doc="Node key to share (0 to 1), by kind of heat.")
    selected = param.String("", doc="Key of the selected node.")
    busy = param.Boolean(False, doc="Whether a drawing is under way.")
    clusters = param.Boolean(False, doc="Whether nodes of one table column are framed.")
    direction = param.Selector(default="LR", objects=["LR", "TB"])

    def __init__(self, *args: Any, **params: Any) -> None:
        self._turn = 0
        self._drawn: str | None = None
        super().__init__(*args, **params)

    def _follow(self) -> None:
        watch = self.session.param.watch
        watch(lambda *_: self.redraw(), ["answers", "region"])
        watch(lambda *_: self._show_heat(), "records")
        watch(self._select, "node")
        self.param.watch(lambda *_: self.redraw(), ["clusters", "direction"])
        self.redraw()

    def redraw(self) -> None:
        """Draw the region shown, if its picture would differ."""
        graph = self.session.current.graph
        dot = to_dot(graph, clusters=self.clusters, rankdir=self.direction).source
        if dot == self._drawn:
            self._show_heat()
            return
        self._drawn = dot
        self._turn += 1
        self.busy = True
        pn.state.execute(self._draw)

    async def _draw(self) -> None:
        turn, dot = self._turn, self._drawn
        region = self.session.current
        try:
            picture, problem = await asyncio.to_thread(layout.svg, dot or ""), ""
        except ChildError as end:
            picture, problem = "", str(end)
        if turn != self._turn:
            return
        self.heat = self._heat()
        self.view = {
            "svg": picture,
            "problem": problem,
            "name": region.name,
            "direction": self.direction,
            "clusters": self.clusters,
            "edges": edge_list(region.graph),
            "labels": {
                node_key(n.id): n.label or n.op for n in region.graph.nodes if n.op != "broadcast"
            },
            "legend": legend(region.graph),
        }
        self.busy = False

    def _show_heat(self) -> None:
        if not self.busy:
            self.heat = self._heat()

    def _heat(self) -> dict[str, Any]:
        session = self.session
        record = session.record
        nodes = session.estimate.regions[session.region].nodes
        most = max((nodes[n.id].cycles for n in session.current.graph.nodes), default=0.0)
        expected = {
            node_key(n.id): nodes[n.id].cycles / most if most else 0.0
            for n in session.current.graph.nodes
        }
        busy = {}
        if record is not None:
            rows = record.regions[session.region].nodes
            busy = {node_key(n): row["busy_share"] for n, row in rows.items()}
        return {"expected": expected, "busy": busy}

    def _select(self, event: Any) -> None:
        self.selected = node_key(event.new) if event.new >= 0 else ""

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "select", "node": str(key)} if not self.busy:
                # while a drawing is under way, the old one's keys mean other nodes
                number = key.removeprefix("n")
                self.session.select_node(int(number) if number.isdecimal() else -1)
            case {"kind": "clusters", "on": bool(on)}:
                self.clusters = on
            case {"kind": "direction", "to": "LR" | "TB" as to}:
                self.direction = to
