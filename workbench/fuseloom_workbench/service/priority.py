"""Work that takes long gives way: one visitor's must not make the others wait.

The server may lower the priority of its processes, never raise it again; so a page's process that
was lowered is replaced once the page has gone on to a design that is less work.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

import psutil

LONG = 0.5
"""Seconds of CPU time from which work is long."""
LOOK = 0.25
"""Seconds between two looks."""
BEHIND = 10
"""By how much its priority is lowered: a tenth of the time of one that is not, if both want it."""


def _processes(pid: int, family: bool) -> list[psutil.Process]:
    """A process, with its children if they are asked for: to find them reads every process."""
    try:
        process = psutil.Process(pid)
        return [process, *(process.children() if family else ())]
    except (psutil.Error, ValueError):
        return []


def cpu_seconds(pid: int, *, family: bool = False) -> float:
    """CPU time that a process, or it and its children, has used; 0 when there is none."""
    used = 0.0
    for process in _processes(pid, family):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            used += times.user + times.system
    return used


def give_way(pid: int) -> bool:
    """Let others come before a process and its children; whether it could be done."""
    done = False
    for process in _processes(pid, family=True):
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, process.pid, BEHIND)
            done = True
    return done


class Watch:
    """Lets a process give way once it has worked for long; made and ended in the supervisor's loop.

    Parameters
    ----------
    pid : callable
        Its number; 0 while it is not known.
    others : callable
        Whether there is anybody to give way to.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        pid: Callable[[], int],
        others: Callable[[], bool],
    ) -> None:
        self._loop = loop
        self._others = others
        self._pid = pid
        self._before = cpu_seconds(pid()) if pid() else 0.0
        self.gave_way = False
        self._timer = loop.call_later(LOOK, self._look)

    @property
    def used(self) -> float:
        """Seconds of CPU time since this began."""
        return cpu_seconds(self._pid()) - self._before if self._pid() else 0.0

    def _look(self) -> None:
        if self._others() and self.used > LONG:
            self.gave_way = give_way(self._pid())
        else:
            self._timer = self._loop.call_later(LOOK, self._look)

    def end(self) -> None:
        """The work is done; harmless when that was said before."""
        self._timer.cancel()
