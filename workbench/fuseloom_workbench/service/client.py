"""One page, seen from the hub: its requests in line, its seat, its run, and what it has got.

A request is carried out after those before it.  One that takes long is given up when a newer one
comes; one that takes too long is ended.  Either ends the seat; a new one goes on with the design
as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.parking import new_word
from fuseloom_workbench.service.priority import LOOK, Watch
from fuseloom_workbench.service.queued_runs import QueuedRun
from fuseloom_workbench.service.spool import TextSpool
from fuseloom_workbench.service.supervisor import Supervisor
from fuseloom_workbench.service.workers import Ended, Worker

PATIENCE = 3.0
"""Seconds that a request has before a newer one ends it, if it is to blame for them."""
TO_BLAME = 1.0
"""Seconds of CPU time from which it is."""
AT_ONCE = 0.1
"""Seconds within which a seat that ends had been dead before it was asked."""
Deliver = Callable[[dict[str, Any]], None]


class _WasGone(Exception):  # noqa: N818 (nobody is told)
    """The seat was dead already when it was asked."""


@dataclass
class Ask:
    """A request in line."""

    message: dict[str, Any]
    topic: str = "fusion"
    made: float = field(default_factory=time.monotonic)


class Client:
    """One page.

    Parameters
    ----------
    deliver : callable
        Takes what is new for the page, in the hub's thread: ``parts`` (name to JSON text),
        ``working``, ``refused`` (topic and text), ``run`` (state of the simulation).
    """

    def __init__(self, hub: Supervisor, deliver: Deliver, number: int) -> None:
        self.hub = hub
        self.number = number
        self.word = new_word()
        self.saved: str | None = None
        self.kept = TextSpool(hub.budgets.records)
        self.used = time.monotonic()
        self.seen = True  # whether a browser is connected
        self.busy = False
        self._deliver = deliver
        self._line: list[Ask] = []
        self._changed = asyncio.Event()
        self._seat: Worker | None = None
        self._slow: str | None = None  # the design with which the seat gave way to others
        self._answers = 0
        self._answer: asyncio.Future[dict[str, Any]] | None = None
        self._turn: QueuedRun | None = None
        self._closed = False
        self._resumed = False
        hub.clients.add(self)
        hub.spawn(self._work())
        deliver({"word": self.word})

    # What it does now ---------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether no request is under way or in line."""
        return not self.busy and not self._line

    @property
    def pid(self) -> int:
        """The process that computes for the page; 0 if there is none yet."""
        return 0 if self._seat is None else self._seat.pid

    @property
    def run_pid(self) -> int:
        """The process of its simulation; 0 if there is none yet."""
        return 0 if self._turn is None else self._turn.pid

    # Requests -----------------------------------------------------------------------------

    def ask(self, message: dict[str, Any], topic: str) -> None:
        """Put a request in line."""
        if self._closed:
            return
        self._line.append(Ask(message, topic))
        asks = [one for one in self._line if "ask" in one.message]
        if len(asks) > self.hub.budgets.pending:
            self._line.remove(asks[0])
            self._refuse(asks[0], "given up: too many newer requests came")
        self.used = time.monotonic()
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
                self._end_seat("fault")
                self._give_up(ask, "the server failed at this; the design is as before")
            else:
                took = time.monotonic() - started
                if "ask" in ask.message:
                    note(
                        "request", page=self.number, what=ask.message["ask"], seconds=round(took, 3)
                    )
        self._end_seat("the page was closed")

    def _say_working(self, working: bool) -> None:
        if working != self.busy:
            self.busy = working
            self._deliver({"working": working})

    def _refuse(self, ask: Ask, text: str) -> None:
        self._deliver({"refused": [ask.topic, text]})

    def _give_up(self, ask: Ask, text: str) -> None:
        if self._closed:
            return
        note("request_ended", page=self.number, reason=text)
        match ask.message:
            case {"watch": True}:  # nobody has asked for that
                return
            case {"turn": QueuedRun() as turn}:  # Run is asked for where the run is shown
                turn.fail(text)
            case _:
                self._refuse(ask, text)

    async def _carry_out(self, ask: Ask) -> None:
        try:
            await self._carry_out_once(ask)
        except _WasGone:  # it had died before; another one can do it
            try:
                await self._carry_out_once(ask)
            except _WasGone:
                raise Ended(self._why("it ended at once, twice")) from None

    async def _carry_out_once(self, ask: Ask) -> None:
        match ask.message:
            case {"resume": str(word), "saved": dict(saved)}:
                await self._resume(word, saved)
                return
        seat = await self._ready_seat()
        match ask.message:
            case {"run": bool(explain), "turn": QueuedRun() as turn, **wishes}:
                self._turn = turn
                await self._begin_run(seat, turn, {"explain": explain, **wishes})
            case {"ask": str(name), "args": list(arguments)}:
                await self._question(seat, {"ask": 0, "name": name, "args": arguments})
            case {"keep": str(run), "state": dict(state)}:
                self.kept.add(run)
                try:
                    kept = {"keep": run, "found": ask.message.get("found")}
                    await self._question(seat, kept, news={"run": state})
                except Ended:  # it is kept here: the next seat shows it
                    self._deliver({"run": state})
                    raise

    # Runs that others keep ----------------------------------------------------------------

    def watch(self) -> None:
        """See that the page has a seat which looks for kept runs, if there is one to spare."""
        if not self.hub.keeps_runs or self._closed or self.busy or self._line:
            return
        seated = sum(c.seated for c in self.hub.clients)
        if self.hub.ready and not self.seated and seated < self.hub.budgets.workers:
            self._line.append(Ask({"watch": True}))
            self._changed.set()

    # Going on -----------------------------------------------------------------------------

    def resume(self, word: str, saved: dict[str, Any]) -> None:
        """Go on where the page of this word was, with its runs; else from what a browser kept.

        It waits in line, as what is asked before it would bring back what it replaces.  A page
        goes on once; later ones are requests among others, of which there may be so many.
        """
        if self._closed:
            return
        if self._resumed:
            self.ask({"ask": "restore", "args": [saved]}, "fusion")
            return
        self._resumed = True
        self._line.append(Ask({"resume": word, "saved": saved}))
        self._changed.set()

    async def _resume(self, word: str, saved: dict[str, Any]) -> None:
        before = next((c for c in self.hub.clients if c.word == word and c is not self), None)
        parked = self.hub.parking.get(word)
        if before is not None and before.saved is not None:
            self._take_over(before.saved, before.kept)
        elif parked is not None:
            self._take_over(parked.saved, parked.kept)
        else:
            seat = await self._ready_seat()
            await self._question(seat, {"ask": 0, "name": "restore", "args": [saved]})
            return
        note("resumed", page=self.number, runs=len(self.kept))
        self._end_seat("another session goes on here")
        await self._ready_seat()  # one that is opened shows what it has

    def _take_over(self, saved: str, kept: TextSpool) -> None:
        self.kept.close()
        self.saved, self.kept = saved, TextSpool(kept.most, kept)

    # The seat -----------------------------------------------------------------------------

    async def _ready_seat(self) -> Worker:
        """The page's seat; a new one is brought to where the page is."""
        if self._slow is not None and self._slow != self.saved and self._others():
            self._end_seat("it gave way to others, and stays behind them")
        if self._seat is not None and not self._seat.ended.done():
            return self._seat
        limit = self.hub.budgets.wall_time
        try:
            async with asyncio.timeout(limit):
                await self._room()
                seat = self._seat = await self.hub.fork(self._hear)
        except TimeoutError:
            why = "are busy" if self.hub.ready else "are not ready: the engine is being loaded"
            raise Ended(
                f"given up: no process was free within {limit} s, those of this server {why}; "
                "try again later"
            ) from None
        if self._closed:
            seat.kill()
            raise Ended("the page was closed")
        if self.saved is not None:
            await self._question(seat, {"open": self.saved, "kept": [*self.kept]}, patient=True)
        return seat

    async def _room(self) -> None:
        """Wait until one more seat is allowed; pages that are idle give theirs back."""
        told = False
        while True:
            seated = [c for c in self.hub.clients if c is not self and c.seated]
            if len(seated) < self.hub.budgets.workers:
                return
            idle = [c for c in seated if not c.busy]
            if idle:
                min(idle, key=lambda c: c.used).release()
                continue
            if not told:
                told = True
                limit = self.hub.budgets.workers
                self._deliver({"waiting": f"this server works for {limit} pages at once; "
                               "yours waits for one of them"})  # fmt: skip
            await asyncio.sleep(0.1)

    @property
    def seated(self) -> bool:
        return self._seat is not None and not self._seat.ended.done() and not self._seat.why

    def release(self) -> None:
        """Give the seat back; the next request gets a new one."""
        self._end_seat("idle")

    def _end_seat(self, why: str) -> None:
        seat, self._seat = self._seat, None
        self._slow = None
        if seat is not None:
            seat.kill(why)

    async def _question(
        self,
        seat: Worker,
        message: dict[str, Any],
        patient: bool = False,
        news: dict[str, Any] | None = None,
    ) -> None:
        """Send a question and wait for the answer, not for ever; ``news`` are told with it.

        Raises
        ------
        Ended
            If there was none; the seat has ended then.
        """
        watch = Watch(self.hub.loop, lambda: seat.pid, self._others)
        try:
            await self._answered(seat, message, watch, patient, news)
        finally:
            watch.end()
        if watch.gave_way and "ask" in message:
            self._slow = self.saved

    async def _answered(
        self,
        seat: Worker,
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
        lived = seat.lives()
        seat.send(message)
        started = time.monotonic()
        limit = self.hub.budgets.wall_time
        while not answer.done():
            left = started + limit - time.monotonic()
            hurried = bool(self._line) and not patient
            if hurried:
                left = min(left, max(LOOK, started + PATIENCE - time.monotonic()))
            self._changed.clear()
            waits = [answer, seat.ended]
            if not hurried:
                waits.append(asyncio.ensure_future(self._changed.wait()))
            await asyncio.wait(waits, timeout=max(0, left), return_when=asyncio.FIRST_COMPLETED)
            if len(waits) > 2:
                waits[2].cancel()
            if answer.done():
                break
            if seat.ended.done():
                self._seat = None
                gone = not lived or time.monotonic() - started < AT_ONCE
                if gone and seat.ended.result() != "cpu":
                    raise _WasGone
                raise Ended(self._why(seat.ended.result()))
            if self._closed:
                seat.kill()
                raise Ended("the page was closed")
            if time.monotonic() - started > limit:
                self._end_seat("late")
                raise Ended(f"given up: this took more than {limit} s; the design is as before")
            late = self._line and not patient and time.monotonic() - started > PATIENCE
            if late and watch.used > TO_BLAME:
                self._end_seat("newer")
                raise Ended("given up for a newer request; the design is as before")
        self._answer = None
        found = answer.result()
        self.saved = found["saved"]
        self._deliver({"parts": {**found["parts"], "saved": self.saved}, **(news or {})})

    def _others(self) -> bool:
        return self.hub.others(self)

    def _why(self, text: str) -> str:
        if text == "cpu":
            limit = self.hub.budgets.cpu_time
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
                turn, seat = self._turn, self._seat
                if turn is not None and turn.number == number and seat is not None:
                    turn.attach(seat.nursery, files.pop())
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
        if self._turn is not None and not self._turn.over:
            return
        turn = self._turn = QueuedRun(self.hub, self._hear_run, self.number, self._others)
        wishes = {"run": explain, "search": search, "events": events, "settings": settings}
        self._line.append(Ask({**wishes, "turn": turn}))
        self.used = time.monotonic()
        self._changed.set()

    async def _begin_run(self, seat: Worker, turn: QueuedRun, wishes: dict[str, Any]) -> None:
        if turn.over:
            return
        seat.send({"run": turn.number, **wishes})
        waits: list[asyncio.Future[Any]] = [turn.attached, seat.ended]
        await asyncio.wait(
            waits, timeout=self.hub.budgets.wall_time, return_when=asyncio.FIRST_COMPLETED
        )
        if not turn.attached.done():
            self._end_seat("no runner")
            turn.fail("the simulator could not be started")

    def _hear_run(self, state: dict[str, Any]) -> None:
        if "done" in state:  # the run ends, for the page, when its result is shown
            kept = {"keep": state.pop("done"), "found": state.pop("found", None)}
            self.ask({**kept, "state": state}, "run")
        else:
            self._deliver({"run": state})

    def cancel(self) -> None:
        """End the run; it need not have begun."""
        if self._turn is not None:
            self._turn.cancel()

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
        self._end_seat("the page was closed")
        self.hub.clients.discard(self)
        self.hub.parking.put(self.word, self.saved, self.kept)
        with contextlib.suppress(RuntimeError):
            self._changed.set()
