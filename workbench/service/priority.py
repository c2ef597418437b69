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
BEHIND = 5
"""By how much its priority is lowered: a third of the time of one that is not, if both want it."""


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used; 0 when there is none."""
    try:
        times = psutil.Process(pid).cpu_times()
    except (psutil.Error, ValueError):
        return 0.0
    return times.user + times.system


def give_way(pid: int) -> bool:
    """Let others come before a process; whether it could be done."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, BEHIND)
        return True
    return False


class Watch:
    """Lets a process give way once it has worked for long; made and ended in the hub's loop.

    Parameters
    ----------
    pid : callable
        Its number; 0 while it is not known.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: Callable[[], int]) -> None:
        self._loop = loop
        self._pid = pid
        self._before = cpu_seconds(pid()) if pid() else 0.0
        self.gave_way = False
        self._timer = loop.call_later(LOOK, self._look)

    def _look(self) -> None:
        if self._pid() and cpu_seconds(self._pid()) - self._before > LONG:
            self.gave_way = give_way(self._pid())
        else:
            self._timer = self._loop.call_later(LOOK, self._look)

    def end(self) -> None:
        """The work is done; harmless when that was said before."""
        self._timer.cancel()
