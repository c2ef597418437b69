"""How what a run wrote compares with what it should have written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCE = 1e-5
"""Largest relative error of a float32 result that counts as equal to the reference."""


@dataclass(frozen=True)
class Check:
    """How a run's outputs compare with the dense reference.

    Attributes
    ----------
    max_rel_error : float
        Largest absolute difference over the largest reference magnitude, over all outputs.
    pattern_equal : bool
        Whether exactly the coordinates that the reference has are stored.
    """

    max_rel_error: float
    pattern_equal: bool
    tolerance: float = TOLERANCE

    @property
    def ok(self) -> bool:
        return self.pattern_equal and self.max_rel_error <= self.tolerance

    def __str__(self) -> str:
        if self.ok:
            return f"matches the dense reference (largest relative error {self.max_rel_error:.1e})"
        if not self.pattern_equal:
            return "MISMATCH: stored coordinates differ from the dense reference"
        return f"MISMATCH: relative error {self.max_rel_error:.1e} exceeds {self.tolerance:.0e}"


def relative_error(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> float:
    """Largest difference over the largest finite magnitude; infinite where only one is not."""
    finite = np.isfinite(want)
    if not np.array_equal(finite, np.isfinite(got)):
        return float("inf")
    if not finite.any():
        return 0.0
    scale = float(np.abs(want[finite]).max()) or 1.0
    return float(np.abs(got[finite] - want[finite]).max()) / scale
