"""The process that forks all workers: the engine is loaded once, and a fork takes milliseconds.

It does one thing at a time, none of them long: fork a session worker, end a process, say who has
died.  When its socket to the server closes, the server is dead, and everything here dies with it.

From the server come ``{"spawn": number}`` with the session worker's socket, ``{"kill": pid}`` and
``{"retire": true}``; to it go ``{"warm": state}``, ``{"spawned": number, "pid": pid}``,
``{"gone": pid, "signal": n, "code": n, "cpu": seconds}`` and ``{"compiled": seconds}``.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import threading
import time
import traceback
from functools import partial
from typing import Any

from fuseloom import interpreter
from fuseloom.exploration import limiting
from fuseloom_workbench.service import process
from fuseloom_workbench.service.budgets import Budgets
from fuseloom_workbench.service.wire import Closed, WorkerSocket


def start(file: int) -> None:
    """Serve the server at the other end of that socket; runs in the process."""
    os.setpgid(0, 0)
    process.default_signals()
    signal.signal(signal.SIGTERM, _end_all)
    limiting.end_with(os.getppid(), signal.SIGTERM)
    limiting.no_core_dumps()
    end = socket.socket(fileno=file)
    hello = WorkerSocket(end)
    budgets = Budgets.of(hello.receive()["budgets"])
    with _watched(end):
        try:
            template = _warm(budgets)
        except BaseException:
            hello.send({"failed": traceback.format_exc()})
            raise
    fork_server = ForkServer(hello, budgets, template)
    try:
        fork_server.serve()
    except Closed:
        pass
    finally:
        os.killpg(0, signal.SIGKILL)


def _end_all(*_: object) -> None:
    os.killpg(0, signal.SIGKILL)


class _watched:  # noqa: N801 (a context manager, used like a function)
    """While the engine is being loaded, a thread looks whether the server is still there."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()  # a process with threads must not fork

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._end, select.POLLHUP)
        while not self._done.is_set():
            if any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(50)):
                os.killpg(0, signal.SIGKILL)


def _warm(budgets: Budgets) -> Any:
    """The session worker that others are forked from: all loaded, the first design compiled."""
    from fuseloom_workbench.service.session_worker import Template

    return Template(budgets)


class ForkServer:
    """Forks, kills, reaps."""

    def __init__(self, wire: WorkerSocket, budgets: Budgets, template: Any) -> None:
        self._wire = wire
        self._budgets = budgets
        self._template = template
        self._retired = False
        self._rehearsed = False
        self._compiling: tuple[int, float] | None = None
        self._woken, waker = os.pipe()
        for file in (self._woken, waker):
            os.set_blocking(file, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self._waker = waker
        process.reap_orphans()

    def serve(self) -> None:
        """Work until the server is gone, or until retired and childless."""
        self._wire.send({"warm": self._template.state})
        self._compile()
        childless = self._reap()
        while True:
            if not self._wire.waiting:
                # While anybody is served, the next page must not wait for a step of it.
                idle = None if self._rehearsed or not childless else 0
                ready = select.select([self._wire, self._woken], [], [], idle)[0]
                if not ready:
                    self._rehearsed = next(self._template.rehearsal, self) is self
                    continue
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 4096)
            childless = self._reap()
            if self._retired and childless:
                return
            if self._wire.waiting or select.select([self._wire], [], [], 0)[0]:
                self._obey(self._wire.receive())
                childless = False

    def _obey(self, order: dict[str, Any]) -> None:
        match order:
            case {"spawn": int(number)}:
                file = self._wire.file()
                pid = process.fork(partial(self._become_session_worker, os.getpid(), file))
                os.close(file)
                self._wire.send({"spawned": number, "pid": pid})
            case {"kill": int(pid)} if _parent(pid) == os.getpid():
                # nobody else reaps, so the number is still that process's
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            case {"retire": True}:
                self._retired = True
                os.write(self._waker, b"x")

    def _become_session_worker(self, parent: int, file: int) -> None:
        """Inside the fork."""
        process.default_signals()
        self._wire.close()
        for other in (self._woken, self._waker):
            os.close(other)
        _quiet()
        self._template.sit(WorkerSocket(socket.socket(fileno=file)), parent)

    def _reap(self) -> bool:
        """Say who has died; whether nobody is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if self._compiling and pid == self._compiling[0]:
                took = time.monotonic() - self._compiling[1]
                self._compiling = None
                self._wire.send({"compiled": took, "ok": status == 0})
                continue
            ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
            cpu = usage.ru_utime + usage.ru_stime
            self._wire.send({"gone": pid, "signal": ended, "code": code, "cpu": cpu})

    def _compile(self) -> None:
        """Compile the simulator's kernels beside, at low priority, unless they are there."""
        if self._template.compiled:
            return
        polite = ["nice", "-n", "10"] if shutil.which("nice") else []
        command = [*polite, *interpreter.command("-m", "fuseloom", "warmup", "--json")]

        def compiling() -> None:
            process.default_signals()
            _quiet()
            os.execvp(command[0], command)

        self._compiling = process.fork(compiling), time.monotonic()


def _quiet() -> None:
    """Discard what libraries print: answers travel over the socket."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as line:
            return int(line.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1
