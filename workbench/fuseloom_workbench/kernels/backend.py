"""The backend of the page of deep fusion: the question of its visitor, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fuseloom.errors import ProgramError
from fuseloom.stitch.examples.models import EXAMPLES
from fuseloom_workbench.base.child_backend import ChildBackend, Post
from fuseloom_workbench.kernels.asked import (
    LEAST_MEMORY,
    LONGEST,
    MOST_MEMORY,
    KernelsQuestion,
)

SHOWN_BY_NAME = ("example", "products", "sharing", "shared_memory")
"""Values of a question that stand in an address as they are."""


class KernelsBackend(ChildBackend):
    """The state of a page of deep fusion, and the receiver of its requests.

    Parameters
    ----------
    asked : KernelsQuestion, optional
        What is looked at first.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.

    Examples
    --------
    >>> backend = KernelsBackend(KernelsQuestion())
    >>> backend.wait()
    >>> [kernel["schedule"] for kernel in backend.part("layers")["kernels"]]
    ['row 1/64']
    >>> backend.close()
    """

    target = "fuseloom_workbench.kernels.answering:answer"
    topic = "kernels"
    opening = "show"
    opening_text = "fusing"
    limit = 600.0
    smaller = "take a smaller module"

    def __init__(self, asked: KernelsQuestion | None = None, post: Post | None = None) -> None:
        self._frame = self._kernel = self._operation = ""
        self._refusal = -1
        super().__init__(asked or KernelsQuestion(), post)

    def ask(self, name: str, *arguments: Any) -> None:
        """``change`` (a mapping), ``pick`` (a kernel of the frame and a schedule; without one
        fusion chooses), ``frame``, ``kernel`` or ``operation`` (a name), ``refusal`` (a number),
        ``write`` (a number and a text, to be read and not yet fused), ``time``,
        ``measure`` or ``undo``; what is refused is told in ``status``.
        """
        super().ask(name, *arguments)

    def _carry_out(self, name: str, arguments: tuple[Any, ...]) -> None:
        match name, arguments:
            case "change", (Mapping() as changes,):
                self._take(self.asked.changed(changes))
            case "pick", (str(kernel), None | str() as schedule):
                self._take(self.asked.chosen(self._shown_frame(), kernel, schedule))
            case "frame", (str(frame),):
                self._select_frame(frame)
            case "kernel", (str(kernel),):
                self._select_kernel(kernel, "")
            case "operation", (str(operation),):
                self._select_operation(operation)
            case "refusal", (int(number),):
                self._select_refusal(number)
            case "write", (int(number), str(text)):
                if len(text) > LONGEST:
                    raise ProgramError(
                        f"the text has {len(text):,} characters, and a page takes {LONGEST:,}",
                        hint="fuseloom stitch FILE takes more",
                    )
                self._put("read", number, text)
            case "undo", ():
                self.undo()
            case "measure", ():
                self._put("measure")
            case "time", ():
                self._put("time", self._shown_frame(), self._shown_kernel())

    def _open(self) -> None:
        super()._open()
        self._put("inspect", self._frame, self._kernel)

    # Selection --------------------------------------------------------------------------------

    def _frame_shown(self) -> dict[str, Any]:
        """The frame that is looked at."""
        frames: list[dict[str, Any]] = self._found.get("plan", {}).get("frames", [])
        found = (one for one in frames if one["name"] == self._frame)
        return next(found, frames[0] if frames else {})

    def _shown_frame(self) -> str:
        return str(self._frame_shown().get("name", ""))

    def _shown_kernel(self) -> str:
        return str(self._found.get("kernel", {}).get("name", ""))

    def _select_frame(self, name: str) -> None:
        self._frame, self._kernel, self._operation, self._refusal = name, "", "", -1
        self._put("inspect", self._frame, "")

    def _select_kernel(self, name: str, operation: str) -> None:
        self._operation, self._refusal = operation, -1
        if name == self._shown_kernel():
            self._kernel = name
            self._show()
        else:
            self._kernel = name
            self._put("inspect", self._shown_frame(), name)

    def _select_operation(self, name: str) -> None:
        frame = self._frame_shown()
        for one in frame.get("operations", ()):
            if one["name"] == name:
                home = one["kernel"]
                kernel = frame["kernels"][home]["name"] if home >= 0 else self._shown_kernel()
                self._select_kernel(kernel, name)

    def _select_refusal(self, number: int) -> None:
        """Look at a refusal, or at none of them."""
        refused = self._frame_shown().get("refused", [])
        self._refusal = number if 0 <= number < len(refused) else -1
        self._show()

    # Answers ----------------------------------------------------------------------------------

    def _arrived(self, name: str, data: dict[str, Any]) -> None:
        if name == "text":
            self._found.pop("fault", None)
            self._found.pop("written", None)
        if name == "plan":
            self._found.pop("times", None)
            self._found.pop("measured", None)
            self._refusal = -1
        self._found[name] = data
        if name == "kernel":
            frame = self._frame_shown()
            if self._kernel not in {one["name"] for one in frame.get("kernels", ())}:
                self._kernel = data["name"]
            if self._operation not in {one["name"] for one in frame.get("operations", ())}:
                self._operation = ""

    def _drawn(self) -> dict[str, Any]:
        found, frame = self._found, self._frame_shown()
        kernel = found.get("kernel", {})
        busy = bool(self._busy["text"])
        selected = {
            "kernel": self._kernel, "operation": self._operation,
            "refusal": self._refusal,
        }  # fmt: skip
        return {
            "fusing": self._form(),
            "module_text": {
                "text": found.get("text", {}).get("text", ""),
                "own": bool(self.asked.text),
                "most": LONGEST,
                "written": found.get("written"),
                "fault": found.get("fault"),
            },
            "layers": frame,
            "selected": selected,
            "schedules": {
                **kernel.get("schedules", {}),
                "kernel": kernel.get("name", ""),
                "chosen": self._is_chosen(kernel),
                "times": self._times(kernel),
                "busy": busy,
            },
            "shared_memory": {
                **kernel.get("memory", {}),
                "kernel": kernel.get("name", ""),
                "limit": self.asked.shared_memory,
                "sharing": self.asked.sharing,
                "least": LEAST_MEMORY,
                "most": MOST_MEMORY,
            },
            "codes": {
                "kernel": kernel.get("name", ""),
                "codes": kernel.get("codes", []),
                "lit": kernel.get("memory", {}).get("lit", {}),
            },
            "kernel_counts": {**found.get("counts", {}), "frame": frame.get("name", "")},
            "end_to_end": {"measured": found.get("measured"), "busy": busy},
        }  # fmt: skip

    def _form(self) -> dict[str, Any]:
        frames = self._found.get("plan", {}).get("frames", [])
        return {
            "asked": self.asked.to_dict(),
            "examples": [
                {"name": one.name, "text": one.description} for one in EXAMPLES.values()
            ],
            "frames": [
                {"name": one["name"], "count": len(one["operations"])} for one in frames
            ],
            "frame": self._shown_frame(),
            "module": self._found.get("plan", {}).get("name", ""),
            "busy": self._busy,
            "undo": len(self._before),
            "link": "?" + address(self.asked),
        }  # fmt: skip

    def _is_chosen(self, kernel: Mapping[str, Any]) -> bool:
        name = (kernel.get("frame"), kernel.get("name"))
        return any((frame, one) == name for frame, one, _ in self.asked.schedules)

    def _times(self, kernel: Mapping[str, Any]) -> dict[str, Any] | None:
        """The times of the kernel that is shown, if these are the last that came."""
        times: dict[str, Any] = self._found.get("times", {})
        place = (times.get("frame"), times.get("name"))
        return times if times and place == (kernel.get("frame"), kernel.get("name")) else None


def address(asked: KernelsQuestion) -> str:
    """The part of a page's address that asks the same question again, without text of one's own.

    Examples
    --------
    >>> address(KernelsQuestion(example="rnn", schedules=(("main", "y", "row 0/4"),)))
    'example=rnn&schedules=main%7Cy%7Crow+0%2F4'
    """
    first = KernelsQuestion()
    given: dict[str, Any] = {
        name: getattr(asked, name)
        for name in SHOWN_BY_NAME
        if getattr(asked, name) != getattr(first, name)
    }
    if asked.call_layers:
        given["call_layers"] = "yes"
    if asked.schedules and not asked.text:
        given["schedules"] = ";".join("|".join(one) for one in asked.schedules)
    return urlencode(given)


def from_address(given: Mapping[str, str]) -> KernelsQuestion:
    """The question of an address; attention by default.

    Raises
    ------
    ProgramError
        Of a value that is none.

    Examples
    --------
    >>> from_address({"example": "rnn", "shared_memory": "4096"}).shared_memory
    4096
    """
    changes: dict[str, Any] = {}
    for key, text in given.items():
        if key == "text":
            raise ProgramError("text of one's own does not fit into an address")
        if key == "schedules":
            changes[key] = [part.split("|") for part in text.split(";") if part]
        elif key == "shared_memory" and text.isascii() and text.isdecimal() and len(text) < 10:
            changes[key] = int(text)
        elif key == "call_layers":
            changes[key] = {"yes": True, "no": False}.get(text, text)
        else:
            changes[key] = text
    return KernelsQuestion().changed(changes)
