"""What a worker process sets for itself: whose death ends it, and how much a job may use."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from engine.explore.executors.job import JobLimits

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Be killed when the parent's thread that started this process ends; at once if it has."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    except (AttributeError, OSError):  # only Linux has it; the pipe that closes does the rest
        return
    if os.getppid() != parent:
        os._exit(0)


def leave_signals() -> None:
    """Ctrl-C is the driver's: it ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextmanager
def limited(limits: JobLimits) -> Iterator[None]:
    """Limit memory (``MemoryError``) and CPU time (``SIGXCPU``) of what is done inside."""
    try:
        if limits.memory is not None:
            _limit(resource.RLIMIT_AS, _memory() + limits.memory)
        if limits.cpu is not None:
            used = resource.getrusage(resource.RUSAGE_SELF)
            _limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + limits.cpu))
        yield
    finally:
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
            resource.setrlimit(kind, (resource.getrlimit(kind)[1],) * 2)


def _limit(kind: int, most: int) -> None:
    """Set a soft limit, as far as the hard one lets."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _memory() -> int:
    """Bytes of address space that this process has."""
    try:
        with open("/proc/self/statm", encoding="ascii") as pages:
            return int(pages.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
