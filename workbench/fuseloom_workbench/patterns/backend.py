"""The backend of the page of access patterns: the question of its visitor, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from urllib.parse import urlencode

from fuseloom.access.named_kernels import KERNELS
from fuseloom.access.rules.sets import SETS
from fuseloom.access.text import read_term
from fuseloom.access.torch_networks import NETWORKS
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom_workbench.base.child_backend import ChildBackend, Post
from fuseloom_workbench.patterns.asked import LONGEST, MOST, MappingQuestion
from fuseloom_workbench.patterns.view import term_view

OF_QUESTION = ("terms", "pattern", "class", "step", "checked", "calls", "egraph")
"""Parts that another answer replaces."""
OF_COMPUTATION = ("layers", "designs")
"""Parts that stay until another computation, array or set of rules is asked for."""


class PatternBackend(ChildBackend):
    """The state of a page of access patterns, and the receiver of its requests.

    Parameters
    ----------
    asked : MappingQuestion, optional
        What is looked at first.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.

    Examples
    --------
    >>> backend = PatternBackend(MappingQuestion().changed({"kernel": "matmul"}))
    >>> backend.wait()
    >>> backend.part("array")["calls"][0]["cycles"]
    126
    >>> backend.close()
    """

    target = "fuseloom_workbench.patterns.answering:answer"
    topic = "patterns"
    opening = "map"
    opening_text = "mapping"
    smaller = "ask for less: smaller extents, fewer nodes or a larger array"

    def __init__(self, asked: MappingQuestion | None = None, post: Post | None = None) -> None:
        self._written: dict[str, Any] | None = None
        super().__init__(asked or MappingQuestion(), post)

    def ask(self, name: str, *arguments: Any) -> None:
        """``change`` (a mapping), ``write`` (a term's text, to be read and not yet mapped),
        ``inspect`` (a term, a path, a position), ``class``, ``step``, ``check`` (a rule),
        ``layers``, ``compare`` (a budget of area, and whether all layers), or ``undo``; what is
        refused is told in ``status``.
        """
        super().ask(name, *arguments)

    def _carry_out(self, name: str, arguments: tuple[Any, ...]) -> None:
        match name, arguments:
            case "change", (Mapping() as changes,):
                self._take(self.asked.changed(changes))
            case "write", (str(text),):
                self._write(text)
            case "undo", ():
                self.undo()
            case "inspect", (str(which), list(path), int(start)):
                self._put(name, which, path, start)
            case ("class" | "step", (int(number),)):
                self._put(name, number)
            case "check", (str(rule),):
                self._put(name, rule)
            case "compare", (budget, bool(whole)):
                self._put(name, budget, whole)
            case "layers", ():
                self._put(name)

    def _write(self, text: str) -> None:
        """Read a term that is being written, without mapping it."""
        written: dict[str, Any] = {"text": text, "error": None, "lines": []}
        try:
            if len(text) > LONGEST:
                raise ProgramError(f"a term of more than {LONGEST:,} characters is not read here")
            written |= term_view(read_term(text).term)
        except FuseloomError as reason:
            written["error"] = {
                "message": reason.message, "hint": reason.hint or "", "line": reason.line,
                "column": reason.column,
            }  # fmt: skip
        self._written = written
        self._show()

    def _arrived(self, name: str, data: dict[str, Any]) -> None:
        if name == "given":
            self._written = None
            for part in OF_QUESTION:
                self._found.pop(part, None)
            if self._found.get("of") != _of(self.asked):
                for part in OF_COMPUTATION:
                    self._found.pop(part, None)
            self._found["of"] = _of(self.asked)
        if name == "terms":
            self._found.pop("step", None)
        self._found[name] = data

    def _drawn(self) -> dict[str, Any]:
        found = self._found
        given = found.get("given", {})
        busy = bool(self._busy["text"])
        return {
            "mapping": {
                "asked": self.asked.to_dict(),
                "kernels": [
                    {"name": name, "example": kernel.example} for name, kernel in KERNELS.items()
                ],
                "networks": [{"name": n.name, "text": n.text} for n in NETWORKS.values()],
                "sets": [{"name": name, "text": text} for name, text in SETS.items()],
                "layers": given.get("layers", []),
                "others": given.get("others", []),
                "most": dict(MOST),
                "busy": self._busy,
                "undo": len(self._before),
                "link": "?" + address(self.asked),
            },
            "term": {"given": given.get("text", ""), "of": self.asked.source,
                     "written": self._written},
            "terms": {**found.get("terms", {}), "step": found.get("step")},
            "pattern": found.get("pattern", {}),
            "rewrites": {
                **found.get("rules", {}),
                "own": self.asked.own,
                "without": list(self.asked.without),
                "checked": found.get("checked"),
                "busy": busy,
            },
            "saturation": {
                **found.get("egraph", {}),
                "class": found.get("class"),
                "limit": self.asked.iterations,
            },
            "array": found.get("calls", {}),
            "designs": {
                "layers": found.get("layers"),
                "designs": found.get("designs"),
                "several": len(given.get("layers", [])) > 1,
                "busy": busy,
            },
        }  # fmt: skip


def _of(asked: MappingQuestion) -> tuple[Any, ...]:
    """The choices on which mappings of all layers, and of several arrays, depend."""
    return (asked.computation, asked.layer, asked.array, asked.memory, asked.sets, asked.own,
            asked.without, asked.limits, asked.optimal)  # fmt: skip


_DEFAULT = MappingQuestion()


def address(asked: MappingQuestion) -> str:
    """The part of a page's address that asks the same question again.

    Examples
    --------
    >>> address(MappingQuestion().changed({"rows": 16}))
    'rows=16'
    """
    given = {}
    for field in fields(asked):
        value = getattr(asked, field.name)
        if value != getattr(_DEFAULT, field.name):
            given[field.name] = ",".join(value) if isinstance(value, tuple) else value
    return urlencode(given)


def from_address(given: Mapping[str, str]) -> MappingQuestion:
    """The question of an address; a convolution by default.

    Raises
    ------
    ProgramError
        Of a value that is none.

    Examples
    --------
    >>> from urllib.parse import parse_qsl
    >>> asked = MappingQuestion().changed({"kernel": "matmul", "rows": 8, "without": ["x", "y"]})
    >>> from_address(dict(parse_qsl(address(asked)))) == asked
    True
    """
    kinds = {field.name: type(field.default) for field in fields(MappingQuestion)}
    changes: dict[str, Any] = {}
    for key, text in given.items():
        kind = kinds.get(key, str)
        if kind is tuple:
            changes[key] = [name for name in text.split(",") if name]
        elif kind is bool:
            changes[key] = {"True": True, "False": False}.get(text, text)
        elif kind in (int, float):
            changes[key] = _number(text, kind)
        else:
            changes[key] = text
    return _DEFAULT.changed(changes)


def _number(text: str, kind: type) -> Any:
    """The number that a text is; the text itself where it is none, which is refused later."""
    try:
        return kind(text)
    except ValueError:
        return text
