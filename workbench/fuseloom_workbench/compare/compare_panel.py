"""Two designs side by side: figures, schedules, and the same views of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend, backend_of
from fuseloom_workbench.compare.side_backend import SideBackend
from fuseloom_workbench.graph.graph_view import GraphView
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.table.table_grid import FusionTableGrid
from fuseloom_workbench.timeline.timeline import Timeline

HEIGHT = 420
"""Pixels of a graph or a timeline."""
VIEWS: Mapping[str, Callable[[PageBackend], Any]] = {
    "Tables": FusionTableGrid,
    "Graphs": lambda backend: GraphView(backend, sizing_mode="stretch_width", height=HEIGHT),
    "Timelines": lambda backend: Timeline(backend, sizing_mode="stretch_width", height=HEIGHT),
}
"""The views of which there is one for each design, by name."""


class ComparePanel(SessionComponent):
    """A choice of designs to compare with; figures, regions and schedule lines of both.

    Examples
    --------
    >>> panel = ComparePanel(Session("gcn", "karate"))
    >>> panel.handle({"kind": "compare", "with": "preset unfused"})
    >>> len(panel.view["sides"])
    2
    """

    _esm = script("compare/compare_panel")
    _stylesheets = [style("compare/compare_panel")]
    part = "compare"

    chosen = param.String("Schedules", doc="What is shown of both designs.")
    views = param.List(["Schedules", *VIEWS], doc="What can be shown of both designs.")

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "compare", "with": str(choice)}:
                self.backend.ask("compare", choice)
            case {"kind": "load"}:
                self.backend.ask("load_beside")
            case {"kind": "region", "side": "left", "number": int(number)}:
                self.backend.ask("look_beside", "select_region", [number])
            case {"kind": "region", "side": "right", "number": int(number)}:
                self.backend.ask("select_region", number)
            case {"kind": "show", "view": str(name)} if name in self.views:
                self.chosen = name


def comparison(session: Session | PageBackend | None = None) -> pn.Column:
    """The panel, and below it the chosen view of either design, made when it is first chosen."""
    backend = backend_of(session)
    panel, left = ComparePanel(backend), SideBackend(backend)
    below = pn.Column(sizing_mode="stretch_width", margin=0)
    made: dict[str, pn.Row] = {}

    def show(*_: Any) -> None:
        name = panel.chosen
        if not panel.view.get("sides"):  # nothing on the left: its views go
            made.clear()
            below.clear()
            return
        if name in VIEWS and name not in made:
            row = pn.Row(sizing_mode="stretch_width", margin=0, styles={"gap": "14px"})
            row.extend([_half(VIEWS[name](side)) for side in (left, backend)])
            made[name] = row
            below.append(row)
        for title, row in made.items():
            row.visible = title == name

    panel.param.watch(show, ["chosen", "drawn"])
    return pn.Column(panel, below, sizing_mode="stretch_width", margin=0)


def _half(view: Any) -> Any:
    view.styles = {"flex": "1 1 0", "min-width": "0"}
    return view
