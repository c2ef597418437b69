"""The panels that say why a design takes its cycles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.state.session import Session


class WhyBar(SessionComponent):
    """The answer, at most two changes with what they promise, and whether the last one held."""

    _esm = script("why/why_bar")
    _stylesheets = [style("why/why_bar")]
    part = "why"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "apply", "text": str(text)}:
                self.backend.ask("apply_suggestion", text)
            case {"kind": "plain"}:
                self.backend.ask("set_machine", "default")


class WhyPanel(SessionComponent):
    """A table of what is computed again, changes, a flame view, and the difference to run A."""

    _esm = script("why/why_panel")
    _stylesheets = [style("why/why_panel")]
    part = "why"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "apply", "text": str(text)}:
                self.backend.ask("apply_suggestion", text)
            case {"kind": "select", "region": int(region), "node": int(node)}:
                self.backend.ask("select_region", region)
                self.backend.ask("select_node", node)
            case {"kind": "select", "region": int(region)}:
                self.backend.ask("select_region", region)


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
