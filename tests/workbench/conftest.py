"""Components without a browser: no event loop runs, whatever tests ran before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_running_loop() -> Iterator[None]:
    """Playwright's loop counts as running in its thread until the last browser test is over."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)
