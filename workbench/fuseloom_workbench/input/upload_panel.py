"""Files from the page: dropped or chosen, sent in parts to the session's process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.state.commands import known


class UploadPanel(SessionComponent):
    """A place to drop a file, what became of it, and which inputs come from files."""

    _esm = script("input/upload_panel")
    _stylesheets = [style("input/upload_panel")]
    topics = ("input",)
    part = "upload"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "begin", "number": number, "name": name, "size": size}:
                self._ask("upload_begin", number, name, size)
            case {"kind": "part", "number": number, "at": at, "data": data}:
                self._ask("upload_part", number, at, data)
            case {"kind": "cancel"}:
                self._ask("upload_cancel")
            case {"kind": "bind", "tensor": tensor, "key": key, "label": label}:
                self._ask("bind", tensor, key, label)
            case {"kind": "unbind", "tensor": tensor}:
                self._ask("unbind", tensor)

    def _ask(self, name: str, *arguments: Any) -> None:
        if known(name, arguments):
            self.backend.ask(name, *arguments)
