"""Machine code that runs while its caller can be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
TICK = 0.2
"""Seconds after which a caller looks whether it is interrupted, where nothing wakes it."""


def interruptible(work: Callable[[], T]) -> T:
    """Return the result of some work; Ctrl-C ends the wait for it.

    The work is done in a thread of its own.  Machine code cannot be stopped from outside, so that
    what was interrupted runs on until it ends, or until the process does.

    Examples
    --------
    >>> interruptible(lambda: 6 * 7)
    42
    """
    given: list[T] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            given.append(work())
        except BaseException as problem:
            failed.append(problem)
        finally:
            done.set()

    thread: Any = threading.Thread(target=run, name="kernel", daemon=True)
    thread.start()
    while not done.wait(TICK):
        pass
    thread.join()
    if failed:
        raise failed[0]
    return given[0]
