"""Forks of a service process, and its settings for itself beside those of every worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from fuseloom.exploration.limiting import end_with, prctl

_PR_SET_CHILD_SUBREAPER = 36


def fork(work: Callable[[], None], *, lasts: bool = False) -> int:
    """Begin work in a fork of this process, and return the fork's number.

    The fork shares all that is loaded, ends when its work returns or fails, and gives 1 as its exit
    code if it fails, 0 otherwise.

    Parameters
    ----------
    work : callable
        Called in the fork.
    lasts : bool
        Whether the fork goes on when this process dies.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            if not lasts:
                end_with(parent)
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def reap_orphans() -> None:
    """Become the parent of processes whose own parent dies."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def default_signals() -> None:
    """Undo what a parent set: a worker ends when it is told to."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends its workers
    signal.set_wakeup_fd(-1)
