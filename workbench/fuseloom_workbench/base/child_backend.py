"""The backend of a page whose answers a process of its own computes.

What a browser asks changes the *question* at once, and is answered when the process has computed
it.  Of questions that come while one is answered only the last counts.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import panel as pn
import param

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.child import Child, ChildError
from fuseloom_workbench.base.page_backend import PageBackend

KEPT = 100
"""Steps that can be taken back."""
Post = Callable[[Callable[[], None]], None]


class _NoRunner(param.Parameterized):
    """These pages simulate by requests like all others."""

    running = param.Boolean(False)


class ChildBackend(PageBackend):
    """The state of a page, and the receiver of its requests.

    A subclass says what requests do (:meth:`_carry_out`), what it keeps of an answer
    (:meth:`_arrived`) and what is drawn (:meth:`_drawn`).

    Parameters
    ----------
    question
        What is looked at first: an immutable value that can be pickled.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.
    """

    target: ClassVar[str]
    """The function that answers in the process, as ``module:function``."""
    topic: ClassVar[str]
    """Of its messages."""
    opening: ClassVar[str]
    """The request that begins with a question, and makes the process know it."""
    opening_text: ClassVar[str]
    """The text that is shown while that is answered."""
    limit: ClassVar[float] = 180.0
    """Seconds that one request may take."""
    smaller: ClassVar[str]
    """The way out where a request takes too much."""

    __abstract = True

    def __init__(self, question: Any, post: Post | None = None) -> None:
        super().__init__(_NoRunner())
        self._document = pn.state.curdoc
        self._lock = threading.RLock()
        self._post = post or self._next_tick
        self.asked = question
        self._before: list[Any] = []
        self._answers = 0
        self._found: dict[str, Any] = {}
        self._busy = {"text": "", "share": 0.0}
        self._line: queue.Queue[tuple[Any, ...] | None] = queue.Queue()
        self._newest = 0
        self._child: Child | None = None
        self._known: Any = None  # the question that the process has answered
        self._cancelled = False
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True, name=self.topic)
        self._thread.start()
        self._open()

    # What a subclass says ---------------------------------------------------------------------

    def _carry_out(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Carry out a request, or refuse it by an error of users."""
        raise NotImplementedError

    def _arrived(self, name: str, data: dict[str, Any]) -> None:
        """Keep a part of an answer."""
        self._found[name] = data

    def _drawn(self) -> dict[str, Any]:
        """The parts to show, by name."""
        raise NotImplementedError

    # What a page asks for ---------------------------------------------------------------------

    def ask(self, name: str, *arguments: Any) -> None:
        """Make a request; what is refused is told in ``status``."""
        with self._lock:
            try:
                self._carry_out(name, arguments)
            except FuseloomError as reason:
                self._tell(False, reason.message, reason.hint or "")

    def undo(self) -> None:
        """Take the last change of the question back."""
        if self._before:
            self.asked = self._before.pop()
            self._open()

    def _take(self, question: Any) -> None:
        """Ask another question."""
        if question == self.asked:
            return
        self._before = [*self._before, self.asked][-KEPT:]
        self.asked = question
        self._open()

    def _open(self) -> None:
        self._put(self.opening, self.asked)

    def _put(self, name: str, *arguments: Any) -> None:
        """Have the process answer a request."""
        if name == self.opening:
            self._newest += 1
        text = self.opening_text if name == self.opening else name
        self._busy = {"text": text, "share": 0.0}
        self._line.put((self._newest, name, *arguments))
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

    def attach(self) -> None:
        """Change the page whose document is being made at its ticks from now on.

        A backend that was made before its page would otherwise change it from its own thread.
        """
        if pn.state.curdoc is not None:
            self._document = pn.state.curdoc

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
        ends = threading.Timer(self.limit, self._end)
        ends.daemon = True
        ends.start()
        try:
            if self._child is None or not self._child.alive:
                self._child, self._known = Child(self.target), None
            if request[0] != self.opening and self._known != self.asked:
                self._converse((self.opening, self.asked), quiet=True)
            self._converse(request)
        except ChildError as end:
            self._child = None
            told = "cancelled" if self._cancelled else f"the process that computes ended: {end}"
            hint = "" if self._cancelled else self.smaller
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
                        self._in_page(lambda n=name, d=data: self._keep(n, d))
                case ["progress", share, str(text)]:
                    self._in_page(lambda s=share, t=text: self._moved(s, t))
                case ["refused", str(text), str(hint)]:
                    if not quiet:
                        self._in_page(lambda t=text, h=hint: self._finish(False, t, h))
                    break
                case ["done", str(text)]:
                    if request[0] == self.opening:
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

    def _keep(self, name: str, data: dict[str, Any]) -> None:
        self._arrived(name, data)
        self._show()

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
            "ok": ok, "message": said, "summary": "", "topic": self.topic, "ways": [],
            "answers": self._answers,
        })  # fmt: skip

    def _show(self, status: dict[str, Any] | None = None) -> None:
        parts = self._drawn()
        if status is not None:
            parts["status"] = status
        self._publish({name: json.dumps(value) for name, value in parts.items()})
