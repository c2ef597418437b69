"""Address space for arrays of which nobody knows how large they get.

It is reserved once, far more than any run needs, and the machine gives memory for as much of it as
was written to, in large pages.  So an array in it grows without being moved or copied.
"""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

RESERVED = 1 << 36
"""Bytes of address space of one array."""
_UNBACKED = 0x4000  # Linux' MAP_NORESERVE: no memory is set aside


def reserved(dtype: npt.DTypeLike) -> Array | None:
    """An array of :data:`RESERVED` bytes, all 0; None where the system refuses it."""
    if sys.platform != "linux":
        return None
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _UNBACKED
    try:
        place = mmap.mmap(-1, RESERVED, flags=flags)
    except (OSError, ValueError):
        return None
    with suppress(OSError, AttributeError):  # small pages then
        place.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(place, dtype)
