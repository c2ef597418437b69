"""Arrays in the making."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.compiled.reserving import reserved

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
