"""The server's side: a thread with an event loop that moves messages and keeps the time.

It starts the nursery, and another one when that dies or when the simulator's kernels have been
compiled meanwhile.  Everything in here runs in that loop, except what says otherwise.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from workbench.service.budgets import Budgets
from workbench.service.journal import note
from workbench.service.wire import Line

_BOOT = "import sys; from workbench.service.nursery import start; start(int(sys.argv[1]))"
_ROOT = str(Path(__file__).resolve().parents[2])
_SINGLE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""A process that is to be forked must have one thread."""
FRESH = 5.0
"""Seconds of compiling from which new processes are worth it."""
RESTARTS = 1.0
"""Seconds between two tries to start the nursery."""


class Ended(Exception):  # noqa: N818 (it is told, not raised at a user)
    """A worker process has ended; the text says how."""


@dataclass(eq=False)
class Worker:
    """A process of the nursery, seen from here."""

    hub: Hub
    nursery: Nursery
    pid: int = 0
    line: Line | None = None
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
            self.nursery.send({"kill": self.pid})

    def bury(self, text: str) -> None:
        """It has ended."""
        if not self.ended.done():
            self.ended.set_result(self.why or text)
        if self.line is not None:
            self.line.close()


class Nursery:
    """One nursery process, seen from here."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.state: dict[str, Any] = {}
        self.workers: dict[int, Worker] = {}
        self.waiting: dict[int, tuple[Worker, asyncio.Future[None]]] = {}
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.failure = ""
        self.buried: dict[int, str] = {}
        ours, its = socket.socketpair()
        path = os.environ.get("PYTHONPATH")
        environment = {
            **os.environ,
            **dict.fromkeys(_SINGLE, "1"),
            "PYTHONPATH": os.pathsep.join(filter(None, (_ROOT, path))),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, str(its.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
            pass_fds=[its.fileno()],
        )
        its.close()
        self.pid = self._process.pid
        self._line = Line(ours, self._hear, self._lost)
        self.send({"budgets": hub.budgets.to_dict()})

    def send(self, message: Any, files: tuple[int, ...] = ()) -> None:
        self._line.send(message, files)

    def _hear(self, message: dict[str, Any], _: list[int]) -> None:
        match message:
            case {"warm": dict(state)}:
                self.state = state
                note("nursery_ready", pid=self.pid)
                self.ready.set_result(None)
                self.hub.renewed(self)
            case {"born": int(number), "pid": int(pid)}:
                worker, born = self.waiting.pop(number)
                self.adopt(worker, pid)
                if not born.done():
                    born.set_result(None)
            case {"gone": int(pid), "signal": int(number), "code": int(code)}:
                text = _how(number, code)
                worker = self.workers.pop(pid, None)
                if worker is None:  # a runner that was given away and has not said its number yet
                    self.buried[pid] = text
                    return
                worker.bury(text)
            case {"compiled": float(seconds), "ok": bool(ok)}:
                note("kernels_compiled", seconds=round(seconds, 1), ok=ok)
                if ok and seconds > FRESH:
                    self.hub.renew()
            case {"failed": str(text)}:
                self.failure = text
                note("nursery_failed", reason=text)

    def adopt(self, worker: Worker, pid: int) -> None:
        """From now on this is the process of that number."""
        worker.pid = pid
        if pid in self.buried:
            worker.bury(self.buried.pop(pid))
            return
        self.workers[pid] = worker
        if worker.why:  # it was to be ended before it was born
            self.send({"kill": pid})

    def _lost(self) -> None:
        """The process is gone, and with it all its workers."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        if not self.ready.done():
            self.ready.set_exception(Ended(self.failure or "the engine could not be loaded"))
            self.ready.exception()
        for worker in [*self.workers.values(), *(w for w, _ in self.waiting.values())]:
            worker.bury("the process that all work is done in was ended")
        for _, born in self.waiting.values():
            if not born.done():
                born.set_exception(Ended("it could not be started"))
        self.workers.clear()
        self.waiting.clear()
        self.hub.lost(self)

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


class Hub:
    """The thread and its loop; one for the whole server, made at the first page (:func:`hub`)."""

    def __init__(self, budgets: Budgets) -> None:
        self.budgets = budgets
        self.loop = asyncio.new_event_loop()
        self.started = time.time()
        self.first: dict[str, Any] = {}
        """What a page shows at first; empty until the engine is loaded."""
        self.clients: set[Any] = set()
        self.running: list[Any] = []
        self.in_line: list[Any] = []
        self._numbers = 0
        self._nursery: Nursery | None = None
        self._old: set[Nursery] = set()
        self._stopped = False
        self._tasks: set[asyncio.Future[Any]] = set()
        self._watchers: list[Callable[[], None]] = []
        thread = threading.Thread(target=self._run, name="hub", daemon=True)
        thread.start()
        self.call(self._start)

    # From any thread ----------------------------------------------------------------------

    def call(self, what: Callable[[], Any]) -> None:
        """Do something in the loop, soon."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            self.loop.call_soon_threadsafe(what)

    def when_ready(self, what: Callable[[], None]) -> None:
        """Call back, in the loop, when the engine is loaded; now, if it is."""
        self.call(lambda: what() if self.first else self._watchers.append(what))

    def stop(self) -> None:
        """End every process; returns when they are gone, or after two seconds."""
        done = threading.Event()

        def end() -> None:
            self._stopped = True
            for nursery in [self._nursery, *self._old]:
                if nursery is not None:
                    nursery.end()
            done.set()

        self.call(end)
        done.wait(2)

    def counts(self) -> dict[str, int]:
        """What there is, for ``/health``."""
        nurseries = [n for n in (self._nursery, *self._old) if n is not None]
        return {
            "pages": len(self.clients),
            "workers": sum(len(n.workers) for n in nurseries),
            "runs": len(self.running),
            "runs_waiting": len(self.in_line),
        }

    @property
    def ready(self) -> bool:
        """Whether the engine is loaded."""
        return self._nursery is not None and bool(self._nursery.state)

    # In the loop --------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def _start(self) -> None:
        if not self._stopped:
            self._nursery = Nursery(self)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        """Run a coroutine in the loop, and do not lose it."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            note("fault", reason=repr(task.exception()))

    def renewed(self, nursery: Nursery) -> None:
        """A nursery is ready: pages begin with what it shows."""
        self.first = nursery.state
        for watcher in self._watchers:
            watcher()
        self._watchers.clear()

    def renew(self) -> None:
        """Fork from a new nursery as soon as it is ready."""
        if self._nursery is None or self._stopped:
            return
        new = Nursery(self)
        self._old.add(new)
        new.ready.add_done_callback(lambda ready: ready.exception() or self._replace(new))

    def _replace(self, new: Nursery) -> None:
        old, self._nursery = self._nursery, new
        self._old.discard(new)
        if old is not None:
            self._old.add(old)
            old.retire()

    def lost(self, nursery: Nursery) -> None:
        """A nursery is gone; start another one, unless that was meant."""
        self._old.discard(nursery)
        if nursery is self._nursery and not self._stopped:
            note("nursery_lost", pid=nursery.pid)
            self._nursery = None
            self.loop.call_later(RESTARTS, self._start)

    async def nursery(self) -> Nursery:
        """The nursery, when it is ready.

        Raises
        ------
        Ended
            If it cannot be started.
        """
        for _ in range(3):
            while self._nursery is None:
                await asyncio.sleep(RESTARTS / 4)
            try:
                await asyncio.shield(self._nursery.ready)
                return self._nursery
            except Ended as end:
                failure = end
        raise failure

    async def fork(self, on_message: Callable[[Any, list[int]], None]) -> Worker:
        """A new seat."""
        nursery = await self.nursery()
        worker = Worker(self, nursery, on_message=on_message)
        ours, its = socket.socketpair()
        self._numbers += 1
        born = asyncio.get_running_loop().create_future()
        nursery.waiting[self._numbers] = worker, born
        worker.line = Line(ours, worker.on_message, partial(self._broken, worker))
        nursery.send({"bear": self._numbers}, (its.fileno(),))
        try:
            await asyncio.wait_for(born, self.budgets.wall_time)
        except TimeoutError:
            worker.kill()
            raise Ended("no process could be started") from None
        finally:
            its.close()
        return worker

    def attach(self, nursery: Nursery, file: int, on_message: Callable[..., None]) -> Worker:
        """The worker whose socket came from a seat; it says its number later."""
        worker = Worker(self, nursery, on_message=on_message)
        end = socket.socket(fileno=file)
        worker.line = Line(end, worker.on_message, partial(self._broken, worker))
        return worker

    def _broken(self, worker: Worker) -> None:
        """A worker's socket has closed: it ends, or has ended."""
        if not worker.pid:
            worker.bury("it ended before it began")
        else:  # the nursery says how, and if it does not end by itself, it is ended
            self.loop.call_later(1.0, self._make_sure, worker)

    def _make_sure(self, worker: Worker) -> None:
        if not worker.ended.done():
            worker.nursery.send({"kill": worker.pid})


_lock = threading.Lock()
_hub: Hub | None = None


def hub(budgets: Budgets | None = None) -> Hub:
    """The server's hub; made at the first call, which may say how much there is to give."""
    global _hub
    with _lock:
        if _hub is None:
            _hub = Hub(budgets or Budgets.from_environment())
            atexit.register(_hub.stop)
        return _hub


def close() -> None:
    """End the hub and every process of it; a new one may be made after."""
    global _hub
    with _lock:
        old, _hub = _hub, None
    if old is not None:
        old.stop()
        atexit.unregister(old.stop)
