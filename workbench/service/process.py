"""What a worker process sets for itself: whose death ends it, and how much it may use."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (AttributeError, OSError):  # only Linux has it; sockets that close do the rest
        return


def end_with(parent: int, how: int = signal.SIGKILL) -> None:
    """Be sent a signal when the parent's thread dies; end at once if the parent is dead already."""
    _prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of processes whose own parent dies."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def default_signals() -> None:
    """Undo what a parent set: a worker ends when it is told to."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends its workers
    signal.set_wakeup_fd(-1)


def limit_memory(more: int) -> None:
    """Let this process take that many bytes more than it has; then ``MemoryError``."""
    try:
        with open("/proc/self/statm", encoding="ascii") as pages:
            now = int(pages.read().split()[0]) * resource.getpagesize()
    except OSError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.RLIM_INFINITY))


def limit_cpu(seconds: float) -> None:
    """Be ended (``SIGXCPU``) after so many further seconds of CPU time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    wanted = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (wanted, resource.RLIM_INFINITY))


@contextmanager
def cpu_limited(seconds: float) -> Iterator[None]:
    """Limit the CPU time of what is done inside."""
    limit_cpu(seconds)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def no_core_dumps() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
