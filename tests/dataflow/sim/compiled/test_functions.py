"""The functions of ALUs against numpy's float64 rounded once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import njit

from fuseloom.dataflow.sim.compiled import functions
from fuseloom.dataflow.sim.compiled.functions import BINARY, UNARY

f32 = np.float32
GIVEN = [f32(x) for x in (0.0, -0.0, 1.0, -1.5, 0.3, 7.25, -30.0, 1e-20)]


def plain(helper: Any) -> Any:
    return helper.py_func


@njit
def compiled(fn: Any, a: Any, c: Any) -> Any:
    return functions.function(fn, a, c)


WANTED = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "elemmul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": np.maximum,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_of_values_and_slices(name: str) -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal(7).astype(f32)
    b = rng.standard_normal(7).astype(f32)
    fn = BINARY[name]
    expected = WANTED[name](a, b)
    assert [plain(functions.apply)(fn, x, y) for x, y in zip(a, b, strict=True)] == list(expected)
    made = np.zeros_like(a)
    plain(functions.slices)(fn, made, a, b)
    np.testing.assert_array_equal(made, expected)
    plain(functions.slice_right)(fn, made, a[0], b)
    np.testing.assert_array_equal(made, WANTED[name](a[0], b))
    plain(functions.slice_left)(fn, made, a, b[0])
    np.testing.assert_array_equal(made, WANTED[name](a, b[0]))


EXACT = {
    "exp": math.exp,
    "sin": math.sin,
    "tanh": math.tanh,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "abs": abs,
    "cos": math.cos,
    "erf": math.erf,
    "log1p": lambda x: math.log1p(x) if x > -1 else -math.inf if x == -1 else math.nan,
    "expm1": math.expm1,
    "sign": np.sign,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
}


@pytest.mark.parametrize("name", EXACT)
def test_transcendental_functions_are_rounded_once(name: str) -> None:
    for x in GIVEN:
        with np.errstate(invalid="ignore"):
            made = compiled(UNARY[name], x, f32(0))
        np.testing.assert_array_equal(made, f32(EXACT[name](float(x))))


def test_the_compiled_sign_of_a_negative_zero_is_zero_as_in_numpy() -> None:
    got = [compiled(UNARY["sign"], x, f32(0)) for x in (f32(-0.0), f32(0), f32(-3), f32(1e-45))]
    assert got == [0, 0, -1, 1]
    assert not np.signbit(got[0])


def test_functions_with_a_constant() -> None:
    function = compiled
    assert function(UNARY["max"], f32(-2), f32(0)) == 0
    assert function(UNARY["relu"], f32(3), f32(0)) == 3
    assert function(UNARY["scalaradd"], f32(3), f32(4)) == 7
    assert function(UNARY["scalarmul"], f32(3), f32(4)) == 12
    assert function(UNARY["scalardiv"], f32(3), f32(4)) == f32(0.75)


def test_edges_of_logarithm_and_root() -> None:
    function = compiled
    log = UNARY["log"]
    assert function(log, f32(0), f32(0)) == -np.inf
    assert np.isnan(function(log, f32(-1), f32(0)))
    assert function(log, f32(math.e), f32(0)) == pytest.approx(1, rel=1e-6)
    assert function(UNARY["rsqrt"], f32(4), f32(0)) == f32(0.5)
    assert function(UNARY["sigmoid"], f32(0), f32(0)) == f32(0.5)


NAN = f32(np.nan)


@pytest.mark.parametrize(("a", "b"), [(NAN, f32(0)), (f32(0), NAN), (NAN, NAN)])
def test_nan_wins_every_maximum(a: Any, b: Any) -> None:
    assert np.isnan(compiled(UNARY["max"], a, b))
    assert np.isnan(plain(functions.larger)(a, b))


def test_the_first_of_equal_zeros_is_the_larger() -> None:
    zero, minus = f32(0), f32(-0.0)
    assert not np.signbit(plain(functions.larger)(zero, minus))
    assert np.signbit(plain(functions.larger)(minus, zero))


def test_a_relu_is_the_maximum_with_zero() -> None:
    assert functions.numbered("relu", 2.5) == (UNARY["max"], 0.0)
    assert functions.numbered("scalarmul", 0.1) == (UNARY["scalarmul"], float(f32(0.1)))
