"""The dataflow graph: pan, zoom, folding, search, heat, the critical path, comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.graph import search
from fuseloom_workbench.state.session import Session

_KEY = re.compile(r"(?:r(\d{1,6}))?n(\d{1,8})", re.ASCII)


class GraphView(SessionComponent):
    """The graph of the region shown, or of all regions, drawn by Graphviz in another process.

    While that draws, the old picture stays, dimmed; a drawing that has been overtaken by a newer
    one is dropped.  Kernels and regions fold to boxes, by themselves above 150 nodes.

    Examples
    --------
    >>> view = GraphView(Session("spmv"))
    >>> view.handle({"kind": "find", "text": "x"})
    >>> view.hits["what"], len(view.hits["keys"])
    ('tensor x', 6)
    """

    _esm = script("base/light", "graph/picture", "graph/heat", "graph/graph_view")
    _stylesheets = [style("graph/graph_view")]
    part = "graph"
    more = ("heat", "selection", "drawing")

    heat = param.Dict(
        {}, doc="Figures of nodes and streams, as fuseloom_workbench.graph.heat has them."
    )
    selected = param.String("", doc="Key of the selected node.")
    kernel = param.List([], doc="Statements of the selected kernel.")
    wanted = param.Dict({}, doc="What is to be drawn: key, nodes, lines, seconds, stopped.")
    hits = param.Dict({}, doc="What was found: text, what, keys.")
    busy = param.Boolean(False, doc="Whether a drawing is under way.")

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        params.setdefault("sizing_mode", "stretch_both")
        params.setdefault("min_height", 200)
        super().__init__(session, **params)

    @property
    def behind(self) -> bool:
        """True if the picture is that of another graph: its keys mean other nodes."""
        drawn, wanted = self.backend.part("graph"), self.backend.part("drawing")
        same = drawn is not None and wanted is not None and drawn["key"] == wanted["key"]
        return not same or drawn["size"] is None

    def refresh(self) -> None:
        changes = self.changes()
        wanted = self.backend.part("drawing") or {}
        drawn = self.backend.part("graph")
        changes["wanted"] = wanted
        if drawn is None or drawn["key"] != wanted.get("key"):
            # heat and selection of the new graph make no sense in the old picture
            changes.pop("drawn", None)
            changes["busy"] = not wanted.get("stopped", False)
            self._show(changes)
            return
        # figures first: the picture draws them
        self._show({"heat": self.backend.part("heat") or {}})
        if "drawn" in changes:
            self.hits = {}
        self._show(changes)
        self._show({"selected": self._selected(), "kernel": self._kernel(), "busy": False})

    def _show(self, changes: dict[str, Any]) -> None:
        self.param.update(**{k: v for k, v in changes.items() if getattr(self, k) != v})

    def _selected(self) -> str:
        node = (self.backend.part("selection") or {}).get("node", -1)
        return f"n{node}" if node >= 0 else ""

    def _kernel(self) -> list[str]:
        """Statements of the selected kernel; none where a node or a cell is selected."""
        chosen = self.backend.part("selection") or {}
        single = chosen.get("node", -1) >= 0 or any(chosen.get("cell", ()))
        return [] if single else chosen.get("statements", [])

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "select", "node": str(key)} if not self.behind:
                self._select(key)
            case {"kind": "find", "text": str(text)}:
                keys, what = search.hits(self.view.get("nodes", {}), text)
                self.hits = {"text": text, "what": what, "keys": keys}
            case {"kind": "fold", "group": str(group), "closed": bool(closed)}:
                self._fold({**self._folded(), group: closed}, group)
            case {"kind": "folds", "to": "auto"}:
                self.backend.ask("fold", {})
            case {"kind": "folds", "to": "open" | "kernel" | "region" as to}:
                self.backend.ask("fold", self._levels(to))
            case {"kind": "whole", "on": bool(on)}:
                self.backend.ask("draw_whole", on)
            case {"kind": "compare", "to": "" | "A" | "global" as to}:
                self.backend.ask("compare_graph", to)
            case {"kind": "clusters", "on": bool(on)}:
                self.backend.ask("draw_framed", on)
            case {"kind": "direction", "to": "LR" | "TB" as to}:
                self.backend.ask("draw_towards", to)
            case {"kind": "stop"}:
                self.backend.ask("stop_drawing", self.wanted.get("key", ""))
            case {"kind": "again"}:
                self.backend.ask("draw_again", self.wanted.get("key", ""))

    def _select(self, key: str) -> None:
        found = _KEY.fullmatch(key)
        if found is None:
            self.backend.ask("select_node", -1)
            return
        region, node = found.groups()
        if region is not None:
            self.backend.ask("select_region", int(region))
        self.backend.ask("select_node", int(node))

    def _groups(self) -> dict[str, list[Any]]:
        """Kernels and regions of what is to be drawn: level, and whether they are folded."""
        groups: dict[str, list[Any]] = self.wanted.get("groups", {})
        return groups

    def _folded(self) -> dict[str, bool]:
        """Return the current folding, from which a choice starts: then nothing folds by itself."""
        return {key: closed for key, (_, closed) in self._groups().items()}

    def _fold(self, folds: dict[str, bool], group: str) -> None:
        if group in self._groups():
            self.backend.ask("fold", folds)

    def _levels(self, to: str) -> dict[str, bool]:
        """Return the choice that folds everything to a level, by group."""
        return {key: to in ("region", level) for key, (level, _) in self._groups().items()}
