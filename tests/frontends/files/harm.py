"""Files made to do harm, and a process with little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

MEMORY = 256 * 2**20
"""Bytes that reading a small file may take: limits of one block of text, not of what it claims."""


@contextmanager
def little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
