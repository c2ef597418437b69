"""Copies of parts of data with guard bands around them, which show what a call did to them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

BAND = 4
"""Elements of a guard band, on each side of each dimension."""


def poison(dtype: np.dtype[Any], second: bool = False) -> Any:
    """A value that hardly any result has; NaN for floats.

    Parameters
    ----------
    second : bool
        A different one, which is finite.

    Examples
    --------
    >>> import numpy as np
    >>> poison(np.dtype(np.float64)), poison(np.dtype(np.int8)), poison(np.dtype(np.int8), True)
    (nan, 127, -86)
    """
    if np.issubdtype(dtype, np.inexact):
        return -12345.5 if second else np.nan
    if np.issubdtype(dtype, np.integer):
        bounds = np.iinfo(dtype)
        return bounds.max // 3 + bounds.min if second else bounds.max
    return np.zeros((), dtype)[()] if second else np.ones((), dtype)[()]


class GuardedPart:
    """A copy of a part of data for one call.

    An array lies in the middle of a larger one that is filled with :func:`poison`; of other data
    there is a deep copy.

    Parameters
    ----------
    part : object
    fill : object, optional
        A value for all elements, in place of those of the part: for outputs.

    Attributes
    ----------
    value : object
        What the call is given.

    Examples
    --------
    >>> import numpy as np
    >>> guarded = GuardedPart(np.arange(3.0))
    >>> guarded.value, guarded.is_unchanged()
    (array([0., 1., 2.]), True)
    >>> guarded.value.base[2] = 7
    >>> guarded.is_unchanged(), guarded.has_intact_bands()
    (False, False)
    """

    def __init__(self, part: Any, fill: Any = None) -> None:
        self._buffer: npt.NDArray[Any] | None = None
        if isinstance(part, np.ndarray):
            shape = tuple(extent + 2 * BAND for extent in part.shape)
            self._buffer = np.full(shape, poison(part.dtype), part.dtype)
            self._inside = tuple(slice(BAND, BAND + extent) for extent in part.shape)
            self.value: Any = self._buffer[self._inside]
            self.value[...] = part if fill is None else fill
            self._before: Any = self._buffer.copy()
        else:
            self.value = copy.deepcopy(part)
            self._before = copy.deepcopy(part)

    def is_unchanged(self) -> bool:
        """Whether the part and its guard bands are as they were."""
        if self._buffer is None:
            return same(self.value, self._before)
        return same(self._buffer, self._before)

    def has_intact_bands(self) -> bool:
        """Whether the guard bands are as they were; for lists, the length."""
        if self._buffer is None:
            return not isinstance(self.value, list) or len(self.value) == len(self._before)
        now = self._buffer.copy()
        now[self._inside] = self._before[self._inside]
        return same(now, self._before)


def same(left: Any, right: Any, tolerance: float = 0.0) -> bool:
    """Whether two results are equal; NaN equals NaN.

    Parameters
    ----------
    tolerance : float
        The largest difference, relative to the largest number of the second result. With 0, arrays
        are equal bit by bit, except for the bits of NaN.

    Examples
    --------
    >>> import numpy as np
    >>> same(np.array([1.0, np.nan]), np.array([1.0, np.nan])), same([1, "a"], [1, "b"])
    (True, False)
    >>> same(np.array([0.0]), np.array([-0.0])), same(np.array([1.0]), np.array([1 + 1e-9]), 1e-8)
    (False, True)
    """
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return _same_arrays(left, right, tolerance)
    if getattr(left, "format", None) == "csr" and getattr(right, "format", None) == "csr":
        pairs = ((getattr(x, part) for x in (left, right)) for part in ("data", "indices"))
        return bool(
            left.shape == right.shape
            and np.array_equal(left.indptr, right.indptr)
            and all(same(*pair) for pair in pairs)
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(
            same(a, b, tolerance) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, float) and isinstance(right, float):
        return same(np.array(left), np.array(right), tolerance)
    return bool(left == right)


def _same_arrays(left: npt.NDArray[Any], right: npt.NDArray[Any], tolerance: float) -> bool:
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if not np.issubdtype(left.dtype, np.inexact):
        return bool(np.array_equal(left, right))
    if np.iscomplexobj(left):
        pairs = ((left.real, right.real), (left.imag, right.imag))
        return all(_same_arrays(a, b, tolerance) for a, b in pairs)
    gaps = np.isnan(left)
    if not np.array_equal(gaps, np.isnan(right)):
        return False
    a, b = left[~gaps], right[~gaps]
    if tolerance == 0.0:
        return bool(np.array_equal(a, b) and np.array_equal(np.signbit(a), np.signbit(b)))
    finite = np.isfinite(b)
    scale = float(np.abs(b[finite]).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        close = (a == b) | (finite & (np.abs(a - b) <= tolerance * max(scale, 1e-300)))
    return bool(close.all())
