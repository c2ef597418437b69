"""The page backend of a served page: the supervisor has everything computed elsewhere.

What arrives from the supervisor's thread is collected, and applied at the document's next tick,
under its lock and in one go; nothing else changes the page.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import param
from panel.io import hold
from panel.io.state import set_curdoc

from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.service.client import Client
from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.supervisor import Supervisor
from fuseloom_workbench.state import commands

LOADING = "The engine is being loaded; a few seconds."
ALONE = 5.0
"""Seconds after which a page without a connection needs no process any more."""
LOOK = 1.5
"""Seconds between two looks at the connection."""
UNDRAWN = 20.0
"""Seconds of a connection after which a page is told its news even if it never said it is drawn."""
FAULT = "A part of this page could not be shown. Reload it; the design is kept."
_numbers = itertools.count(1)


class ServedRunner(param.Parameterized):
    """The state of a page's simulation, as :class:`~fuseloom_workbench.running.worker.Runner`."""

    running = param.Boolean(False)
    share = param.Number(0.0, bounds=(0, 1))
    status = param.String("")
    failed = param.Boolean(False)
    limit = param.Number(900.0)
    searched = param.Dict({})


class ServedBackend(PageBackend):
    """A page backend on the server's supervisor.

    Parameters
    ----------
    post : callable, optional
        Calls back soon, where the page may be changed; by default at the next tick of the
        document that is being made.
    """

    def __init__(
        self, supervisor: Supervisor, post: Callable[[Callable[[], None]], None] | None = None
    ) -> None:
        super().__init__(ServedRunner(limit=supervisor.budgets.run_time))
        self.number = next(_numbers)
        self.opened = time.monotonic()
        self._supervisor = supervisor
        self._client: Client | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._news: list[dict[str, Any]] = []
        self._document = pn.state.curdoc
        self._loop = asyncio.get_running_loop() if post is None else None
        self._post = post or self._next_tick
        self._alone_since: float | None = None
        self._seen: float | None = None
        self._drawn = self._document is None or self._document.session_context is None
        if not self._drawn:
            # what changes while a browser draws the page for the first time could be lost
            pn.state.onload(self._begin_to_tell)
        if supervisor.first:
            self._begin(supervisor.first)
        else:
            self.notice = LOADING
            supervisor.when_ready(lambda: self._hear({"first": supervisor.first}))
        supervisor.call(self._open)
        note("page_opened", page=self.number)

    def _begin(self, first: dict[str, Any]) -> None:
        self.parts = {**first["parts"], "saved": first["saved"]}

    # In the supervisor's thread ------------------------------------------------------------------

    def _open(self) -> None:
        if not self._closed:
            self._client = Client(self._supervisor, self._hear, self.number)
            self._client.watch()
            if self._document is not None:
                self._supervisor.loop.call_later(LOOK, self._look)

    def _hear(self, news: dict[str, Any]) -> None:
        with self._lock:
            self._news.append(news)
        self._post(self._apply)

    def _look(self) -> None:
        """Give back the processes of a page that nobody is connected to."""
        if self._closed or self._client is None:
            return
        session = getattr(self._document.session_context, "session", None)
        connected = self._client.seen = session is None or session.connection_count > 0
        now = time.monotonic()
        if connected and self._seen is None:
            self._seen = now
        if not self._drawn and self._seen is not None and now - self._seen > UNDRAWN:
            self._post(self._begin_to_tell)
        elif self._news:  # a tick that was asked for did not come
            self._post(self._apply)
        self._alone_since = None if connected else self._alone_since or now
        if self._alone_since is not None and now - self._alone_since > ALONE:
            self._client.rest()
        elif connected:
            self._client.watch()
        self._supervisor.loop.call_later(LOOK, self._look)

    def _next_tick(self, what: Callable[[], None]) -> None:
        def schedule() -> None:
            if not self._closed and self._document.session_context is not None:
                self._document.add_next_tick_callback(what)

        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(schedule)
        except RuntimeError:  # the server has ended
            return

    # Where the page may be changed --------------------------------------------------------

    def _begin_to_tell(self) -> None:
        self._drawn = True
        self._apply()

    def _apply(self) -> None:
        if not self._drawn:
            return
        with self._lock:
            news, self._news = self._news, []
        if self._closed or not news:
            return
        if self._document is None:
            self._take(news)
            return
        with set_curdoc(self._document), hold(self._document):
            try:
                self._take(news)
            except Exception as problem:  # what comes later must be shown all the same
                note("fault", page=self.number, reason=f"not shown: {problem!r}")
                self.notice = FAULT

    def _take(self, news: list[dict[str, Any]]) -> None:
        parts: dict[str, str] = {}
        run: dict[str, Any] = {}
        for one in news:
            parts.update(one.get("parts", {}))
            match one:
                case {"refused": [topic, text]}:
                    parts["status"] = self._refusal(topic, text, parts)
                case {"run": dict(state)}:
                    run.update(state)
                case {"first": dict(first)} if not self.parts:
                    self._begin(first)
                    parts = {**self.parts, **parts}
                    self.notice = ""
                case {"waiting": str(text)}:
                    self.notice = text
                case {"session_token": str(session_token)}:
                    self.session_token = session_token
                case {"working": bool(working)}:
                    self.working = working
                    if not working and self.notice != FAULT:
                        self.notice = ""
        if parts:
            self._publish(parts)
        if run:
            self.runner.param.update(**run)

    def _refusal(self, topic: str, text: str, parts: dict[str, str]) -> str:
        """The status when the supervisor answers in place of a session worker."""
        known = parts.get("status") or self.parts.get("status")
        status = json.loads(known) if known else {"summary": "", "answers": 0}
        status |= {"ok": False, "topic": topic, "message": text, "place": [0, 0]}
        return json.dumps(status)

    # Requests -----------------------------------------------------------------------------

    def _tell(self, what: Callable[[Client], None]) -> None:
        def tell() -> None:
            if self._client is not None:
                what(self._client)

        self._supervisor.call(tell)

    def ask(self, name: str, *arguments: Any) -> None:
        if commands.known(name, arguments):
            topic = commands.COMMANDS[name].topic
            message = {"ask": name, "args": list(arguments)}
            self._tell(lambda client: client.ask(message, topic))

    def resume(self, session_token: str, saved: dict[str, Any]) -> None:
        self._tell(lambda client: client.resume(session_token, saved))

    def run(self, explain: bool = False, events: bool = False) -> None:
        self._tell(lambda client: client.run(explain, events=events))

    def search(self, wishes: Mapping[str, Any] | None = None) -> None:
        settings = dict(wishes) if wishes else None
        self._tell(lambda client: client.run(explain=False, search=True, settings=settings))

    def cancel(self) -> None:
        self._tell(lambda client: client.cancel())

    def close(self) -> None:
        """The page is gone: everything that is done for it ends."""
        if self._closed:
            return
        self._closed = True
        self._tell(lambda client: client.close())
        note("page_closed", page=self.number, seconds=round(time.monotonic() - self.opened, 1))
