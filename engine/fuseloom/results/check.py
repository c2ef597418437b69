"""The comparison of a run's outputs with the correct ones."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Annotated, Any, TypedDict

import numpy as np

from fuseloom.display.shows import Shows
from fuseloom.errors import RecordError
from fuseloom.program.float32 import NORMAL
from fuseloom.results.declarations import Amount, Count, read
from fuseloom.results.document import plain
from fuseloom.wording import agreeing, counted

TOLERANCE = 1e-5
"""Largest relative error of a float32 result that counts as equal to given values."""


class Against(Enum):
    """The reference with which a run's outputs are compared."""

    REFERENCE = "the dense reference"
    EXPECTED = "the expected values"


class CheckDocument(TypedDict):
    """A check as plain data; what else its fields hold is said of :class:`Check`."""

    ok: Annotated[bool, "Whether they are equal up to the tolerance."]
    message: Annotated[
        str,
        "The same in words; of a mismatch, an element that is wrong and its place after a "
        "semicolon, where that is known.",
    ]
    max_rel_error: Amount | None
    tolerance: Amount | None
    against: Annotated[Against, "What they were compared with."]
    pattern_equal: bool | None
    shape: tuple[Count, ...] | None
    expected_shape: tuple[Count, ...] | None
    share: Amount | None
    undetermined: Count
    rows: tuple[Count, Count] | None
    unchecked: tuple[str, ...]


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

    def to_dict(self) -> CheckDocument:
        """Plain data that :meth:`from_dict` reads back; an infinite error is None."""
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "wrong"}
        made: CheckDocument = plain({"ok": self.ok, "message": str(self), **content})
        return made

    @classmethod
    def from_dict(cls, data: Any, where: str = "check") -> Check:
        """Read what ``to_dict`` gave.

        Raises
        ------
        RecordError
            If a field is missing, unknown or of another type, or the verdict contradicts the
            figures.
        """
        content: dict[str, Any] = {**read(CheckDocument, data, where)}
        ok, message = content.pop("ok"), content.pop("message")
        if content["max_rel_error"] is None:
            content["max_rel_error"] = float("inf")
        made = cls(**content)
        if ok is not made.ok:
            raise RecordError(f"{where}.ok is {ok}, its figures say {made.ok}")
        return made._with_place(message)

    def _with_place(self, message: str) -> Check:
        """With the element that the message ends with: it has no field of its own."""
        begin = f"{self}; "
        known = not self.ok and message.startswith(begin)
        return replace(self, wrong=message.removeprefix(begin)) if known else self


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
