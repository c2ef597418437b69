"""The server's side: a thread with an event loop that moves messages and keeps the time.

It starts the fork server, and another one when that dies or when the simulator's kernels have been
compiled meanwhile.  Everything in here runs in that loop, except what says otherwise.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from fuseloom.wording import counted
from fuseloom_workbench.service.budgets import KEEP_RUNS, Budgets
from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.parking import Parking
from fuseloom_workbench.service.wire import WorkerConnection
from fuseloom_workbench.service.workers import Ended, ForkServerHandle, Worker

RESTARTS = 1.0
"""Seconds between two tries to start the fork server."""
HANGS = 10.0
"""Seconds in which a fork server that works has forked a process, however loaded the machine is."""
RECENT = 10.0
"""Seconds after a request in which a page may well make another one."""


class Supervisor:
    """The supervisor thread and its event loop; a server has one, made at the first page."""

    def __init__(self, budgets: Budgets) -> None:
        self.budgets = budgets
        self.keeps_runs = bool(os.environ.get(KEEP_RUNS))
        self.loop = asyncio.new_event_loop()
        self.started = time.time()
        self.first: dict[str, Any] = {}
        """The first state of a page; empty until the engine is loaded."""
        self.clients: set[Any] = set()
        self.parking = Parking(2 * budgets.sessions)
        self.running: list[Any] = []
        self.in_line: list[Any] = []
        self._numbers = 0
        self._fork_server: ForkServerHandle | None = None
        self._next: ForkServerHandle | None = None
        self._old: set[ForkServerHandle] = set()
        self._stopped = False
        self._tasks: set[asyncio.Future[Any]] = set()
        self._watchers: list[Callable[[], None]] = []
        thread = threading.Thread(target=self._run, name="supervisor", daemon=True)
        thread.start()
        self.call(self._start)

    # From any thread ----------------------------------------------------------------------

    def call(self, what: Callable[[], Any]) -> None:
        """Do something in the loop, soon."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            # in a context of its own: the caller's holds its page, and timers and readers made in
            # it would keep that page in memory, even when they are cancelled
            self.loop.call_soon_threadsafe(what, context=contextvars.Context())

    def when_ready(self, what: Callable[[], None]) -> None:
        """Call back, in the loop, when the engine is loaded; now, if it is."""
        self.call(lambda: what() if self.first else self._watchers.append(what))

    def stop(self) -> None:
        """End every process; returns when they are gone, or after two seconds."""
        done = threading.Event()

        def end() -> None:
            self._stopped = True
            for fork_server in [self._fork_server, self._next, *self._old]:
                if fork_server is not None:
                    fork_server.end()
            done.set()

        self.call(end)
        done.wait(2)

    def counts(self) -> dict[str, int]:
        """Return the counts for ``/health``."""
        fork_servers = [n for n in (self._fork_server, self._next, *self._old) if n is not None]
        return {
            "pages": len(self.clients),
            "workers": sum(len(n.workers) for n in fork_servers),
            "runs": len(self.running),
            "runs_waiting": len(self.in_line),
        }

    @property
    def forks(self) -> ForkServerHandle | None:
        """The fork server from which new processes come; none while one is being replaced."""
        return self._fork_server

    @property
    def ready(self) -> bool:
        """True if the engine is loaded."""
        return self._fork_server is not None and bool(self._fork_server.state)

    # In the loop --------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def _start(self) -> None:
        if not self._stopped:
            self._fork_server = ForkServerHandle(self)

    @property
    def first_saved(self) -> Any:
        """The state with which every page begins, as a browser keeps it."""
        return json.loads(self.first["saved"]) if self.first else None

    @property
    def has_room(self) -> bool:
        """True if one more session worker is allowed."""
        return sum(c.has_worker for c in self.clients) < self.budgets.workers

    async def room_for(self, client: Any, deliver: Callable[[dict[str, Any]], None]) -> None:
        """Wait until one more session worker is allowed; pages that are idle give theirs back.

        A page that has to wait is told so, once.
        """
        waits = False
        while True:
            has_worker = [c for c in self.clients if c is not client and c.has_worker]
            if len(has_worker) < self.budgets.workers:
                return
            idle = [c for c in has_worker if not c.busy]
            if idle:
                min(idle, key=lambda c: c.used).release()
                continue
            if not waits:
                waits = True
                pages = counted(self.budgets.workers, "page")
                text = f"this server works for {pages} at once; yours waits"
                deliver({"waiting": text})
            await asyncio.sleep(0.1)

    def others(self, client: Any) -> bool:
        """Return whether other pages than this one are open and were used just now."""
        now = time.monotonic()
        return any(c is not client and c.seen and now - c.used < RECENT for c in self.clients)

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

    def renewed(self, fork_server: ForkServerHandle) -> None:
        """A fork server is ready: pages begin with what it shows."""
        self.first = fork_server.state
        for watcher in self._watchers:
            watcher()
        self._watchers.clear()

    def renew(self) -> None:
        """Fork from a new fork server as soon as it is ready."""
        if self._fork_server is None or self._next is not None or self._stopped:
            return
        new = self._next = ForkServerHandle(self)
        new.ready.add_done_callback(lambda ready: ready.exception() or self._replace(new))

    def _replace(self, new: ForkServerHandle) -> None:
        old, self._fork_server, self._next = self._fork_server, new, None
        if old is not None:
            self._old.add(old)
            if old.hangs:
                old.end()
            else:
                old.retire()

    def _hangs(self, fork_server: ForkServerHandle) -> None:
        """It did not do what it was told in time: another one takes its place, then it is ended."""
        if fork_server is self._fork_server and self._next is None:
            note("fork_server_hangs", pid=fork_server.pid)
            fork_server.hangs = True
            self.renew()

    def lost(self, fork_server: ForkServerHandle) -> None:
        """A fork server is gone; start another one, unless that was meant."""
        self._old.discard(fork_server)
        if fork_server is self._next:
            self._next = None
        if fork_server is self._fork_server and not self._stopped:
            note("fork_server_lost", pid=fork_server.pid)
            self._fork_server = None
            self.loop.call_later(RESTARTS, self._start)

    async def fork_server(self) -> ForkServerHandle:
        """The fork server, when it is ready; whoever waits sets a limit.

        Raises
        ------
        Ended
            If it cannot be started.
        """
        failure = Ended("the processes of this server end again and again")
        for _ in range(3):
            while (fork_server := self._fork_server) is None:
                await asyncio.sleep(RESTARTS / 4)
            try:
                await asyncio.shield(fork_server.ready)
            except Ended as end:
                failure = end
                continue
            if (
                fork_server is self._fork_server
            ):  # it may have been lost, or have retired, meanwhile
                return fork_server
        raise failure

    async def fork(self, on_message: Callable[[Any, list[int]], None]) -> Worker:
        """A new session worker; whoever waits sets a limit.

        Raises
        ------
        Ended
            If it cannot be started.
        """
        fork_server = await self.fork_server()
        worker = Worker(self, fork_server, on_message=on_message)
        ours, its = socket.socketpair()
        self._numbers += 1
        spawned = asyncio.get_running_loop().create_future()
        fork_server.waiting[self._numbers] = worker, spawned
        worker.line = WorkerConnection(ours, worker.on_message, partial(self._broken, worker))
        fork_server.send({"spawn": self._numbers}, (its.fileno(),))
        asked = time.monotonic()
        try:
            await spawned
        except asyncio.CancelledError:  # this took too long
            worker.kill()  # at its birth, if that comes
            if time.monotonic() - asked > min(HANGS, self.budgets.wall_time / 2):
                self._hangs(fork_server)
            raise
        finally:
            its.close()
        return worker

    def attach(
        self, fork_server: ForkServerHandle, file: int, on_message: Callable[..., None]
    ) -> Worker:
        """The worker whose socket came from a session worker; it says its number later."""
        worker = Worker(self, fork_server, on_message=on_message)
        end = socket.socket(fileno=file)
        worker.line = WorkerConnection(end, worker.on_message, partial(self._broken, worker))
        return worker

    def _broken(self, worker: Worker) -> None:
        """A worker's socket has closed: it ends, or has ended."""
        if not worker.pid:
            worker.reap("it ended before it began")
        else:  # the fork server says how, and if it does not end by itself, it is ended
            self.loop.call_later(1.0, self._make_sure, worker)

    def _make_sure(self, worker: Worker) -> None:
        if not worker.ended.done():
            worker.fork_server.send({"kill": worker.pid})


_lock = threading.Lock()
_supervisor: Supervisor | None = None


def supervisor(budgets: Budgets | None = None) -> Supervisor:
    """The server's supervisor; made at the first call, which may say how much there is to give."""
    global _supervisor
    with _lock:
        if _supervisor is None:
            _supervisor = Supervisor(budgets or Budgets.from_environment())
            atexit.register(_supervisor.stop)
        return _supervisor


def close() -> None:
    """End the supervisor and every process of it; a new one may be made after."""
    global _supervisor
    with _lock:
        old, _supervisor = _supervisor, None
    if old is not None:
        old.stop()
        atexit.unregister(old.stop)
