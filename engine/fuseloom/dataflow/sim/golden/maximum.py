"""The maximum of the golden models: the first of equal values, and NaN wherever it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers, or of each two in two tiles.

    >>> larger(np.float32(1), np.float32("nan"))
    np.float32(nan)
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.where((b > a) | (b != b), b, a)
    return b if b > a or b != b else a


def largest(tile: npt.NDArray[Any], axes: tuple[int, ...]) -> npt.NDArray[Any]:
    """The largest numbers of a tile along some of its axes, which are walked in row-major order."""
    kept = [axis for axis in range(tile.ndim) if axis not in axes]
    shape = tuple(tile.shape[axis] for axis in kept)
    rows = np.transpose(tile, (*kept, *axes)).reshape(*shape, -1)
    # The first of the largest, of zeros with either sign, too; the first NaN where there is one.
    first = rows.argmax(axis=-1, keepdims=True)
    return np.asarray(np.take_along_axis(rows, first, axis=-1)[..., 0])
