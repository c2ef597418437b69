"""Arrays in the making."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Pool:
    """An array in the making: pieces and the offsets at which they will be."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self.pieces: list[tuple[int, npt.NDArray[Any]]] = []

    def add(self, array: npt.ArrayLike) -> int:
        """Store an array; its offset."""
        piece = np.asarray(array, dtype=self.dtype).reshape(-1)
        self.pieces.append((self.size, piece))
        return self.reserve(piece.size)

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
        result = np.empty(self.size + spare, dtype=self.dtype)
        for offset, piece in self.pieces:
            result[offset : offset + piece.size] = piece
        return result
