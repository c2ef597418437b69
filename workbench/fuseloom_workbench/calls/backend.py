"""The backend of the page of library calls: the question of its visitor, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fuseloom.calls.language.reader import read_annotation
from fuseloom.calls.pipelines import PIPELINES
from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.child_backend import ChildBackend, Post
from fuseloom_workbench.calls.asked import COMMANDS, LONGEST, CallsQuestion

OF_QUESTION = ("annotations", "code", "menu", "tiles", "counts", "fault", "checked")
"""Parts that another answer replaces."""


class CallsBackend(ChildBackend):
    """The state of a page of library calls, and the receiver of its requests.

    Parameters
    ----------
    asked : CallsQuestion, optional
        What is looked at first.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.

    Examples
    --------
    >>> backend = CallsBackend(CallsQuestion().changed({"pipeline": "blur"}))
    >>> backend.wait()
    >>> [call["name"] for call in backend.part("calls_graph")["calls"]]
    ['blur_rows', 'blur_columns']
    >>> backend.close()
    """

    target = "fuseloom_workbench.calls.answering:answer"
    topic = "calls"
    opening = "show"
    opening_text = "composing"
    smaller = "ask for less: smaller extents, or larger tiles"

    def __init__(self, asked: CallsQuestion | None = None, post: Post | None = None) -> None:
        self._written: dict[str, Any] = {}
        super().__init__(asked or CallsQuestion(), post)

    def ask(self, name: str, *arguments: Any) -> None:
        """``change`` (a mapping), ``annotate`` (the number of a call and a text; none for the
        library's), ``write`` (the same, to be read and not yet used), ``command`` (to be added),
        ``measure``, ``tune``, ``sweep``, ``check`` (a call) or ``undo``; what is refused is told in
        ``status``.
        """
        super().ask(name, *arguments)

    def _carry_out(self, name: str, arguments: tuple[Any, ...]) -> None:
        match name, arguments:
            case "change", (Mapping() as changes,):
                self._take(self.asked.changed(changes))
            case "command", (str(text),):
                self._take(self.asked.changed({"commands": [*self.asked.commands, text]}))
            case "annotate", (int(number), None):
                kept = [x for x in self.asked.annotations if x[0] != number]
                self._take(self.asked.changed({"annotations": kept}))
            case "annotate", (int(number), str(text)):
                kept = [x for x in self.asked.annotations if x[0] != number]
                self._take(self.asked.changed({"annotations": [*kept, (number, text)]}))
            case "write", (int(number), str(text)):
                self._write(number, text)
            case "undo", ():
                self.undo()
            case "check", (int(number),):
                self._put(name, number)
            case "measure" | "tune" | "sweep", ():
                self._put(name)

    def _write(self, number: int, text: str) -> None:
        """Read an annotation that is being written, without using it."""
        error: dict[str, Any] | None = None
        try:
            read_annotation(text[: LONGEST + 1])
        except FuseloomError as reason:
            error = {
                "message": reason.message, "hint": reason.hint or "", "line": reason.line,
                "column": reason.column,
            }  # fmt: skip
        self._written = {"number": number, "text": text, "error": error}
        self._show()

    def _arrived(self, name: str, data: dict[str, Any]) -> None:
        if name == "graph":
            for part in OF_QUESTION:
                self._found.pop(part, None)
            if self._found.get("of") != self.asked:
                self._found.pop("times", None)
                self._found.pop("sweep", None)
            self._found["of"] = self.asked
        self._found[name] = data

    def _drawn(self) -> dict[str, Any]:
        found, busy = self._found, bool(self._busy["text"])
        return {
            "composition": {
                "asked": self.asked.to_dict(),
                "pipelines": [{"name": p.name, "text": p.text} for p in PIPELINES.values()],
                "busy": self._busy,
                "undo": len(self._before),
                "link": "?" + address(self.asked),
            },
            "calls_graph": found.get("graph", {}),
            "annotations": {
                **found.get("annotations", {}),
                "written": self._written,
                "fault": found.get("fault"),
                "checked": found.get("checked"),
                "busy": busy,
            },
            "commands": {
                "asked": list(self.asked.commands),
                "menu": found.get("menu", {}).get("commands", []),
                "words": list(COMMANDS),
            },
            "calls_code": found.get("code", {}),
            "tiles": found.get("tiles", {}),
            "fusion_costs": {
                "counts": found.get("counts"),
                "times": found.get("times"),
                "sweep": found.get("sweep"),
                "tile": self.asked.tile,
                "busy": busy,
            },
        }  # fmt: skip


def address(asked: CallsQuestion) -> str:
    """The part of a page's address that asks the same question again, without edits.

    Examples
    --------
    >>> address(CallsQuestion().changed({"tile": 8, "commands": ["break 2"]}))
    'tile=8&commands=break+2'
    """
    first = CallsQuestion()
    given: dict[str, Any] = {}
    for name in ("pipeline", "extents", "tile", "threads", "seed"):
        if getattr(asked, name) != getattr(first, name):
            given[name] = getattr(asked, name)
    if asked.commands:
        given["commands"] = ";".join(asked.commands)
    return urlencode(given)


def from_address(given: Mapping[str, str]) -> CallsQuestion:
    """The question of an address; a softmax by default.

    Raises
    ------
    ProgramError
        Of a value that is none.

    Examples
    --------
    >>> from_address({"pipeline": "add6", "tile": "64"}).tile
    64
    """
    changes: dict[str, Any] = {}
    for key, text in given.items():
        if key == "commands":
            changes[key] = [part for part in text.split(";") if part.strip()]
        elif key in ("tile", "threads", "seed") and text.isdecimal():
            changes[key] = int(text)
        else:
            changes[key] = text
    return CallsQuestion().changed(changes)
