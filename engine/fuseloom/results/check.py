"""The comparison of a run's outputs with the correct ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from fuseloom.display.shows import Shows
from fuseloom.errors import RecordError
from fuseloom.program.float32 import NORMAL
from fuseloom.results.document import finite
from fuseloom.results.fields import Fields
from fuseloom.wording import agreeing, counted

TOLERANCE = 1e-5
"""Largest relative error of a float32 result that counts as equal to given values."""


class Against(Enum):
    """The reference with which a run's outputs are compared."""

    REFERENCE = "the dense reference"
    EXPECTED = "the expected values"


@dataclass(frozen=True)
class Check(Shows, html="fuseloom.results.display:check_shown"):
    """The comparison of a run's outputs with the correct ones.

    Attributes
    ----------
    max_rel_error : float
        Largest absolute difference over the largest expected magnitude of its tensor, over all
        tensors; infinite where there is no number to compare.  Tensors that are rounding errors
        throughout (a sum that cancels) have none.
    pattern_equal : bool or None
        Whether exactly the coordinates that should be there are stored; None if that was not
        compared.
    tolerance : float or None
        Largest ``max_rel_error`` that counts as equal; None where ``share`` decides.
    shape, expected_shape : tuple of int, optional
        Of the output, where it was compared with an array of any shape.
    share : float or None
        Largest difference of an element over what rounding to float32 allows it; at most 1 counts
        as equal.
    undetermined : int
        Elements that differ, and for which float32 determines no digit (as near a division by 0).
    rows : (int, int) or None
        How many rows of the outputs were compared, of how many; None for all.
    unchecked : tuple of str
        What could not be compared, with the reason.
    wrong : str or None
        An element that is not what it should be, with its place; None if there is none, or it is
        not known.
    """

    max_rel_error: float
    pattern_equal: bool | None = None
    tolerance: float | None = TOLERANCE
    against: Against = Against.REFERENCE
    shape: tuple[int, ...] | None = None
    expected_shape: tuple[int, ...] | None = None
    share: float | None = None
    undetermined: int = 0
    rows: tuple[int, int] | None = None
    unchecked: tuple[str, ...] = ()
    wrong: str | None = None

    @property
    def ok(self) -> bool:
        """True if nothing was found to be wrong."""
        return (
            self.shape == self.expected_shape
            and self.pattern_equal is not False
            and (self.tolerance is None or self.max_rel_error <= self.tolerance)
            and (self.share is None or self.share <= 1.0)
        )

    @property
    def compared(self) -> bool:
        """True if anything was compared."""
        return self.rows is None or self.rows[0] > 0

    def __str__(self) -> str:
        if not self.ok:
            return f"MISMATCH: {self._mismatch()}" + (f"; {self.wrong}" if self.wrong else "")
        return self._matches() + "".join(f"; not checked: {what}" for what in self.unchecked)

    def _mismatch(self) -> str:
        if self.shape != self.expected_shape:
            return f"shape {self.shape}, expected {self.expected_shape}"
        if self.pattern_equal is False:
            return f"stored coordinates differ from {self.against.value}"
        if self.share is not None and self.share > 1.0:
            return (
                f"an element is {self.share:.3g} times as far off as rounding allows "
                f"(largest relative error {self.max_rel_error:.1e})"
            )
        return f"relative error {self.max_rel_error:.1e} exceeds {self.tolerance:.0e}"

    def _matches(self) -> str:
        told = f"largest relative error {self.max_rel_error:.1e}"
        if self.share is not None:
            told += f", {self.share:.0%} of what rounding allows"
        if self.undetermined:
            have = agreeing(self.undetermined, "has", "have")
            told += f"; {counted(self.undetermined, 'element')} {have} no certain digit in float32"
        if self.rows is None:
            return f"matches {self.against.value} ({told})"
        if not self.compared:
            return "not compared"
        return (
            f"matches {self.against.value} in {self.rows[0]:,} of "
            f"{counted(self.rows[1], 'row')}, drawn at "
            f"random ({told})"
        )

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
            "share": self.share,
            "undetermined": self.undetermined,
            "rows": None if self.rows is None else list(self.rows),
            "unchecked": list(self.unchecked),
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
        rows = given.optional("rows", given.sizes)
        if rows is not None and len(rows) != 2:
            raise RecordError(f"{where}.rows has {counted(len(rows), 'number')}, not 2")
        made = cls(
            float("inf") if error is None else error,
            given.optional("pattern_equal", given.flag),
            given.optional("tolerance", given.number),
            given.one_of("against", Against),
            given.optional("shape", given.sizes),
            given.optional("expected_shape", given.sizes),
            given.optional("share", given.number),
            given.whole("undetermined"),
            None if rows is None else (rows[0], rows[1]),
            given.texts("unchecked"),
        )
        if given.flag("ok") is not made.ok:
            raise RecordError(f"{where}.ok is {data['ok']}, its figures say {made.ok}")
        return made._with_place(given.text("message"))

    def _with_place(self, message: str) -> Check:
        """With the element that the message ends with: it has no field of its own."""
        begin = f"{self}; "
        known = not self.ok and message.startswith(begin)
        return replace(self, wrong=message.removeprefix(begin)) if known else self


_NAMES = (
    "ok",
    "message",
    "max_rel_error",
    "tolerance",
    "against",
    "pattern_equal",
    "shape",
    "expected_shape",
    "share",
    "undetermined",
    "rows",
    "unchecked",
)


def relative_error(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> float:
    """Largest difference over the largest finite magnitude; infinite where only one is not.

    Magnitudes below :data:`NORMAL`, where float32 has fewer digits, count as that.
    """
    finite_there = np.isfinite(want)
    if not np.array_equal(finite_there, np.isfinite(got)):
        return float("inf")
    if not finite_there.any():
        return 0.0
    largest = float(np.abs(want[finite_there]).max())
    scale = max(largest, NORMAL) if largest else 1.0
    return float(np.abs(got[finite_there] - want[finite_there]).max()) / scale
