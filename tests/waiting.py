"""Waiting for a condition, with a limit so generous that a loaded machine does not reach it.

No test waits for a length of time and hopes that something has happened by then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

PATIENCE = 120.0
"""Seconds to wait for anything that happens at once on an idle machine."""
PAUSE = 0.02
"""Seconds between two looks at a condition."""

T = TypeVar("T")


def until(condition: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Return the first true value of a condition, or fail the test after so many seconds.

    Parameters
    ----------
    condition : callable
        Evaluated again and again; anything true ends the wait.
    what : str
        What the condition says, for the message of the failure.
    seconds : float
        The limit.
    """
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            pytest.fail(f"not within {seconds:g} seconds: {what}")
        time.sleep(PAUSE)
    return value


async def until_async(condition: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Return the first true value of a condition; other tasks of the loop run meanwhile."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            pytest.fail(f"not within {seconds:g} seconds: {what}")
        await asyncio.sleep(PAUSE)
    return value
