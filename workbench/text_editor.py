"""Program and schedule as text: edit, apply, and see errors where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from workbench.assets import script, style
from workbench.component import SessionComponent

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

    _esm = script("text_editor")
    _stylesheets = [style("text_editor")]

    what = param.Selector(default="program", objects=["program", "schedule"])
    answer = param.Dict({}, doc="What the engine said to the last Apply of this editor.")

    def make_view(self) -> dict[str, Any]:
        session = self.session
        if self.what == "program":
            text = session.design.text or str(session.built.program)
        else:
            text = str(session.built.schedule).replace("; ", "\n")
        return {"text": text, "title": self.what, "help": HELP[self.what]}

    def handle(self, request: Mapping[str, Any]) -> None:
        text = request.get("text")
        if request["kind"] != "apply" or not isinstance(text, str):
            return
        session = self.session
        done = session.set_program(text) if self.what == "program" else session.set_schedule(text)
        line, column = session.place
        self.answer = {
            "ok": done,
            "message": f"applied: {session.message}" if done else session.message,
            "line": line,
            "column": column,
            "count": session.answers,
        }
