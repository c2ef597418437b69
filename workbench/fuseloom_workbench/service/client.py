"""A page as the supervisor sees it: queued requests, session worker, run, and delivered parts.

A request is carried out after those before it.  One that takes long is given up when a newer one
comes; one that takes too long is ended.  Either ends the session worker; a new one goes on with the
design as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.parking import new_session_token
from fuseloom_workbench.service.priority import LOOK, Watch
from fuseloom_workbench.service.queued_runs import QueuedRun
from fuseloom_workbench.service.spool import TextSpool
from fuseloom_workbench.service.supervisor import Supervisor
from fuseloom_workbench.service.workers import Ended, Worker, WorkerGoneError

PATIENCE = 3.0
"""Seconds that a request has before a newer one ends it, if it is to blame for them."""
TO_BLAME = 1.0
"""Seconds of CPU time from which it is."""
AT_ONCE = 0.1
"""Seconds within which a session worker that ends had been dead before it was asked."""
Deliver = Callable[[dict[str, Any]], None]


class Ask(NamedTuple):
    """A request in line."""

    message: dict[str, Any]
    topic: str = "fusion"


class Client:
    """One page.

    Parameters
    ----------
    deliver : callable
        Takes what is new for the page, in the supervisor's thread: ``parts`` (name to JSON text),
        ``working``, ``refused`` (topic and text), ``run`` (state of the simulation).
    """

    def __init__(self, supervisor: Supervisor, deliver: Deliver, number: int) -> None:
        self.supervisor = supervisor
        self.number = number
        self.session_token = new_session_token()
        self.saved: str | None = None
        self.kept = TextSpool(supervisor.budgets.records)
        self.used = time.monotonic()
        self.seen = True  # whether a browser is connected
        self.busy = False
        self._deliver = deliver
        self._others = partial(supervisor.others, self)
        self._line: list[Ask] = []
        self._changed = asyncio.Event()
        self._session_worker: Worker | None = None
        self._slow: str | None = None  # the design with which the session worker gave way to others
        self._answers = 0
        self._answer: asyncio.Future[dict[str, Any]] | None = None
        self._queued_run: QueuedRun | None = None
        self._closed = False
        self._resumed = False
        supervisor.clients.add(self)
        supervisor.spawn(self._work())
        deliver({"session_token": self.session_token})

    # What it does now ---------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """True if no request is under way or in line."""
        return not self.busy and not self._line

    @property
    def pid(self) -> int:
        """The process that computes for the page; 0 if there is none yet."""
        return 0 if self._session_worker is None else self._session_worker.pid

    @property
    def run_pid(self) -> int:
        """The process of its simulation; 0 if there is none yet."""
        return 0 if self._queued_run is None else self._queued_run.pid

    # Requests -----------------------------------------------------------------------------

    def ask(self, message: dict[str, Any], topic: str) -> None:
        """Put a request in line."""
        if self._closed:
            return
        self._put(message, topic)
        asks = [one for one in self._line if "ask" in one.message]
        if len(asks) > self.supervisor.budgets.pending:
            self._line.remove(asks[0])
            text = "given up: too many newer requests came"
            self._deliver({"refused": [asks[0].topic, text]})
        self.used = time.monotonic()

    def _put(self, message: dict[str, Any], topic: str = "fusion") -> None:
        self._line.append(Ask(message, topic))
        self._changed.set()

    async def _work(self) -> None:
        while not self._closed:
            if not self._line:
                self._changed.clear()
                self._say_working(False)
                await self._changed.wait()
                continue
            ask = self._line.pop(0)
            self._say_working(True)
            started = time.monotonic()
            try:
                await self._carry_out(ask)
            except Ended as end:
                self._give_up(ask, str(end))
            except Exception as problem:  # a fault here must not leave the page without an answer
                note("fault", page=self.number, reason=repr(problem))
                self._end_worker("fault")
                self._give_up(ask, "the server failed at this; the design is as before")
            else:
                if "ask" in ask.message:
                    took = time.monotonic() - started
                    what = ask.message["ask"]
                    note("request", page=self.number, what=what, seconds=round(took, 3))
        self._end_worker("the page was closed")

    def _say_working(self, working: bool) -> None:
        if working != self.busy:
            self.busy = working
            self._deliver({"working": working})

    def _give_up(self, ask: Ask, text: str) -> None:
        if self._closed:
            return
        note("request_ended", page=self.number, reason=text)
        match ask.message:
            case {"watch": True}:  # nobody has asked for that
                return
            case {"queued_run": QueuedRun() as queued_run}:
                queued_run.fail(text)  # Run is asked for where the run is shown
            case _:
                self._deliver({"refused": [ask.topic, text]})

    async def _carry_out(self, ask: Ask) -> None:
        try:
            await self._carry_out_once(ask)
        except WorkerGoneError:  # it had died before; another one can do it
            try:
                await self._carry_out_once(ask)
            except WorkerGoneError:
                raise Ended(self._why("it ended at once, twice")) from None

    async def _carry_out_once(self, ask: Ask) -> None:
        match ask.message:
            case {"resume": str(session_token), "saved": dict(saved)}:
                await self._resume(session_token, saved)
                return
        session_worker = await self._ready_worker()
        match ask.message:
            case {"run": bool(explain), "queued_run": QueuedRun() as queued_run, **wishes}:
                self._queued_run = queued_run
                await self._begin_run(session_worker, queued_run, {"explain": explain, **wishes})
            case {"ask": str(name), "args": list(arguments)}:
                await self._question(session_worker, {"ask": 0, "name": name, "args": arguments})
            case {"keep": str(run), "state": dict(state)}:
                self.kept.add(run)
                try:
                    kept = {"keep": run, "found": ask.message.get("found")}
                    await self._question(session_worker, kept, news={"run": state})
                except Ended:  # it is kept here: the next session worker shows it
                    self._deliver({"run": state})
                    raise

    # Runs that others keep ----------------------------------------------------------------

    def watch(self) -> None:
        """Give the page a session worker that looks for kept runs, if there is one to spare."""
        if not self.supervisor.keeps_runs or self._closed or self.busy or self._line:
            return
        if self.supervisor.ready and not self.has_worker and self.supervisor.has_room:
            self._put({"watch": True})

    # Going on -----------------------------------------------------------------------------

    def resume(self, session_token: str, saved: dict[str, Any]) -> None:
        """Resume the page of a session token with its runs, or else what the browser has kept.

        It waits in line, as what is asked before it would bring back what it replaces.  A page
        goes on once; later ones are requests among others, of which there may be so many.
        """
        if self._closed:
            return
        if self._resumed:
            self.ask({"ask": "restore", "args": [saved]}, "fusion")
            return
        self._resumed = True
        self._put({"resume": session_token, "saved": saved})

    async def _resume(self, session_token: str, saved: dict[str, Any]) -> None:
        others = [c for c in self.supervisor.clients if c is not self]
        before = next((c for c in others if c.session_token == session_token), None)
        parked = self.supervisor.parking.get(session_token)
        if before is not None and before.saved is not None:
            self._take_over(before.saved, before.kept)
        elif parked is not None:
            self._take_over(parked.saved, parked.kept)
        elif self.saved is None and saved == self.supervisor.first_saved:
            return  # nothing was changed, and nothing run
        else:
            session_worker = await self._ready_worker()
            await self._question(session_worker, {"ask": 0, "name": "restore", "args": [saved]})
            return
        note("resumed", page=self.number, runs=len(self.kept))
        self._end_worker("another session goes on here")
        await self._ready_worker()  # one that is opened shows what it has

    def _take_over(self, saved: str, kept: TextSpool) -> None:
        self.kept.close()
        self.saved, self.kept = saved, TextSpool(kept.most, kept)

    # The session worker -------------------------------------------------------------------

    async def _ready_worker(self) -> Worker:
        """The page's session worker; a new one is brought to where the page is."""
        if self._slow is not None and self._slow != self.saved and self._others():
            self._end_worker("it gave way to others, and stays behind them")
        if self._session_worker is not None and not self._session_worker.ended.done():
            return self._session_worker
        limit = self.supervisor.budgets.wall_time
        try:
            async with asyncio.timeout(limit):
                await self.supervisor.room_for(self, self._deliver)
                session_worker = self._session_worker = await self.supervisor.fork(self._hear)
        except TimeoutError:
            why = (
                "are busy" if self.supervisor.ready else "are not ready: the engine is being loaded"
            )
            raise Ended(
                f"given up: no process was free within {limit} s, those of this server {why}; "
                "try again later"
            ) from None
        if self._closed:
            session_worker.kill()
            raise Ended("the page was closed")
        if self.saved is not None:
            await self._question(
                session_worker, {"open": self.saved, "kept": [*self.kept]}, patient=True
            )
        return session_worker

    @property
    def has_worker(self) -> bool:
        worker = self._session_worker
        return worker is not None and not worker.ended.done() and not worker.why

    def release(self) -> None:
        """Give the session worker back; the next request gets a new one."""
        self._end_worker("idle")

    def _end_worker(self, why: str) -> None:
        session_worker, self._session_worker = self._session_worker, None
        self._slow = None
        if session_worker is not None:
            session_worker.kill(why)

    async def _question(
        self,
        session_worker: Worker,
        message: dict[str, Any],
        patient: bool = False,
        news: dict[str, Any] | None = None,
    ) -> None:
        """Send a question and wait for the answer, not for ever; ``news`` are told with it.

        Raises
        ------
        Ended
            If there was none; the session worker has ended then.
        """
        watch = Watch(self.supervisor.loop, lambda: session_worker.pid, self._others)
        try:
            await self._answered(session_worker, message, watch, patient, news)
        finally:
            watch.end()
        if watch.gave_way and "ask" in message:
            self._slow = self.saved

    async def _answered(
        self,
        session_worker: Worker,
        message: dict[str, Any],
        watch: Watch,
        patient: bool,
        news: dict[str, Any] | None,
    ) -> None:
        self._answers += 1
        number = self._answers
        kind = "ask" if "ask" in message else "answer"
        message = {**message, kind: number, "others": self._others()}
        answer = self._answer = asyncio.get_running_loop().create_future()
        lived = session_worker.lives()
        session_worker.send(message)
        started = time.monotonic()
        limit = self.supervisor.budgets.wall_time
        while not answer.done():
            left = started + limit - time.monotonic()
            hurried = bool(self._line) and not patient
            if hurried:
                left = min(left, max(LOOK, started + PATIENCE - time.monotonic()))
            self._changed.clear()
            waits = [answer, session_worker.ended]
            if not hurried:
                waits.append(asyncio.ensure_future(self._changed.wait()))
            await asyncio.wait(waits, timeout=max(0, left), return_when=asyncio.FIRST_COMPLETED)
            if len(waits) > 2:
                waits[2].cancel()
            if answer.done():
                break
            if session_worker.ended.done():
                self._session_worker = None
                gone = not lived or time.monotonic() - started < AT_ONCE
                if gone and session_worker.ended.result() != "cpu":
                    raise WorkerGoneError
                raise Ended(self._why(session_worker.ended.result()))
            if self._closed:
                session_worker.kill()
                raise Ended("the page was closed")
            if time.monotonic() - started > limit:
                self._end_worker("late")
                raise Ended(f"given up: this took more than {limit} s; the design is as before")
            late = self._line and not patient and time.monotonic() - started > PATIENCE
            if late and watch.used > TO_BLAME:
                self._end_worker("newer")
                raise Ended("given up for a newer request; the design is as before")
        self._answer = None
        found = answer.result()
        self.saved = found["saved"]
        self._deliver({"parts": {**found["parts"], "saved": self.saved}, **(news or {})})

    def _why(self, text: str) -> str:
        if text == "cpu":
            limit = self.supervisor.budgets.cpu_time
            return f"given up: this takes more than {limit} s of CPU time; the design is as before"
        return f"the process that computes for this page stopped ({text}); the design is as before"

    def _hear(self, message: dict[str, Any], files: list[int]) -> None:
        match message:
            case {"answer": int(number), "parts": dict()}:
                answer = self._answer
                if answer is not None and number == self._answers and not answer.done():
                    answer.set_result(message)
            case {"parts": dict(parts)}:  # what came later
                self._deliver({"parts": parts})
            case {"unread": str(reason)}:
                note("runs_not_read", page=self.number, reason=reason)
            case {"runner": int(number)} if files:
                queued_run, session_worker = self._queued_run, self._session_worker
                if (
                    queued_run is not None
                    and queued_run.number == number
                    and session_worker is not None
                ):
                    queued_run.attach(session_worker.fork_server, files.pop())
        for file in files:  # of a run that was cancelled: without it the runner ends
            os.close(file)

    # Runs ---------------------------------------------------------------------------------

    def run(
        self,
        explain: bool,
        search: bool = False,
        events: bool = False,
        settings: dict[str, Any] | None = None,
    ) -> None:
        """Simulate the design as it will be after the requests before this one.

        Parameters
        ----------
        search : bool
            Whether to look for a better schedule first, and simulate that.
        events : bool
            Whether to keep every wait of every node.
        settings : dict, optional
            Of the search.
        """
        if self._queued_run is not None and not self._queued_run.over:
            return
        queued_run = self._queued_run = QueuedRun(
            self.supervisor, self._hear_run, self.number, self._others
        )
        wishes = {"run": explain, "search": search, "events": events, "settings": settings}
        self.used = time.monotonic()
        self._put({**wishes, "queued_run": queued_run})

    async def _begin_run(
        self, session_worker: Worker, queued_run: QueuedRun, wishes: dict[str, Any]
    ) -> None:
        if queued_run.over:
            return
        session_worker.send({"run": queued_run.number, **wishes})
        waits: list[asyncio.Future[Any]] = [queued_run.attached, session_worker.ended]
        await asyncio.wait(
            waits, timeout=self.supervisor.budgets.wall_time, return_when=asyncio.FIRST_COMPLETED
        )
        if not queued_run.attached.done():
            self._end_worker("no runner")
            queued_run.fail("the simulator could not be started")

    def _hear_run(self, state: dict[str, Any]) -> None:
        if "done" in state:  # the run ends, for the page, when its result is shown
            kept = {"keep": state.pop("done"), "found": state.pop("found", None)}
            self.ask({**kept, "state": state}, "run")
        else:
            self._deliver({"run": state})

    def cancel(self) -> None:
        """End the run; it need not have begun."""
        if self._queued_run is not None:
            self._queued_run.cancel()

    def rest(self) -> None:
        """Nobody looks: end what is done, and keep the design."""
        self._line.clear()
        self.cancel()
        self.release()

    # The end ------------------------------------------------------------------------------

    def close(self) -> None:
        """The page is gone: end all that is done for it."""
        if self._closed:
            return
        self._closed = True
        self._line.clear()
        self.cancel()
        self._end_worker("the page was closed")
        self.supervisor.clients.discard(self)
        self.supervisor.parking.put(self.session_token, self.saved, self.kept)
        with contextlib.suppress(RuntimeError):
            self._changed.set()
