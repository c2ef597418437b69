"""The functions of one operand, of values and of tiles (``docs/spec/machine.md`` §5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuseloom.dataflow.sim.golden.maximum import larger
from fuseloom.program.functions import FUNCTIONS, Op

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
