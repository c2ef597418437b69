"""The four models at sizes for tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fuseloom.program import StoredTensor

Array = npt.NDArray[np.float64]


def dense(data: dict[str, StoredTensor]) -> dict[str, Array]:
    return {name: stored.to_dense() for name, stored in data.items()}
