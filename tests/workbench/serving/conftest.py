"""Servers of the tests' own, each in a process, ended when the tests are done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from benchmarks.visitors import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    with Server() as running:
        yield running
        assert not running.faults()


@pytest.fixture(autouse=True)
def _no_running_loop() -> Iterator[None]:
    """Playwright's loop counts as running in its thread until the last browser test is over."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)
