"""Programs evaluated on small arrays."""

from __future__ import annotations

import numpy as np

X = np.nan  # absent, in expected results

A = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]

Z = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
