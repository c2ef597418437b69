"""Arrays in the making, and address space for arrays of which nobody knows how large they get.

Address space is reserved once, far more than any run needs, and the machine gives memory for as
much of it as was written to, in large pages.  An array in it grows without being moved or copied.
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


LARGE = 1 << 22
"""Bytes from which an array is referred to where it is, instead of being copied."""


class Pool:
    """An array in the making: pieces and the offsets at which they will be.

    Attributes
    ----------
    place : array or None
        Where it will be, if that must be known beforehand: address space that has room for more.
    outside : list of (int, array)
        Arrays that stay where they are, and their offsets as seen from that place.
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self.pieces: list[tuple[int, npt.NDArray[Any]]] = []
        self.place: npt.NDArray[Any] | None = None
        self.outside: list[tuple[int, npt.NDArray[Any]]] = []

    def add(self, array: npt.ArrayLike) -> int:
        """Store an array; its offset."""
        piece = np.asarray(array, dtype=self.dtype).reshape(-1)
        self.pieces.append((self.size, piece))
        return self.reserve(piece.size)

    def refer(self, array: npt.ArrayLike) -> int:
        """As :meth:`add`, for an array that is only read: a large one is not copied."""
        given = np.asarray(array).reshape(-1)
        copied = given.dtype != self.dtype or not given.flags.c_contiguous
        if copied or given.nbytes < LARGE or given.ctypes.data % self.dtype.itemsize:
            return self.add(given)
        if self.place is None:
            self.place = reserved(self.dtype)
        if self.place is None:
            return self.add(given)
        offset = (given.ctypes.data - self.place.ctypes.data) // self.dtype.itemsize
        self.outside.append((offset, given))
        return offset

    def align(self, size: int) -> None:
        """Leave a gap, so that the next offset is a multiple of ``size``."""
        self.reserve(-self.size % size)

    def reserve(self, size: int) -> int:
        """Leave room for ``size`` elements of any value; its offset."""
        offset = self.size
        self.size += size
        return offset

    def build(self, spare: int = 0) -> npt.NDArray[Any]:
        """The array."""
        result = self.place
        if result is None:
            result = np.empty(self.size + spare, dtype=self.dtype)
        for offset, piece in self.pieces:
            result[offset : offset + piece.size] = piece
        return result
