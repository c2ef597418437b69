"""The page's connection to its server: whether it answers, and the remedy when it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent

LONGEST = 100
"""Characters of a session token."""


class Connection(SessionComponent):
    """A line across the page while the server is busy, loading or lost.

    The browser keeps the design while its tab is open, and hands it to a page that is loaded anew,
    by hand or by Reconnect; the server adds the runs, if it is the same one.
    """

    _esm = script("base/connection")
    _stylesheets = [style("base/connection")]
    part = "saved"

    notice = param.String("", doc="What the server has to say.")
    session_token = param.String("", doc="What the browser keeps, to go on after a reload.")
    working = param.Boolean(False, doc="Whether a request is being carried out.")

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        changes.pop("status", None)
        return {**changes, "notice": self.backend.notice, "working": self.backend.working,
                "session_token": self.backend.session_token}  # fmt: skip

    def __init__(self, *args: Any, **params: Any) -> None:
        super().__init__(*args, **params)
        self.backend.param.watch(lambda *_: self.refresh(), ["working", "notice", "session_token"])

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "restore", "saved": dict(saved)}:
                self.backend.resume(str(request.get("session_token", ""))[:LONGEST], saved)
