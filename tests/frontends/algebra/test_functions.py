"""Functions that are made of others, against NumPy and SciPy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from fuseloom.frontends.algebra import functions
from fuseloom.frontends.algebra.evaluation import evaluate, keeps_zero
from fuseloom.frontends.algebra.expressions import Arg, Num

X = np.concatenate([np.linspace(-4.0, 4.0, 81), [0.0, 1.0, -1.0, 0.5, 2.5, 1e-3]])
Y = np.roll(X, 7) + 0.125
Z = np.roll(X, 11)


def softplus(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


def elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(x))


def arcs(*names: str) -> dict[str, Any]:
    """Inverse functions, which are no number outside of their domains."""
    with np.errstate(all="ignore"):
        return {name: getattr(np, f"arc{name[1:]}")(X) for name in names}


ONE: dict[str, Any] = {
    "positive": X > 0, "negative_part": -np.minimum(X, 0),
    "reciprocal": np.where(X == 0, np.inf, 1 / np.where(X == 0, 1, X)),
    "square": X**2,
    "log_of_one_and_exp": np.log1p(np.exp(-np.abs(X))), "exp2": 2.0**X, "cosh": np.cosh(X),
    "sinh": np.sinh(X), "tan": np.tan(X), "erfc": special.erfc(X), "nearest": np.round(X),
    "fraction": X - np.trunc(X), "hardshrink": X * (np.abs(X) > 0.5),
    "gelu": X * special.ndtr(X), "silu": X * special.expit(X),
    "leaky_relu": np.where(X > 0, X, 0.01 * X), "elu": elu(X), "celu": elu(X),
    "selu": 1.0507009873554805 * elu(X, 1.6732632423543772),
    "softshrink": np.sign(X) * np.maximum(np.abs(X) - 0.5, 0), "softplus": softplus(X),
    "mish": X * np.tanh(softplus(X)), "log_sigmoid": -softplus(-X), "hardtanh": X.clip(-1, 1),
    "relu6": X.clip(0, 6), "hardsigmoid": ((X + 3) / 6).clip(0, 1),
    "hardswish": X * ((X + 3) / 6).clip(0, 1), "clamp": X,
    **arcs("asin", "acos", "asinh", "acosh", "atanh"),
}  # fmt: skip
MORE: dict[str, Any] = {
    "hypotenuse": np.hypot(X, Y), "logaddexp": np.logaddexp(X, Y), "floor_divide": X // Y,
    "remainder": np.mod(X, Y), "fmod": np.fmod(X, Y), "prelu": np.where(X > 0, X, X * Y),
    "glu": X * special.expit(Y), "addcmul": X + Y * Z,
    "addcdiv": X + np.where(Z == 0, np.sign(Y) * np.inf, Y / np.where(Z == 0, 1, Z)),
    "atan2": np.arctan2(X, Y), "lerp": X + (Y - X) * Z, "subtraction": X - Y, "addition": X + Y,
}  # fmt: skip
NUMBERS: dict[str, tuple[Callable[..., Any], Any]] = {
    "gelu by tanh": (
        lambda x: functions.gelu(x, "tanh"),
        0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3))),
    ),
    "steep leak": (lambda x: functions.leaky_relu(x, 2.0), np.where(X > 0, X, 2 * X)),
    "two digits": (lambda x: functions.nearest(x, 2), np.round(X, 2)),
    "tens": (lambda x: functions.nearest(x * 30.0, -1), np.round(X * 30, -1)),
    "clamped": (lambda x: functions.clamp(x, Num(-0.5), Num(np.inf)), np.maximum(X, -0.5)),
    "threshold": (lambda x: functions.threshold(x, 0.5, -3.0), np.where(X > 0.5, X, -3.0)),
    "sharp softplus": (lambda x: functions.softplus(x, 3.0), softplus(3 * X) / 3),
    "bent softplus": (
        lambda x: functions.softplus(x, 1.0, 1.0),
        np.where(X > 1, X, softplus(X)),
    ),
    "celu of another slope": (lambda x: functions.celu(x, 2.0), elu(X / 2) * 2),
    "less half": (lambda x: functions.subtraction(x, Num(2.0), 0.5), X - 1),
    "logarithm to 2": (lambda x: functions.log2(x * x + 1.0), np.log2(X * X + 1)),
    "logarithm to 10": (lambda x: functions.log10(x * x + 1.0), np.log10(X * X + 1)),
}


def computed(tree: Any) -> Any:
    with np.errstate(all="ignore"):
        return evaluate(tree, {}, {0: X, 1: Y, 2: Z})


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name: str) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(computed(getattr(functions, name)(Arg(0))), ONE[name], atol=1e-6)


@pytest.mark.parametrize("name", MORE)
def test_functions_of_several(name: str) -> None:
    function = getattr(functions, name)
    trees = [p for p in inspect.signature(function).parameters.values() if p.annotation == "Node"]
    found = computed(function(*map(Arg, range(len(trees)))))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, MORE[name], atol=1e-6)


@pytest.mark.parametrize("name", NUMBERS)
def test_functions_with_numbers(name: str) -> None:
    function, wanted = NUMBERS[name]
    np.testing.assert_allclose(computed(function(Arg(0))), wanted, atol=1e-6)


def test_every_function_is_compared() -> None:
    given = {
        name
        for name, function in vars(functions).items()
        if inspect.isfunction(function) and function.__module__ == functions.__name__
    }
    assert given - {*ONE, *MORE} == {"rounded_quotient", "log2", "log10", "threshold"}


def test_what_keeps_zero_is_known() -> None:
    """Then nothing is filled: the elements that are absent stay so."""
    kept = {name for name in ONE if keeps_zero(getattr(functions, name)(Arg(0)))}
    with np.errstate(all="ignore"):
        assert kept == {name for name, value in ONE.items() if np.all(value[X == 0] == 0)}
