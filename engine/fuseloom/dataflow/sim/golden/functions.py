"""The functions of one operand, and the maximum, of values and of tiles.

Of equal values the first is the maximum, and NaN wherever it stands.
Rules: ``docs/spec/machine.md`` §5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.program.functions import FUNCTIONS, Op


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


WITH_CONSTANT: Mapping[str, Callable[[Any, np.float32], Any]] = {
    "max": larger,
    "scalaradd": lambda x, c: x + c,
    "scalarmul": lambda x, c: x * c,
    "scalardiv": lambda x, c: x / c,
}
"""The unary functions of a value, or of a tile, and the node's ``scalar``."""


def unary_function(name: str) -> Callable[[Any, np.float32], Any]:
    """A unary function of a value, or of a tile, and the node's ``scalar``, which most ignore.

    Transcendental ones are computed in double precision and rounded, as the kernels do it, so that
    both forms agree to the last bit.
    """
    if name in WITH_CONSTANT:
        return WITH_CONSTANT[name]
    function = FUNCTIONS[Op(name)].in_float32
    return lambda x, _: function(x)
