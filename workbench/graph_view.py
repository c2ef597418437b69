"""The dataflow graph of a region: pan, zoom, search, paths, heat."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import panel as pn
import param

from engine.dataflow.samml.dot import to_dot
from engine.results.record import RegionRecord
from workbench import layout
from workbench.assets import script, style
from workbench.child import ChildError
from workbench.component import SessionComponent
from workbench.drawing import edge_list, is_copy, legend, node_key
from workbench.records import ports_of

MEASURED = ("busy", "stall_input", "stall_output", "stall_memory")
"""Kinds of heat that a run measures."""


def measured_shares(region: RegionRecord, node: int) -> dict[str, float]:
    """What a node spent the elapsed cycles on; what its memory ports wait is added, up to all."""
    row = region.rows.get(node)
    if row is None:
        return {}
    waits = row["stall_memory"] + sum(p["stall_memory"] for p in ports_of(region, node))
    cycles = {kind: row[kind] for kind in MEASURED} | {"stall_memory": waits}
    return {kind: min(1.0, c / max(region.cycles, 1)) for kind, c in cycles.items()}


class GraphView(SessionComponent):
    """The graph of the region shown, drawn by Graphviz in a worker process.

    While the worker draws, the old picture stays, dimmed; a drawing that has been overtaken by
    a newer one is dropped.
    """

    _esm = script("graph_view")
    _stylesheets = [style("graph_view")]

    heat = param.Dict({}, doc="Node key to share (0 to 1), by kind of heat.")
    critical = param.Dict({}, doc="Node key to share of the critical path, and its edges.")
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
        self.param.update(heat=self._heat(), critical=self._critical())
        self.view = {
            "svg": picture,
            "problem": problem,
            "name": region.name,
            "direction": self.direction,
            "clusters": self.clusters,
            "edges": edge_list(region.graph),
            "labels": {
                node_key(n.id): n.label or n.op for n in region.graph.nodes if not is_copy(n)
            },
            "legend": legend(region.graph),
        }
        self.busy = False

    def _show_heat(self) -> None:
        if not self.busy:
            self.param.update(heat=self._heat(), critical=self._critical())

    def _heat(self) -> dict[str, Any]:
        session = self.session
        record = session.record
        nodes = session.estimate.regions[session.region].nodes
        most = max((nodes[n.id].cycles for n in session.current.graph.nodes), default=0.0)
        expected = {
            node_key(n.id): nodes[n.id].cycles / most if most else 0.0
            for n in session.current.graph.nodes
        }
        heat: dict[str, dict[str, float]] = {"expected": expected, **{k: {} for k in MEASURED}}
        if record is not None:
            region = record.run.regions[session.region]
            for node in session.current.graph.nodes:
                parts = measured_shares(region, node.id)
                for kind, share in parts.items():
                    heat[kind][node_key(node.id)] = share
        return heat

    def _critical(self) -> dict[str, Any]:
        session = self.session
        path = session.record.run.regions[session.region].path if session.record else None
        if path is None:
            return {}
        streams = {s.id for s in session.current.graph.streams}
        return {
            "nodes": {node_key(int(node)): share for node, share in path["shares"].items()},
            "edges": [f"e{s}" for s in path["streams"] if s in streams],
        }

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
