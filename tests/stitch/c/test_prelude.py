"""Mathematics of generated C: within three units in the last place of float, at all sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ..stitched_modules import GraphMaker, fused

CASES: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "exponential": (np.exp, -110.0, 95.0),
    "log": (np.log, 0.0, 1e3),
    "tanh": (np.tanh, -12.0, 12.0),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), -87.0, 87.0),
    "erf": (np.vectorize(math.erf), -5.0, 5.0),
    "log-plus-one": (np.log1p, -1.0, 1e3),
    "exponential-minus-one": (np.expm1, -110.0, 95.0),
}
SIZE = 20_000


@pytest.mark.parametrize("opcode", CASES)
def test_functions_of_float_are_as_precise_as_it_is(opcode: str) -> None:
    exact, low, high = CASES[opcode]
    graph = GraphMaker()
    graph.add(opcode, (SIZE,), graph.parameter(SIZE))
    program = fused(graph.module())
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e-39, 1.0, -1.0, 88.8, -103.9, 1e-8]
    special = [one for one in special if low <= one <= high or not np.isfinite(one)]
    left = SIZE - len(special)
    line = np.linspace(low, high, left - left // 2)
    tiny = np.geomspace(1e-30, min(high, 1.0), left // 4)
    below = -tiny if low < 0 else tiny
    x = np.concatenate([special, line, tiny, below[: left // 2 - left // 4]]).astype(np.float32)
    x = np.concatenate([x, np.full(SIZE - x.size, 0.5, np.float32)])
    (made,) = program({"parameter.0": x})
    with np.errstate(all="ignore"):
        wide = exact(x.astype(np.float64))
        wanted = wide.astype(np.float32)
    assert program.interpreted == {}
    assert np.array_equal(np.isnan(made), np.isnan(wanted))
    known = ~np.isnan(wanted) & np.isfinite(wanted)
    assert np.array_equal(made[np.isinf(wanted)], wanted[np.isinf(wanted)])
    unit = np.spacing(np.abs(wanted[known])).astype(np.float64)
    assert (np.abs(made[known] - wide[known]) / unit).max() < 3
