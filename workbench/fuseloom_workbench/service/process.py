"""The settings of a service process for itself, beside those of every worker."""

from __future__ import annotations

import signal

from fuseloom.exploration.limiting import prctl

_PR_SET_CHILD_SUBREAPER = 36


def reap_orphans() -> None:
    """Become the parent of processes whose own parent dies."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def default_signals() -> None:
    """Undo what a parent set: a worker ends when it is told to."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends its workers
    signal.set_wakeup_fd(-1)
