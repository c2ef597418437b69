"""Worker processes and their fork server as the supervisor sees them: which live, how each ends.

Everything in here runs in the supervisor's loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import psutil

import fuseloom_workbench
from fuseloom import interpreter
from fuseloom_workbench.service.budgets import Budgets
from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.wire import WorkerConnection

_BOOT = (
    "import sys; from fuseloom_workbench.service.fork_server import start; start(int(sys.argv[1]))"
)
_SINGLE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""A process that is to be forked must have one thread."""
FRESH = 5.0
"""Seconds of compiling from which new processes are worth it."""
REAPED = 60.0
"""Seconds in which a process that died before it was known is looked for by its number.

Numbers are given again: in ten minutes of many visitors each of them comes round.
"""
LOADING = 300.0
"""Seconds after which a fork server that is still loading is taken for dead."""


class ForkServerListener(Protocol):
    """The listener to a fork server's events."""

    budgets: Budgets
    loop: asyncio.AbstractEventLoop

    def renew(self) -> None:
        """Report that new machine code makes a new fork server worthwhile."""

    def renewed(self, fork_server: ForkServerHandle) -> None:
        """A fork server has loaded the engine."""

    def lost(self, fork_server: ForkServerHandle) -> None:
        """A fork server is gone, with all its workers."""


class Ended(Exception):  # noqa: N818 (it is told, not raised at a user)
    """A worker process has ended; the text says how."""


class WorkerGoneError(Exception):
    """A worker process was dead already when it was asked."""


@dataclass(eq=False)
class Worker:
    """A process of the fork server, seen from here."""

    supervisor: ForkServerListener
    fork_server: ForkServerHandle
    pid: int = 0
    line: WorkerConnection | None = None
    on_message: Callable[[Any, list[int]], None] = lambda message, files: None
    ended: asyncio.Future[str] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    why: str = ""
    """Why it was killed from here, if it was."""

    def send(self, message: Any) -> None:
        if self.line is not None:
            self.line.send(message)

    def kill(self, why: str = "it was ended") -> None:
        """End it now; harmless when it has ended."""
        self.why = self.why or why
        if self.line is not None:
            self.line.close()
        if self.pid and not self.ended.done():
            self.fork_server.send({"kill": self.pid})

    def lives(self) -> bool:
        """Return whether its process runs; the news of its end may not have arrived yet."""
        try:
            state = psutil.Process(self.pid).status()
        except (psutil.Error, ValueError):
            return False
        return state not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)

    def reap(self, text: str) -> None:
        """It has ended; its last words may not have been read yet."""
        if self.line is not None:
            self.line.drain()
        if not self.ended.done():
            self.ended.set_result(self.why or text)
        if self.line is not None:
            self.line.close()


class ForkServerHandle:
    """One fork server process, seen from here."""

    def __init__(self, supervisor: ForkServerListener) -> None:
        self.supervisor = supervisor
        self.state: dict[str, Any] = {}
        self.workers: dict[int, Worker] = {}
        self.waiting: dict[int, tuple[Worker, asyncio.Future[None]]] = {}
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.failure = ""
        self.hangs = False
        self._reaped: dict[int, tuple[str, float]] = {}
        ours, its = socket.socketpair()
        self._process = subprocess.Popen(
            interpreter.command("-c", _BOOT, str(its.fileno())),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=interpreter.environment(fuseloom_workbench) | dict.fromkeys(_SINGLE, "1"),
            pass_fds=[its.fileno()],
        )
        its.close()
        self.pid = self._process.pid
        self._line = WorkerConnection(ours, self._hear, self._lost)
        self.send({"budgets": supervisor.budgets.to_dict()})
        self._alarm = supervisor.loop.call_later(LOADING, self._too_long)

    def send(self, message: Any, files: tuple[int, ...] = ()) -> None:
        self._line.send(message, files)

    def _hear(self, message: dict[str, Any], _: list[int]) -> None:
        match message:
            case {"warm": dict(state)}:
                self.state = state
                self._alarm.cancel()
                note("fork_server_ready", pid=self.pid)
                self.ready.set_result(None)
                self.supervisor.renewed(self)
            case {"spawned": int(number), "pid": int(pid)}:
                worker, spawned = self.waiting.pop(number)
                self.register(worker, pid)
                if not spawned.done():
                    spawned.set_result(None)
            case {"gone": int(pid), "signal": int(number), "code": int(code)}:
                text = _how(number, code)
                worker = self.workers.pop(pid, None)
                if worker is not None:
                    worker.reap(text)
                else:  # it may be a runner that was given away and has not said its number yet
                    self._remember(pid, text)
            case {"compiled": float(seconds), "ok": bool(ok)}:
                note("kernels_compiled", seconds=round(seconds, 1), ok=ok)
                if ok and seconds > FRESH:
                    self.supervisor.renew()
            case {"failed": str(text)}:
                self.failure = text
                note("fork_server_failed", reason=text)

    def _too_long(self) -> None:
        self.failure = f"the engine was not loaded within {LOADING:g} s"
        note("fork_server_failed", reason=self.failure)
        self.end()

    def _remember(self, pid: int, text: str) -> None:
        now = time.monotonic()
        self._reaped.pop(pid, None)
        self._reaped[pid] = text, now
        while now - next(iter(self._reaped.values()))[1] > REAPED:
            del self._reaped[next(iter(self._reaped))]

    def register(self, worker: Worker, pid: int) -> None:
        """From now on this is the process of that number."""
        worker.pid = pid
        text, since = self._reaped.pop(pid, ("", 0.0))
        if text and time.monotonic() - since <= REAPED:
            worker.reap(text)
            return
        self.workers[pid] = worker
        if worker.why:  # it was to be ended before it was spawned
            self.send({"kill": pid})

    def _lost(self) -> None:
        """The process is gone, and with it all its workers."""
        self._alarm.cancel()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        if not self.ready.done():
            self.ready.set_exception(Ended(self.failure or "the engine could not be loaded"))
            self.ready.exception()
        for worker in [*self.workers.values(), *(w for w, _ in self.waiting.values())]:
            worker.reap("the process that all work is done in was ended")
        for _, spawned in self.waiting.values():
            if not spawned.done():
                spawned.set_exception(Ended("it could not be started"))
        self.workers.clear()
        self.waiting.clear()
        self.supervisor.lost(self)

    def retire(self) -> None:
        """Fork nothing more, and end when the last worker has."""
        self.send({"retire": True})

    def end(self) -> None:
        """End it and all its workers now."""
        self._line.close()


def _how(number: int, code: int) -> str:
    if number == signal.SIGXCPU:
        return "cpu"
    if number == signal.SIGKILL:
        return "it was ended"
    if number:
        return f"it crashed ({signal.Signals(number).name})"
    return f"it ended with code {code}"
