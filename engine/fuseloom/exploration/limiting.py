"""The settings of a worker process for itself: its parent's death, and its limits.

This module imports nothing of the engine: it is used before that is loaded.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1


def prctl(option: int, value: int) -> None:
    """Ask Linux for something about this process; elsewhere nothing happens."""
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (AttributeError, OSError):  # pipes and sockets that close do the rest
        return


def end_with(parent: int, how: int = signal.SIGKILL) -> None:
    """Be sent a signal when the parent's thread dies; end at once if the parent is dead already."""
    prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(0)


def leave_signals() -> None:
    """Ctrl-C is the driver's: it ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    no_core_dumps()


def no_core_dumps() -> None:
    """A crash writes no file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(more: int) -> None:
    """Let this process take that many bytes more than it has; then ``MemoryError``."""
    try:
        with open("/proc/self/statm", encoding="ascii") as pages:
            now = int(pages.read().split()[0]) * resource.getpagesize()
    except OSError:
        return
    _limit(resource.RLIMIT_AS, now + more)


def allow_mapping(size: int) -> None:
    """Let this process map files of so many bytes more, which take no memory; less if negative."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        _limit(resource.RLIMIT_AS, soft + size)


def limit_cpu(seconds: float) -> None:
    """Be ended (``SIGXCPU``) after so many further seconds of CPU time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + seconds))


@contextmanager
def limited(cpu: float | None = None, memory: int | None = None) -> Iterator[None]:
    """Limit seconds of CPU time and bytes of what is done inside; afterwards it is as before."""
    before = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)}
    try:
        if memory is not None:
            limit_memory(memory)
        if cpu is not None:
            limit_cpu(cpu)
        yield
    finally:
        for kind, both in before.items():
            resource.setrlimit(kind, both)


def _limit(kind: int, most: int) -> None:
    """Set a soft limit, as far as the hard one lets."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
