"""Results of rows of the library on their examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.calls.library import LIBRARY

SEEDS = range(3)


def computed(name: str, seed: int, **changed: Any) -> tuple[Any, dict[str, Any]]:
    """The output of a row on its example, and the inputs."""
    row = LIBRARY[name]
    arguments = {**row.example(seed), **changed}
    row.annotated(*(arguments[parameter] for parameter in row.parameters))
    return arguments["out"], arguments


def close(left: Any, right: Any, tolerance: float = 1e-12) -> bool:
    """Whether two arrays have one shape, and elements that are the same but for rounding."""
    return np.shape(left) == np.shape(right) and np.allclose(left, right, tolerance, tolerance)
