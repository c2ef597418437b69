"""Functions element by element: each against Python's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from fuseloom.calls.library.elementwise import ROWS, matrix_call, vector_call
from tests.calls.library.computed import SEEDS, close, computed

ONE: dict[str, Callable[..., float]] = {
    "absolute": abs, "negative": lambda x: -x, "square": lambda x: x * x, "sqrt": math.sqrt,
    "reciprocal": lambda x: 1 / x, "floor": math.floor, "exp": math.exp, "log": math.log,
    "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "radians": math.radians,
    "relu": lambda x: max(x, 0), "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "clip": lambda x, low, high: min(max(x, low), high),
    "exp_matrix": math.exp, "tanh_matrix": math.tanh, "relu_matrix": lambda x: max(x, 0),
    "scale_matrix": lambda x, factor: x * factor,
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "maximum": max, "minimum": min, "power": math.pow,
    "arctan2": math.atan2, "hypot": math.hypot, "axpy": lambda alpha, x, y: alpha * x + y,
    "multiply_add": lambda x, y, z: x * y + z, "select": lambda c, x, y: x if c else y,
    "add_matrices": lambda x, y: x + y, "subtract_matrices": lambda x, y: x - y,
    "multiply_matrices": lambda x, y: x * y,
}  # fmt: skip
"""What each computes of one element of each argument, in order."""


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("seed", SEEDS)
def test_elements(name: str, seed: int) -> None:
    out, arguments = computed(name, seed)
    row = next(row for row in ROWS if row.name == name)
    inputs = [arguments[key] for key in row.parameters[:-1]]
    wanted = np.vectorize(ONE[name], otypes=[float])(*inputs)
    assert close(out, wanted)
    assert out.size > 5


def test_the_transpose() -> None:
    out, arguments = computed("transpose", 0)
    assert out.tolist() == [list(column) for column in zip(*arguments["a"], strict=True)]


def test_all_rows_are_compared() -> None:
    assert {row.name for row in ROWS} == {*ONE, "transpose"}


def test_rows_of_own_functions() -> None:
    row = vector_call("larger", "The larger ones.", np.maximum, "left right")
    assert row.parameters == ("left", "right", "out")
    assert len(row.annotated.annotation.consumes) == 2
    tiles = matrix_call("cube", "The cube.", np.power, "a", parameters="a exponent out")
    assert [str(loop.step) for loop in tiles.annotated.annotation.intervals] == ["n", "m"]
