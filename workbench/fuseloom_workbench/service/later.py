"""Work that takes longer than an answer, in a child process that a newer request ends."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fuseloom.exploration import limiting
from fuseloom_workbench.base.parts import Merge, Pace
from fuseloom_workbench.service import priority, process
from fuseloom_workbench.service.wire import Closed, WorkerSocket


class BackgroundTask:
    """One piece of work in a child; its results arrive at :meth:`take`.

    Parameters
    ----------
    key : str
        What the work is about; the same key needs no new work.
    work : callable
        Gives results one after another, the last one last; each replaces the one before.
    seconds : float
        CPU time that it may take.
    pace : float
        Seconds between two unfinished results that arrive.

    Attributes
    ----------
    cpu_seconds : float
        CPU time that it has taken, once it has ended.
    """

    def __init__(
        self, key: str, work: Callable[[], Iterator[Any]], seconds: float, pace: float = 0.0
    ) -> None:
        self.key = key
        self.result: Any = None
        self.cpu_seconds = 0.0
        self._behind = False
        mine, its = socket.socketpair()

        def child() -> None:
            os.nice(3)  # answers come first
            limiting.limit_cpu(seconds)
            mine.close()
            wire = WorkerSocket(its)
            for result in filter(Pace(pace).lets, work()):
                # it is this program's own child that reads it
                wire.send(zlib.compress(pickle.dumps(result), 1).hex())

        self._pid = process.fork(child)
        its.close()
        self._wire = WorkerSocket(mine)

    def fileno(self) -> int:
        return self._wire.fileno()

    def take(self) -> bool:
        """Take the next result; False when there will be no more."""
        try:
            self.result = pickle.loads(zlib.decompress(bytes.fromhex(self._wire.receive())))
        except Closed:
            self.end()
            return False
        return True

    def give_way(self) -> None:
        """Let others come first, if this takes long."""
        if not self._behind and priority.cpu_seconds(self._pid, family=True) > priority.LONG:
            self._behind = priority.give_way(self._pid)

    def end(self) -> None:
        """End the child, and reap it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            used = os.wait4(self._pid, 0)[2]
            self.cpu_seconds = used.ru_utime + used.ru_stime
        self._wire.close()


class SplitTask:
    """Work in one or more children at once, each with a share of it.

    Parameters
    ----------
    works : sequence of callable
        One for each child, as of :class:`BackgroundTask`.
    merge : callable
        Makes one result of those of the shares that have come, told whether they are all.

    Attributes
    ----------
    running : list of BackgroundTask
        The shares that are still worked on.
    """

    def __init__(
        self,
        key: str,
        works: Sequence[Callable[[], Iterator[Any]]],
        seconds: float,
        pace: float,
        merge: Merge,
    ) -> None:
        self.key = key
        self._merge = merge
        self._shares = [BackgroundTask(key, work, seconds, pace) for work in works]
        self.running = list(self._shares)

    def take(self, share: BackgroundTask) -> bool:
        """Take the next result of a share; False when there will be no more of any."""
        if not share.take():
            self.running.remove(share)
        return bool(self.running)

    @property
    def result(self) -> Any:
        """The latest results of the shares, as one; None while no share has any."""
        come = [share.result for share in self._shares if share.result is not None]
        whole = len(come) == len(self._shares) and all(result.whole for result in come)
        return self._merge(come, whole) if come else None

    def end(self) -> None:
        """End the children."""
        for share in self.running:
            share.end()
