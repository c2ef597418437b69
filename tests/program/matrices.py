"""Matrices for tests of storage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuseloom.program import (
    CompressedLevel,
    Format,
    LevelFormat,
    StoredTensor,
    Tensor,
)

D, C, S = LevelFormat.DENSE, LevelFormat.COMPRESSED, LevelFormat.SINGLETON

CSR = Tensor("A", (3, 4), Format((D, C), (0, 1)))

DCSR = Tensor("A", (3, 4), Format((C, C), (0, 1)))

COO = Tensor("A", (3, 4), Format((C, S), (0, 1)))

ARRAY = np.array([[0, 5, 0, 6], [0, 0, 0, 0], [7, 0, 0, 0]], dtype=np.float64)


def compressed(stored: StoredTensor, depth: int) -> tuple[list[int], list[int]]:
    level = stored.levels[depth]
    assert isinstance(level, CompressedLevel)
    return level.seg.tolist(), level.crd.tolist()


def levels(seg: object, crd: object, values: object) -> Callable[[], StoredTensor]:
    return lambda: StoredTensor.from_levels(CSR, [None, (seg, crd)], values)


def coo(seg: object, crd: object, inner: object, values: object) -> Callable[[], StoredTensor]:
    return lambda: StoredTensor.from_levels(COO, [(seg, crd), inner], values)
