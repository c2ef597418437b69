"""Simulating the current configuration: run, cancel, and what came out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.state.session import Session


class RunPanel(SessionComponent):
    """Run, and a search for a better schedule, with progress; the result with its check.

    What is expected to take long is asked about first.  That a run failed or was cancelled is told
    until the design changes.
    """

    _esm = script("running/run_panel")
    _stylesheets = [style("running/run_panel")]
    part = "run"

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        self._asked = ""  # the configuration whose run waits for a yes
        self._ended = ""  # the configuration that was shown when the last run ended
        super().__init__(session, **params)
        self._ended = self._configuration()
        self.runner.param.watch(self._told, ["running", "share", "status", "failed"])

    def _told(self, *events: Any) -> None:
        if any(event.name == "running" and not event.new for event in events):
            self._ended = self._configuration()
        self.refresh()

    def _configuration(self) -> str:
        return str((self.backend.part("run") or {}).get("configuration", ""))

    @property
    def runner(self) -> Any:
        return self.backend.runner

    def text(self) -> str | None:
        view, runner = self.backend.part("run"), self.runner
        if view is None:
            return None
        of_this = runner.running or self._ended == view["configuration"]
        return json.dumps(
            {
                **view,
                "running": runner.running,
                "share": runner.share,
                "status": self._status() if of_this else "",
                "asking": view["question"] if self._asked == view["configuration"] else "",
                "failed": runner.failed and of_this,
                "cancelled": runner.status == "cancelled" and not runner.running and of_this,
            }
        )

    def _status(self) -> str:
        runner = self.runner
        if not runner.running:
            return runner.status if runner.failed else ""
        return f"{runner.share:.0%} · {runner.status}" if runner.share else runner.status

    def handle(self, request: Mapping[str, Any]) -> None:
        view = self.backend.part("run") or {}
        match request["kind"]:
            case "run" if view.get("question") and not request.get("sure"):
                self._asked = view["configuration"]
                self.refresh()
            case "run":
                self._asked = ""
                self.backend.run()
            case "search":
                self._asked = ""
                self.backend.search()
            case "leave":
                self._asked = ""
                self.refresh()
            case "cancel":
                self.backend.cancel()
