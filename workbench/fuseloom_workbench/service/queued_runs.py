"""Whose simulation runs: so many at once, the others wait in line and are told their place."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from typing import Any

from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.priority import Watch
from fuseloom_workbench.service.supervisor import Supervisor
from fuseloom_workbench.service.workers import ForkServerHandle, Worker

PLACES = ("next", "second", "third", "fourth", "fifth")


class QueuedRun:
    """One simulation, from Run to its end.

    Parameters
    ----------
    tell : callable
        Takes the state of the run: ``running``, ``share``, ``status``, ``failed`` and, at the
        end, ``done`` with the run as text, and ``found`` of a search.
    others : callable
        Whether there are pages that it may have to give way to.
    """

    _last = 0

    def __init__(
        self,
        supervisor: Supervisor,
        tell: Callable[[dict[str, Any]], None],
        page: int,
        others: Callable[[], bool],
    ) -> None:
        QueuedRun._last += 1
        self.number = QueuedRun._last
        self.over = False
        self.attached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._supervisor = supervisor
        self._tell = tell
        self._page = page
        self._others = others
        self._worker: Worker | None = None
        self._started = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._watch: Watch | None = None
        self._going = False
        self._say(status="starting the simulator", share=0.0)

    def _say(self, **state: Any) -> None:
        self._tell({"running": True, "failed": False, **state})

    @property
    def pid(self) -> int:
        """The process that simulates; 0 until it has said its number."""
        return 0 if self._worker is None else self._worker.pid

    def attach(self, fork_server: ForkServerHandle, file: int) -> None:
        """The process is there; it waits for its turn."""
        if self.attached.done() or self.over:
            os.close(file)
            return
        self._worker = self._supervisor.attach(fork_server, file, self._hear)
        self._worker.ended.add_done_callback(lambda end: self._ended(end.result()))
        self.attached.set_result(None)
        self._supervisor.in_line.append(self)
        advance(self._supervisor)

    def place(self, number: int) -> None:
        """Say where in the line it is, counted from 0."""
        limit = self._supervisor.budgets.runs
        session_token = PLACES[number] if number < len(PLACES) else f"number {number + 1}"
        at_once = f"{limit} simulation{'s' * (limit != 1)} at once"
        self._say(status=f"this server runs {at_once}; yours is {session_token} in line", share=0.0)

    def go(self) -> None:
        """It is its turn."""
        self._going = True
        self._started = time.monotonic()
        self._say(status="starting the simulator", share=0.0)
        limit = self._supervisor.budgets.run_time
        self._alarm = self._supervisor.loop.call_later(limit, self._late)
        worker = self._worker
        if worker is not None:
            self._watch = Watch(self._supervisor.loop, lambda: worker.pid, self._others)
            worker.send({"go": True})

    def _late(self) -> None:
        limit = self._supervisor.budgets.run_time
        self.fail(
            f"stopped after {limit:g} s, the limit for a run in the workbench; "
            "use the command line for longer ones"
        )

    def _hear(self, message: dict[str, Any], _: list[int]) -> None:
        match message:
            case {"pid": int(pid)} if self._worker is not None:
                self._worker.fork_server.register(self._worker, pid)
            case {"progress": [share, str(text)]} if not self.over:
                self._say(status=text, share=min(float(share), 1.0))
            case {"searched": dict(state)} if not self.over:
                self._tell({"searched": state})
            case {"done": str(run)}:
                if message.get("unkept"):
                    note("run_not_kept", page=self._page, reason=message["unkept"])
                found = {"found": message["found"]} if "found" in message else {}
                self._end({"done": run, **found, "status": "done", "share": 1.0, "failed": False})
            case {"refused": str(text)}:
                self._end({"status": text, "failed": True})

    def _ended(self, how: str) -> None:
        if how == "cpu":
            self._late()
        else:
            self._end({"status": f"the simulator stopped: {how}", "failed": True})

    def fail(self, text: str) -> None:
        """End it with a reason."""
        self._end({"status": text, "failed": True})

    def cancel(self) -> None:
        """End it, because the user wants so or is gone."""
        self._end({"status": "cancelled", "failed": False})

    def _end(self, state: dict[str, Any]) -> None:
        if self.over:
            return
        self.over = True
        if self._alarm is not None:
            self._alarm.cancel()
        if self._watch is not None:
            self._watch.end()
        if self._worker is not None:
            self._worker.kill()
        if not self.attached.done():
            self.attached.set_result(None)
        for line in (self._supervisor.running, self._supervisor.in_line):
            with contextlib.suppress(ValueError):
                line.remove(self)
        seconds = round(time.monotonic() - self._started, 3) if self._going else 0.0
        outcome = "done" if "done" in state else state["status"]
        note("run", page=self._page, outcome=outcome, seconds=seconds)
        self._tell({"running": False, **state})
        advance(self._supervisor)


def advance(supervisor: Supervisor) -> None:
    """Let those begin whose turn it is, and tell the others their place."""
    while supervisor.in_line and len(supervisor.running) < supervisor.budgets.runs:
        queued_run = supervisor.in_line.pop(0)
        supervisor.running.append(queued_run)
        queued_run.go()
    for number, queued_run in enumerate(supervisor.in_line):
        queued_run.place(number)
