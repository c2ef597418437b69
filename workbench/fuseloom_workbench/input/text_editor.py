"""Program and schedule as text: edit, apply, and see errors where they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.state.commands import known

HELP = {
    "program": "Declarations, then statements like T[i,j] = A[i,k] * X[k,j]. "
    "Inputs you change get random data.",
    "schedule": "fuse T1..H makes a region of consecutive statements; "
    "order T1..H: i,k,p,n chooses its dataflow order. Directives end at ; or a line end.",
}


class TextEditor(SessionComponent):
    """The text of the program or of the schedule, editable.

    Parameters
    ----------
    what : {"program", "schedule"}
    """

    _esm = script("base/light", "base/marked_text", "input/text_editor")
    _stylesheets = [style("input/text_editor")]

    what = param.Selector(default="program", objects=["program", "schedule"])
    answer = param.Dict({}, doc="What the engine said to the last Apply of this editor.")
    checked = param.Dict({}, doc="What it says to the text as it is being written.")

    more = ("checked",)

    def __init__(self, *args: Any, **params: Any) -> None:
        self._asked = False
        super().__init__(*args, **params)

    @property
    def part(self) -> str:  # type: ignore[override]
        """The part of the page backend that is drawn."""
        return str(self.what)

    def text(self) -> str:
        view = self.backend.part(self.what) or {"text": ""}
        return json.dumps({**view, "title": self.what, "help": HELP[self.what]})

    def refresh(self) -> None:
        super().refresh()
        checked = self.backend.part("checked") or {}
        if checked.get("what") == self.what and checked != self.checked:
            self.checked = checked
        said = self.backend.part("status")
        if not self._asked or said is None or said["topic"] != "text":
            return
        self._asked = False
        line, column = said["place"]
        self.answer = {
            "ok": said["ok"],
            "message": f"applied: {said['message']}" if said["ok"] else said["message"],
            "line": line,
            "column": column,
            "count": self.backend.version,
        }

    def handle(self, request: Mapping[str, Any]) -> None:
        text = request.get("text")
        if request["kind"] == "apply" and isinstance(text, str):
            self._asked = True
            self.backend.ask(f"set_{self.what}", text)
        number = request.get("number")
        if request["kind"] == "kernel" and known("select_kernel", [number]):
            self.backend.ask("select_kernel", number)
        if request["kind"] == "check" and known("check", [self.what, text, number]):
            self.backend.ask("check", self.what, text, number)
