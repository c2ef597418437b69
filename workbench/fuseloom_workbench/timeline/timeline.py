"""The activity of every node of a run over time, at any zoom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.state.session import Session


class Timeline(SessionComponent):
    """A row per node and a column per pixel of time; the pinned run above the one shown.

    What came with the record is drawn at once; the exact cycles of the window in view are asked
    for, and computed where the session is.  A run that kept no events shows its bins alone.

    Parameters
    ----------
    session : Session or PageBackend, optional
        Shared by the components of a page; a new one by default.
    """

    _esm = script("base/light", "timeline/canvas", "timeline/timeline")
    _stylesheets = [style("timeline/timeline")]
    part = "timeline"
    more = ("window",)

    answered = param.String("{}", doc="The last answer about a window, an area or a trace; JSON.")

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        if "sizing_mode" not in params and "height" not in params:
            params["height"] = 420
        super().__init__(session, **params)

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        text = self.backend.parts.get("window")
        if text is not None and text != self.answered:
            changes["answered"] = text
        return changes

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {
                "kind": "window" | "area" | "trace" as kind,
                "number": number,
                "from": start,
                "to": stop,
                "width": width,
                "rows": rows,
            }:
                self.backend.ask("look_into", kind, number, start, stop, width, rows)
            case {"kind": "select", "region": region, "node": node}:
                self.backend.ask("select_region", region)
                self.backend.ask("select_node", node)
            case {"kind": "events"}:
                self.backend.run(events=True)
