"""Runs for tests, each in an event loop of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor


def alone(work):
    """Run a coroutine, or call a function, in a thread of its own.

    Where browser tests ran before in the same process, this thread has a running event loop.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work if callable(work) else lambda: asyncio.run(work)).result()
