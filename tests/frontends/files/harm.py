"""Reading files made to do harm: how many, within which memory, and what it may end in."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fuseloom.errors import FuseloomError

CASES = 240
"""Damaged files that a test reads."""

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


def checked(read: Callable[[], Any]) -> bool:
    """Return whether a damaged file was read; anything but a result or our own error fails."""
    try:
        result = read()
    except FuseloomError:
        return False
    if hasattr(result, "coords"):
        assert np.isfinite(result.values).all()
        assert (result.coords >= 0).all()
        assert (result.coords < np.array(result.shape)).all()
    else:
        assert np.isfinite(result.adjacency.data).all()
        assert result.adjacency.has_sorted_indices
    return True
