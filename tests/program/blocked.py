"""Blocked tensors for tests."""

from __future__ import annotations

import numpy as np

from fuseloom.program import (
    Format,
    LevelFormat,
    Tensor,
)

D, C, S = LevelFormat.DENSE, LevelFormat.COMPRESSED, LevelFormat.SINGLETON

BCSR = Tensor("A", (4, 6), Format((D, C), (0, 1), 2))

ARRAY = np.array(
    [[0, 0, 1, 0, 0, 0], [0, 0, 2, 3, 0, 0], [4, 0, 0, 0, 0, 5], [0, 0, 0, 0, 0, 0]], dtype=float
)
