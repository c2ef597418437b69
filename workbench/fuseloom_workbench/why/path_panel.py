"""Why a run took its cycles: the critical path of the region shown, and its channels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.state.session import Session


class PathPanel(SessionComponent):
    """An Explain button, then what the cycles of the region shown were spent on."""

    _esm = script("why/path_panel")
    _stylesheets = [style("why/path_panel")]
    part = "path"

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        super().__init__(session, **params)
        self.backend.runner.param.watch(lambda *_: self.refresh(), "running")

    def text(self) -> str | None:
        view = self.backend.part("path")
        return view and json.dumps({**view, "running": self.backend.runner.running})

    def handle(self, request: Mapping[str, Any]) -> None:
        view = self.backend.part("path") or {}
        match request:
            case {"kind": "explain"} if view.get("ready") and not view["too_long"]:
                self.backend.run(explain=True)
            case {"kind": "select", "node": int(node)}:
                self.backend.ask("select_node", node)
