"""What a page knows of its server: whether it answers, and what to do when it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from workbench.assets import script, style
from workbench.component import SessionComponent


class Connection(SessionComponent):
    """A line across the page while the server is busy, loading or lost.

    The browser keeps the design; when the connection was lost, Reconnect loads the page anew and
    hands the design to it.
    """

    _esm = script("connection")
    _stylesheets = [style("connection")]
    part = "saved"

    notice = param.String("", doc="What the server has to say.")
    working = param.Boolean(False, doc="Whether a request is being carried out.")

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        changes.pop("status", None)
        return {**changes, "notice": self.desk.notice, "working": self.desk.working}

    def __init__(self, *args: Any, **params: Any) -> None:
        super().__init__(*args, **params)
        self.desk.param.watch(lambda *_: self.refresh(), ["working", "notice"])

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "restore", "saved": dict(saved)}:
                self.desk.ask("restore", saved)
