"""How what a run wrote compares with what it should have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from engine.errors import RecordError
from engine.results.document import finite
from engine.results.fields import Fields

TOLERANCE = 1e-5
"""Largest relative error of a float32 result that counts as equal to the reference."""


class Against(Enum):
    """What a run's outputs are compared with."""

    REFERENCE = "the dense reference"
    EXPECTED = "the expected values"


@dataclass(frozen=True)
class Check:
    """How a run's outputs compare with what they should be.

    Attributes
    ----------
    max_rel_error : float
        Largest absolute difference over the largest expected magnitude, over all outputs;
        infinite where there is no number to compare.
    pattern_equal : bool or None
        Whether exactly the coordinates that should be there are stored; None if that was not
        compared.
    shape, expected_shape : tuple of int, optional
        Of the output, where it was compared with an array of any shape.
    """

    max_rel_error: float
    pattern_equal: bool | None = None
    tolerance: float = TOLERANCE
    against: Against = Against.REFERENCE
    shape: tuple[int, ...] | None = None
    expected_shape: tuple[int, ...] | None = None

    @property
    def ok(self) -> bool:
        return (
            self.shape == self.expected_shape
            and self.pattern_equal is not False
            and self.max_rel_error <= self.tolerance
        )

    def __str__(self) -> str:
        if self.shape != self.expected_shape:
            return f"MISMATCH: shape {self.shape}, expected {self.expected_shape}"
        if self.pattern_equal is False:
            return f"MISMATCH: stored coordinates differ from {self.against.value}"
        if not self.ok:
            return f"MISMATCH: relative error {self.max_rel_error:.1e} exceeds {self.tolerance:.0e}"
        return f"matches {self.against.value} (largest relative error {self.max_rel_error:.1e})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data that :meth:`from_dict` reads back; an infinite error is None."""
        return {
            "ok": self.ok,
            "message": str(self),
            "max_rel_error": finite(self.max_rel_error),
            "tolerance": self.tolerance,
            "against": self.against.value,
            "pattern_equal": self.pattern_equal,
            "shape": None if self.shape is None else list(self.shape),
            "expected_shape": None if self.expected_shape is None else list(self.expected_shape),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "check") -> Check:
        """Read what :meth:`to_dict` gave.

        Raises
        ------
        RecordError
            If a field is missing, unknown or of another type, or the verdict contradicts the
            figures.
        """
        given = Fields.of(data, where, _NAMES)
        error = given.optional("max_rel_error", given.number)
        made = cls(
            float("inf") if error is None else error,
            given.optional("pattern_equal", given.flag),
            given.number("tolerance"),
            given.one_of("against", Against),
            given.optional("shape", given.sizes),
            given.optional("expected_shape", given.sizes),
        )
        if given.flag("ok") is not made.ok:
            raise RecordError(f"{where}.ok is {data['ok']}, its figures say {made.ok}")
        given.text("message")
        return made


_NAMES = (
    "ok",
    "message",
    "max_rel_error",
    "tolerance",
    "against",
    "pattern_equal",
    "shape",
    "expected_shape",
)


def relative_error(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> float:
    """Largest difference over the largest finite magnitude; infinite where only one is not."""
    finite_there = np.isfinite(want)
    if not np.array_equal(finite_there, np.isfinite(got)):
        return float("inf")
    if not finite_there.any():
        return 0.0
    scale = float(np.abs(want[finite_there]).max()) or 1.0
    return float(np.abs(got[finite_there] - want[finite_there]).max()) / scale
