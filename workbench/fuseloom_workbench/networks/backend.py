"""The worker of a page of networks: a thread that waits, and a process that computes.

What a browser asks changes what is asked at once, and is answered when the process has computed it.
Of questions that come while one is answered only the last counts.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import panel as pn
import param

from fuseloom.contraction.shipped import SHIPPED
from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.child import Child, ChildError
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.networks import trees
from fuseloom_workbench.networks.answering import tree_of
from fuseloom_workbench.networks.asked import NetworkQuestion

TARGET = "fuseloom_workbench.networks.answering:answer"
LIMIT = 180.0
"""Seconds that one request may take."""
KEPT = 100
"""Steps that can be taken back."""
Post = Callable[[Callable[[], None]], None]
SAME = ("tree", "encoding", "pins", "most_bytes", "einsum", "extents")
"""On which of what is asked the bounds of all intermediates together rest."""


class _NoRunner(param.Parameterized):
    """These pages simulate by requests like all others."""

    running = param.Boolean(False)


class NetworkBackend(PageBackend):
    """The state of a network's page, and the receiver of its requests.

    Parameters
    ----------
    asked : NetworkQuestion, optional
        What is looked at first.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.

    Examples
    --------
    >>> backend = NetworkBackend(NetworkQuestion.shipped("MTTKRP"))
    >>> backend.wait()
    >>> [row["verdict"] for row in backend.part("question")["verdicts"]]
    ['sat', 'sat', 'sat', 'sat']
    >>> backend.ask("look", 1)
    >>> backend.wait()
    >>> backend.part("nest")["number"]
    1
    >>> backend.close()
    """

    def __init__(self, asked: NetworkQuestion | None = None, post: Post | None = None) -> None:
        super().__init__(_NoRunner())
        self._document = pn.state.curdoc
        self._lock = threading.RLock()
        self._post = post or self._next_tick
        self.asked = asked or NetworkQuestion.shipped()
        self._before: list[NetworkQuestion] = []
        self._answers = 0
        self._found: dict[str, Any] = {}
        self._busy = {"text": "", "share": 0.0}
        self._line: queue.Queue[tuple[Any, ...] | None] = queue.Queue()
        self._newest = 0
        self._child: Child | None = None
        self._known: NetworkQuestion | None = None  # what the process has solved
        self._cancelled = False
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True, name="networks")
        self._thread.start()
        self._solve()

    # What a page asks for ---------------------------------------------------------------------

    def ask(self, name: str, *arguments: Any) -> None:
        """``change`` (a mapping), ``shipped``, ``contract`` (two places of the tree), ``swap``,
        ``undo``, ``look``, ``measure``, ``code``, ``pareto`` or ``dataflow``; what is refused is
        told in ``status``.
        """
        with self._lock:
            try:
                self._carry_out(name, arguments)
            except FuseloomError as reason:
                self._tell(False, reason.message, reason.hint or "")

    def _carry_out(self, name: str, arguments: tuple[Any, ...]) -> None:
        match name, arguments:
            case "change", (Mapping() as changes,):
                self._take(self.asked.changed(changes))
            case "shipped", (str(which),):
                self._take(NetworkQuestion.shipped(which))
            case "contract", (list(moved), list(beside)):
                self._reshape(lambda t: trees.joined(t, tuple(moved), tuple(beside)))
            case "swap", (list(place),):
                self._reshape(lambda t: trees.swapped(t, tuple(place)))
            case "undo", ():
                if self._before:
                    self.asked = self._before.pop()
                    self._solve()
            case "look" | "measure" | "code", (int(number),):
                self._put((name, number))
            case "pareto" | "dataflow", ():
                self._put((name,))

    def _take(self, asked: NetworkQuestion) -> None:
        if asked == self.asked:
            return
        self._before = [*self._before, self.asked][-KEPT:]
        self.asked = asked
        self._solve()

    def _reshape(self, change: Callable[[trees.Nested], trees.Nested]) -> None:
        made = trees.text(change(trees.nested(tree_of(self.asked))))
        self._take(self.asked.changed({"tree": made}))

    def _solve(self) -> None:
        self._put(("solve", self.asked))

    def _put(self, request: tuple[Any, ...]) -> None:
        if request[0] == "solve":
            self._newest += 1
        self._busy = {"text": "solving" if request[0] == "solve" else request[0], "share": 0.0}
        self._line.put((self._newest, *request))
        self._show()

    def cancel(self) -> None:
        """Give up what is under way, and what is in line."""
        while True:
            try:
                self._line.get_nowait()
            except queue.Empty:
                break
            self._line.task_done()
        self._cancelled = True
        child = self._child
        if child is not None:
            child.end()

    def close(self) -> None:
        """The page is gone: end what is done for it."""
        self._closed = True
        self.cancel()
        self._line.put(None)

    def wait(self) -> None:
        """Until all that was asked is answered; for notebooks and tests, not for a server."""
        self._line.join()

    # In the thread ----------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            item = self._line.get()
            if item is None:
                self._line.task_done()
                break
            try:
                self._answer(*item)
            finally:
                self._line.task_done()
        if self._child is not None:
            self._child.end()

    def _answer(self, newest: int, *request: Any) -> None:
        if newest != self._newest or self._closed:
            return  # something else was asked meanwhile
        self._cancelled = False
        ends = threading.Timer(LIMIT, self._end)
        ends.daemon = True
        ends.start()
        try:
            if self._child is None or not self._child.alive:
                self._child, self._known = Child(TARGET), None
            if request[0] != "solve" and self._known != self.asked:
                self._converse(("solve", self.asked), quiet=True)
            self._converse(request)
        except ChildError as end:
            self._child = None
            told = "cancelled" if self._cancelled else f"the process that computes ended: {end}"
            hint = "" if self._cancelled else "ask for less: smaller extents, or a smaller bound"
            self._in_page(lambda: self._finish(self._cancelled, told, hint))
        finally:
            ends.cancel()

    def _end(self) -> None:
        child = self._child
        if child is not None:
            child.end()

    def _converse(self, request: tuple[Any, ...], quiet: bool = False) -> None:
        child = self._child
        assert child is not None
        child.send(request)
        while True:
            match child.receive():
                case ["part", str(name), dict(data)]:
                    if not quiet:
                        self._in_page(lambda n=name, d=data: self._arrived(n, d))
                case ["progress", share, str(text)]:
                    self._in_page(lambda s=share, t=text: self._moved(s, t))
                case ["refused", str(text), str(hint)]:
                    if not quiet:
                        self._in_page(lambda t=text, h=hint: self._finish(False, t, h))
                    break
                case ["done", str(text)]:
                    if request[0] == "solve":
                        self._known = request[1]
                    if not quiet:
                        self._in_page(lambda t=text: self._finish(True, t))
                    break

    # In the page ------------------------------------------------------------------------------

    def _next_tick(self, what: Callable[[], None]) -> None:
        if self._document is None:
            with self._lock:  # in a notebook this is the thread that waits
                what()
        elif self._document.session_context is not None:
            self._document.add_next_tick_callback(what)

    def _in_page(self, what: Callable[[], None]) -> None:
        if not self._closed:
            self._post(what)

    def _arrived(self, name: str, data: dict[str, Any]) -> None:
        if name == "network":
            self._forget()
        self._found[name] = data
        if name == "solutions" and not data["rows"]:
            self._found.pop("nest", None)
        self._show()

    def _forget(self) -> None:
        """Drop what was found of another network, or under other constraints."""
        before = self._found.get("of")
        now = self.asked
        if before is None or any(getattr(before, n) != getattr(now, n) for n in SAME):
            self._found.pop("pareto", None)
        data = ("einsum", "extents", "tree", "density", "seed")
        if before is None or any(getattr(before, n) != getattr(now, n) for n in data):
            self._found.pop("dataflow", None)
        self._found["of"] = now

    def _moved(self, share: float, text: str) -> None:
        self._busy = {"text": text, "share": share}
        self._show()

    def _finish(self, ok: bool, text: str, hint: str = "") -> None:
        self._busy = {"text": "", "share": 0.0}
        if text or not ok:
            self._tell(ok, text, hint)
        else:
            self._show()

    def _tell(self, ok: bool, message: str, hint: str = "") -> None:
        self._answers += 1
        said = f"{message}. {hint[:1].upper()}{hint[1:]}." if hint else message
        self._show({
            "ok": ok, "message": said, "summary": "", "topic": "network", "ways": [],
            "answers": self._answers,
        })  # fmt: skip

    def _show(self, status: dict[str, Any] | None = None) -> None:
        found = self._found
        verdicts = found.get("verdicts", {})
        pareto = found.get("pareto")
        parts: dict[str, Any] = {
            "question": {
                "asked": self.asked.to_dict(),
                "shipped": [{"name": n, "einsum": s.einsum} for n, s in SHIPPED.items()],
                "verdicts": verdicts.get("verdicts", []),
                "least": verdicts.get("bound"),
                "pareto": None if pareto is None else pareto["vectors"],
                "busy": self._busy,
                "undo": len(self._before),
                "link": "?" + address(self.asked),
            },
            "network": found.get("network", {}),
            "solutions": {
                **found.get("solutions", {}),
                "chosen": found.get("nest", {}).get("number"),
                "busy": bool(self._busy["text"]),
            },
            "nest": found.get("nest", {}),
            "dataflow": {
                "rows": found.get("dataflow", {}).get("rows"),
                "cpu": self._of_cpu(),
                "explorer": self._explorer(),
                "busy": bool(self._busy["text"]),
            },
        }
        if status is not None:
            parts["status"] = status
        self._publish({name: json.dumps(value) for name, value in parts.items()})

    def _of_cpu(self) -> list[dict[str, Any]]:
        """The fastest nest of each way that was run."""
        best: dict[str, dict[str, Any]] = {}
        for row in self._found.get("solutions", {}).get("rows", []):
            known = best.get(row["way"])
            if row["measured"] is None:
                continue
            if known is None or row["measured"] < known["measured"]:
                best[row["way"]] = row
        return list(best.values())

    def _explorer(self) -> str:
        """The address of the explorer with the same contractions, on random data of its own."""
        program = self._found.get("network", {}).get("program")
        given = {"model": "spmv", "data": "random", "program": program}
        return "" if program is None else "explorer?" + urlencode(given)


def address(asked: NetworkQuestion) -> str:
    """Return the part of a page's address that asks the same question again."""
    given = {key: value for key, value in asked.to_dict().items() if value not in (None, "", ())}
    given["bounds"] = ",".join(f"{n}={b}" for n, b in asked.bounds)
    given["pins"] = ";".join(asked.pins)
    return urlencode({key: value for key, value in given.items() if value != ""})


def from_address(given: Mapping[str, str]) -> NetworkQuestion:
    """Return the question of an address; the shipped example by default.

    Raises
    ------
    ProgramError
        Of a value that is none.

    Examples
    --------
    >>> from urllib.parse import parse_qsl
    >>> asked = NetworkQuestion.shipped("MTTKRP").changed({"bound": 1, "pins": ["outermost i"]})
    >>> from_address(dict(parse_qsl(address(asked)))) == asked
    True
    """
    words = dict(given)
    made = NetworkQuestion.shipped(words.pop("network", NetworkQuestion.shipped().name))
    changes: dict[str, Any] = {}
    for key, value in words.items():
        match key:
            case "density":
                changes[key] = _number(value, float)
            case "seed" | "bound" | "most_bytes":
                changes[key] = _number(value, int)
            case "pins":
                changes[key] = value.split(";")
            case "bounds":
                pairs = [p.partition("=") for p in value.split(",")]
                changes[key] = [[name.strip(), _number(bound, int)] for name, _, bound in pairs]
            case _:
                changes[key] = value
    if "einsum" in words:
        changes = {"name": "", "extents": "", "tree": "", **changes}
    return made.changed(changes)


def _number(text: str, kind: Callable[[str], Any]) -> Any:
    """The number that a text is; the text itself where it is none, which is refused later."""
    try:
        return kind(text)
    except ValueError:
        return text
