"""Servers of the tests' own, each in a process, ended when the tests are done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.visitors import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    with Server() as running:
        yield running
        assert not running.faults()
