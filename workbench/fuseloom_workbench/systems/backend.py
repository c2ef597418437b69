"""The backend of the page of all systems: the question of its visitor, and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuseloom.comparison.examples import EXAMPLES
from fuseloom.errors import ProgramError
from fuseloom.models import MODELS
from fuseloom_workbench.base.child_backend import ChildBackend, Post
from fuseloom_workbench.base.page import PAGE_LINKS
from fuseloom_workbench.systems import view
from fuseloom_workbench.systems.asked import (
    EXAMPLE_TEXTS,
    LONGEST,
    SystemsQuestion,
    address,
)
from fuseloom_workbench.systems.carried import CARRIED
from fuseloom_workbench.systems.program_file import ProgramFile


class SystemsBackend(ChildBackend):
    """The state of a page of all systems, and the receiver of its requests.

    Parameters
    ----------
    asked : SystemsQuestion, optional
        What is looked at first.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.

    Examples
    --------
    >>> backend = SystemsBackend(SystemsQuestion("mttkrp"))
    >>> backend.wait()
    >>> backend.part("compared")["command"]
    'fuseloom compare mttkrp --seed 0'
    >>> backend.close()
    """

    target = "fuseloom_workbench.systems.answering:answer"
    topic = "systems"
    opening = "show"
    opening_text = "reading"
    limit = 600.0
    smaller = "press Compare again, which goes on with what is missing, or declare smaller sizes"

    def __init__(self, asked: SystemsQuestion | None = None, post: Post | None = None) -> None:
        self._pages: tuple[str, ...] | None = None
        self._late = False
        self._file = ProgramFile()
        super().__init__(asked or SystemsQuestion(), post)

    def open_from(self, pages: Sequence[str]) -> None:
        """Know the pages of the server, to which links may lead."""
        self._pages = tuple(pages)
        self._show()

    def ask(self, name: str, *arguments: Any) -> None:
        """``change`` (a mapping, and the text that is written and not used), ``compare`` (a
        mapping, and whether also what is known), ``write`` (a number and a text, to be read and
        not yet used), ``undo``, or those of a file: ``upload_begin``, ``upload_part`` and
        ``upload_cancel``; what is refused is told in ``status``, of a file in its own part.
        """
        super().ask(name, *arguments)

    def _carry_out(self, name: str, arguments: tuple[Any, ...]) -> None:
        match name, arguments:
            case "change", (Mapping() as changes, None | str() as draft):
                asked = self.asked.changed(changes)
                if draft is not None and len(draft) <= LONGEST:
                    self.asked = self.asked.changed({"text": draft})  # undo brings it back
                self._end_comparison()
                self._take(asked)
            case "compare", (Mapping() as changes, bool(again)):
                self._compare(self.asked.changed(changes), again)
            case "write", (int(number), str(text)):
                if len(text) > LONGEST:
                    self.asked.changed({"text": text})  # says how long it may be
                if not self._is_comparing:
                    self._put("read", number, text)
            case "undo", ():
                self._end_comparison()
                self.undo()
            case "upload_begin", (int(number), str(file), int(size)):
                self._file.begin(number, file, size)
                self._show()
            case "upload_part", (int(number), int(at), str(text)):
                self._file.part(number, at, text)
                self._show()
            case "upload_cancel", ():
                self._file.cancel()
                self._show()

    def close(self) -> None:
        self._file.cancel()
        super().close()

    @property
    def _is_comparing(self) -> bool:
        return self._busy["text"] not in ("", "read", self.opening_text)

    def _compare(self, asked: SystemsQuestion, again: bool) -> None:
        if self._is_comparing:
            raise ProgramError("a comparison is under way", hint="wait for it, or cancel it")
        if asked != self.asked:
            self._before = [*self._before, self.asked]
            self.asked = asked
        self._put("compare", asked, again)

    def _end_comparison(self) -> None:
        if self._is_comparing:
            self.cancel()

    def _end(self) -> None:
        self._late = True
        super()._end()

    def _finish(self, ok: bool, text: str, hint: str = "") -> None:
        if self._late and not ok:
            text = f"the time limit of {self.limit:.0f} seconds ended {self._busy['text']}"
        self._late = False
        super()._finish(ok, text, hint)

    # Answers ----------------------------------------------------------------------------------

    def _arrived(self, name: str, data: dict[str, Any]) -> None:
        match name:
            case "system":
                self._found["rows"] = {**self._found.get("rows", {}), data.pop("system"): data}
            case "program":
                self._found["rows"] = data.pop("systems")
                self._found.pop("fault", None)
                self._found.pop("written", None)
                self._found[name] = data
                self._tell(True, "")  # what was refused before is over
            case _:
                self._found[name] = data

    def _drawn(self) -> dict[str, Any]:
        found, program = self._found, self._found.get("program", {})
        link = address(self.asked)
        titles = {name: PAGE_LINKS[name].title for name in self._pages or ()}
        return {
            "systems_form": {
                "asked": self.asked.to_dict(),
                "examples": [{"name": x, "text": EXAMPLE_TEXTS[x]} for x in EXAMPLES],
                "models": list(MODELS),
                "text": program.get("text", ""),
                "own_text": self.asked.text,
                "most": LONGEST,
                "fault": found.get("fault"),
                "written": found.get("written"),
                "busy": self._busy,
                "undo": len(self._before),
                "link": link and f"?{link}",
                "addressed": self._pages is not None,
                "carried": program.get("carried", ""),
                "unfit": program.get("unfit", ""),
                "opened": {"number": self._file.number, "text": self._file.text},
            },
            "program_file": self._file.view(),
            "compared": {
                "systems": [
                    {**one, **found.get("rows", {}).get(one["system"], {})}
                    for one in view.systems_view()
                ],
                "openings": [
                    {**one, "title": titles[one["page"]]}
                    for one in program.get("openings", [])
                    if one["page"] in titles
                ],
                **{key: program.get(key) for key in ("name", "label", "seed", "statements", "own",
                                                     "data", "command")},
                "schedule": self.asked.schedule if program.get("carried") == CARRIED else None,
                "busy": self._busy,
            },
        }  # fmt: skip
