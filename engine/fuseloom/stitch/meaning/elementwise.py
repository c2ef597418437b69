"""Meanings of operations that compute each element from those at its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import erf

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.values import Array, Meaning, Regions, attribute, fault, wide


def widely(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of floats that is computed with float64, and rounded once."""

    def computed(*operands: Array) -> Array:
        dtype = operands[0].dtype
        made = function(*(one.astype(wide(dtype)) for one in operands))
        return np.asarray(made).astype(dtype)

    return computed


def _divide(left: Array, right: Array) -> Array:
    if left.dtype.kind in "fc":
        return np.asarray(np.divide(left, right))
    zero = right == 0
    quotient = left // np.where(zero, 1, right).astype(left.dtype)
    if left.dtype.kind == "i":
        inexact = quotient * right != left
        quotient = quotient + (inexact & ((left < 0) != (right < 0)))
    return np.where(zero, -1, quotient).astype(left.dtype)


def _remainder(left: Array, right: Array) -> Array:
    if left.dtype.kind == "f":
        return np.asarray(np.fmod(left, right))
    whole = (right == 0) | (right == -1 if right.dtype.kind == "i" else False)
    rest = np.fmod(left, np.where(whole, 1, right).astype(left.dtype))
    return np.where(right == 0, left, rest).astype(left.dtype)


def _power(left: Array, right: Array) -> Array:
    if left.dtype.kind in "fc":
        return widely(np.power)(left, right)
    made, base = np.ones_like(left), left.copy()
    exponent = np.where(right < 0, 0, right).astype(np.uint64)
    while exponent.any():
        made = np.where(exponent & np.uint64(1), made * base, made)
        base = base * base
        exponent >>= np.uint64(1)
    if left.dtype.kind == "u":
        return made
    odd = np.where(right & 1, -1, 1)
    below = np.where(left == 1, 1, np.where(left == -1, odd, 0))
    return np.where(right < 0, below, made).astype(left.dtype)


def _sign(value: Array) -> Array:
    if value.dtype.kind == "f":
        return np.where(value == 0, value, np.sign(value)).astype(value.dtype)
    return np.asarray(np.sign(value))


def _away_from_zero(value: Array) -> Array:
    short = np.trunc(value)
    return np.where(np.abs(value - short) >= 0.5, short + np.copysign(1, value), short).astype(
        value.dtype
    )


def _shift_left(value: Array, amount: Array) -> Array:
    beyond, amount = _amount(value, amount)
    return np.where(beyond, 0, np.left_shift(value, amount)).astype(value.dtype)


def _shift_right_arithmetic(value: Array, amount: Array) -> Array:
    signed = value.view(np.dtype(f"i{value.dtype.itemsize}"))
    beyond, amount = _amount(signed, amount)
    shifted = np.right_shift(signed, amount)
    return (
        np.where(beyond, np.where(signed < 0, -1, 0), shifted)
        .astype(signed.dtype)
        .view(value.dtype)
    )


def _shift_right_logical(value: Array, amount: Array) -> Array:
    unsigned = value.view(_unsigned(value))
    beyond, amount = _amount(unsigned, amount)
    shifted = np.right_shift(unsigned, amount)
    return np.where(beyond, 0, shifted).astype(unsigned.dtype).view(value.dtype)


def _amount(value: Array, amount: Array) -> tuple[Array, Array]:
    bits = 8 * value.dtype.itemsize
    beyond = amount.view(_unsigned(amount)) >= bits
    return beyond, np.where(beyond, 0, amount).astype(value.dtype)


def _unsigned(value: Array) -> np.dtype[Any]:
    return np.dtype(f"u{value.dtype.itemsize}")


def _leading_zeros(value: Array) -> Array:
    bits = 8 * value.dtype.itemsize
    rest = value.view(_unsigned(value)).copy()
    count = np.full(value.shape, bits, value.dtype)
    while rest.any():
        count -= (rest != 0).astype(value.dtype)
        rest = rest >> rest.dtype.type(1)
    return count


def _population(value: Array) -> Array:
    return np.asarray(np.bitwise_count(value.view(_unsigned(value)))).astype(value.dtype)


def _select(predicate: Array, true: Array, false: Array) -> Array:
    return np.where(predicate, true, false)


def _clamp(least: Array, value: Array, most: Array) -> Array:
    return np.asarray(np.minimum(np.maximum(value, least), most))


def _complex(real: Array, imaginary: Array) -> Array:
    made = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    made.real, made.imag = real, imaginary
    return made


UNARY: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs, "negate": np.negative, "sign": _sign, "not": np.invert,
    "exponential": np.exp, "exponential-minus-one": np.expm1, "log": np.log,
    "log-plus-one": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt,
    "rsqrt": widely(lambda x: 1 / np.sqrt(x)),
    "sine": np.sin, "cosine": np.cos, "tan": np.tan, "tanh": np.tanh, "sinh": np.sinh,
    "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "erf": widely(erf),
    "logistic": widely(lambda x: 1 / (1 + np.exp(-x))),
    "ceil": np.ceil, "floor": np.floor, "round-nearest-even": np.rint,
    "round-nearest-afz": _away_from_zero, "is-finite": np.isfinite, "popcnt": _population,
    "count-leading-zeros": _leading_zeros, "real": np.real, "imag": np.imag, "copy": np.array,
}  # fmt: skip
BINARY: Mapping[str, Callable[..., Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": _divide,
    "remainder": _remainder, "power": _power, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "atan2": np.arctan2,
    "shift-left": _shift_left, "shift-right-arithmetic": _shift_right_arithmetic,
    "shift-right-logical": _shift_right_logical, "complex": _complex,
}  # fmt: skip
TERNARY: Mapping[str, Callable[..., Any]] = {"select": _select, "clamp": _clamp}
_SCALARS = {"select": (0,), "clamp": (0, 2)}
"""Operands that may be scalars beside arrays."""
_COMPARISONS: Mapping[str, Callable[..., Any]] = {
    "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
    "GE": np.greater_equal,
}  # fmt: skip


def total_order(value: Array) -> Array:
    """Integers in the order of floats in which NaN is at the ends, and -0 is before 0.

    Examples
    --------
    >>> np.argsort(total_order(np.float32([np.nan, 0.0, -0.0, -np.inf])))
    array([3, 2, 1, 0])
    """
    if value.dtype.kind != "f":
        return value
    bits = value.view(np.dtype(f"i{value.dtype.itemsize}"))
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits).astype(bits.dtype)


def _compare(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    left, right = operands
    if attribute(operation, "type", None) == "TOTALORDER":
        left, right = total_order(left), total_order(right)
    return np.asarray(_COMPARISONS[attribute(operation, "direction")](left, right))


def _elementwise(opcode: str, function: Callable[..., Any], arity: int) -> Meaning:
    scalars = _SCALARS.get(opcode, ())

    def meaning(operation: DenseOperation, operands: Sequence[Any], regions: Regions) -> Any:
        if len(operands) != arity:
            raise fault(operation, f"has {len(operands)} operands, and takes {arity}")
        shapes = {x.shape for k, x in enumerate(operands) if k not in scalars or x.shape}
        types = {x.dtype for x in (operands[1:] if opcode == "select" else operands)}
        if len(shapes) > 1 or (arity > 1 and len(types) > 1):
            raise fault(operation, "has operands of different types")
        return np.asarray(function(*operands))

    return meaning


MEANINGS: Mapping[str, Meaning] = {
    **{name: _elementwise(name, function, 1) for name, function in UNARY.items()},
    **{name: _elementwise(name, function, 2) for name, function in BINARY.items()},
    **{name: _elementwise(name, function, 3) for name, function in TERNARY.items()},
    "compare": _compare,
}
