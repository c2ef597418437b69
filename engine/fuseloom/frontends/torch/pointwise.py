"""Element by element: arithmetic and functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fuseloom.frontends.torch.masks import additive_mask, wide
from fuseloom.frontends.torch.steps import rounded_quotient
from fuseloom.frontends.torch.values import Value
from fuseloom.frontends.torch.views import moved, pieces
from fuseloom.program import Op
from fuseloom.program.functions import FUNCTIONS
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.frontends.torch.importer import Importer


def add(m: Importer, x: Any, other: Any, alpha: float = 1) -> Value:
    b = m.builder
    for given, rest in ((x, other), (other, x)):
        if (number := m.number(given)) is not None and not isinstance(rest, (int, float)):
            factor = alpha if given is other else 1
            if rest is x or alpha == 1:
                return wide(m, b.shift(m.value(rest), number * factor))
    masked = additive_mask(m, x, other) if alpha == 1 else None
    if masked is not None:
        return masked
    return b.add(m.value(x), b.scale(m.value(other), float(alpha)))


def sub(m: Importer, x: Any, other: Any, alpha: float = 1) -> Value:
    b = m.builder
    if (number := m.number(other)) is not None:
        return wide(m, b.shift(m.value(x), -number * alpha))
    if (number := m.number(x)) is not None and alpha == 1:
        return wide(m, b.shift(b.scale(m.value(other), -1.0, "negative"), number))
    return b.add(m.value(x), b.scale(m.value(other), float(alpha)), "difference", Op.SUB)


def rsub(m: Importer, x: Any, other: Any, alpha: float = 1) -> Value:
    return sub(m, other, x, alpha)


def mul(m: Importer, x: Any, other: Any) -> Value:
    for given, rest in ((x, other), (other, x)):
        if (number := m.number(given)) is not None and not isinstance(rest, (int, float)):
            return wide(m, m.builder.scale(m.value(rest), number))
    return m.builder.mul(m.value(x), m.value(other))


def div(m: Importer, x: Any, other: Any, rounding_mode: str | None = None) -> Value:
    if rounding_mode is not None:
        return rounded_quotient(m, x, other, Op.FLOOR if rounding_mode == "floor" else Op.TRUNC)
    if (number := m.number(other)) is not None and number != 0:
        return wide(m, m.builder.scale(m.value(x), 1.0 / number))
    return m.builder.div(m.value(x), m.value(other))


def neg(m: Importer, x: Any) -> Value:
    return m.builder.scale(m.value(x), -1.0, "negative")


def function(op: Op) -> Callable[..., Value]:
    def handler(m: Importer, x: Any) -> Value:
        return m.builder.apply(op, m.value(x))

    return handler


def on_stored(step: Callable[[Importer, Value], Value]) -> Callable[..., Value]:
    """A handler from a function of 0 that is 0."""

    def handler(m: Importer, x: Any) -> Value:
        return m.builder.on_stored(m.value(x), lambda v: step(m, v))

    return handler


def negative_part(m: Importer, v: Value) -> Value:
    """``min(v, 0)`` with the sign turned: ``relu(-v)``."""
    return m.builder.apply(Op.RELU, m.builder.scale(v, -1.0, "negative"), "below")


def log_of_one_and_exp(m: Importer, v: Value) -> Value:
    """``log(1 + exp(-|v|))``: what a soft maximum of v and 0 has beyond the hard one."""
    b = m.builder
    below = b.scale(b.apply(Op.ABS, v), -1.0, "exponent")
    return b.apply(Op.LOG1P, b.apply(Op.EXP, below))


def exponentials(sign: float) -> Callable[..., Value]:
    """``(exp(v) + exp(-v)) / 2`` or ``(exp(v) - exp(-v)) / 2``."""

    def handler(m: Importer, x: Any) -> Value:
        b = m.builder

        def step(v: Value) -> Value:
            up = b.scale(b.apply(Op.EXP, v), 0.5, "up")
            down = b.apply(Op.EXP, b.scale(v, -1.0, "negative"), "down")
            return b.add(up, b.scale(down, 0.5), "half", Op.ADD if sign > 0 else Op.SUB)

        v = m.value(x)
        return step(b.filled(v)) if sign > 0 else b.on_stored(v, step)

    return handler


def reciprocal(m: Importer, x: Any) -> Value:
    return m.builder.div(m.builder.constant(1.0), m.value(x), "inverse")


def clamp(m: Importer, x: Any, min: Any = None, max: Any = None) -> Value:
    """``max(x, low)``, then ``min(x, high)``; an infinite number is no bound."""
    b = m.builder
    v = b.unmasked(m.value(x), "clamp")
    if min is not None and m.number(min) != -math.inf:
        low = m.number(min)
        v = b.larger(v, m.value(min)) if low is None else b.at_least(v, float(low))
    if max is not None and m.number(max) != math.inf:
        high = m.number(max)
        v = b.smaller(v, m.value(max)) if high is None else b.at_most(v, float(high))
    return v


def clamp_min(m: Importer, x: Any, min: Any) -> Value:
    return clamp(m, x, min=min)


def clamp_max(m: Importer, x: Any, max: Any) -> Value:
    return clamp(m, x, max=max)


def maximum(m: Importer, x: Any, other: Any) -> Value:
    return m.builder.larger(m.value(x), m.value(other))


def minimum(m: Importer, x: Any, other: Any) -> Value:
    return m.builder.smaller(m.value(x), m.value(other))


def power(m: Importer, x: Any, exponent: Any) -> Value:
    b = m.builder
    number = m.number(exponent)
    if number is None:
        base = m.number(x)
        if base is not None and base > 0:
            return b.apply(Op.EXP, b.scale(b.filled(m.value(exponent)), math.log(base), "power"))
        raise b.refuse(
            "a power with an exponent that is a tensor, of what is no positive number",
            "exponents are numbers, or the base is one; exp(p * log(x)) computes it for positive x",
        )
    return power_of(m, m.value(x), number)


def power_of(m: Importer, value: Value, number: float) -> Value:
    """By squaring where the exponent is whole, else ``exp(p log(x))``."""
    b = m.builder
    v = b.unmasked(value, "a power")
    if number == 0.5:
        return b.apply(Op.SQRT, v)
    if number == -0.5:
        return b.apply(Op.RSQRT, v)
    if number == int(number) and 1 <= abs(number) <= MOST_POWER:
        result = whole_power(m, v, int(abs(number)))
        return b.div(b.constant(1.0), result, "inverse") if number < 0 else result
    if number == 0 or number == int(number):
        raise b.refuse(
            f"a power with the exponent {number:g}",
            f"whole exponents from -{MOST_POWER} to {MOST_POWER}, except 0, are supported",
        )

    def step(w: Value) -> Value:
        return b.apply(Op.EXP, b.scale(b.apply(Op.LOG, w), number, "power"))

    return b.on_stored(v, step) if number > 0 else step(b.filled(v))


MOST_POWER = 64
"""Larger whole exponents are refused: float32 overflows at little more than 1."""


def whole_power(
    m: Importer,
    value: Value,
    exponent: int,
    times: Callable[[Value, Value, str], Value] | None = None,
) -> Value:
    """By squaring; ``times`` multiplies, element by element where nothing is given."""
    times, result = times or m.builder.mul, None
    while True:
        if exponent % 2:
            result = value if result is None else times(result, value, "power")
        exponent //= 2
        if not exponent:
            assert result is not None
            return result
        value = times(value, value, "square")


def scaled(factor: float) -> Callable[..., Value]:
    """``log(x)`` to another base."""

    def handler(m: Importer, x: Any) -> Value:
        return m.builder.scale(m.builder.apply(Op.LOG, m.value(x)), factor)

    return handler


def exp2(m: Importer, x: Any) -> Value:
    b = m.builder
    return b.apply(Op.EXP, b.scale(b.filled(m.value(x)), math.log(2), "power"))


def square(m: Importer, x: Any) -> Value:
    return power(m, x, 2)


def hypotenuse(m: Importer, x: Any, other: Any) -> Value:
    """The root of the sum of two squares."""
    b, first, second = m.builder, m.value(x), m.value(other)
    squares = b.add(b.mul(first, first, "square"), b.mul(second, second, "square"), "squares")
    return b.apply(Op.SQRT, squares)


def addcmul(m: Importer, x: Any, tensor1: Any, tensor2: Any, value: float = 1) -> Value:
    b = m.builder
    return b.add(m.value(x), b.scale(b.mul(m.value(tensor1), m.value(tensor2)), float(value)))


def addcdiv(m: Importer, x: Any, tensor1: Any, tensor2: Any, value: float = 1) -> Value:
    b = m.builder
    return b.add(m.value(x), b.scale(b.div(m.value(tensor1), m.value(tensor2)), float(value)))


def lerp(m: Importer, x: Any, end: Any, weight: Any) -> Value:
    """``x + weight (end - x)``"""
    b, start = m.builder, m.value(x)
    gap = b.add(m.value(end), start, "gap", Op.SUB)
    share = m.number(weight)
    moved = b.mul(gap, m.value(weight), "moved") if share is None else b.scale(gap, share, "moved")
    return b.add(start, moved)


def logaddexp(m: Importer, x: Any, other: Any) -> Value:
    """``a + softplus(c - a)``: the larger one plus ``log(1 + exp(-|a - c|))``."""
    b = m.builder
    a, c = b.filled(m.value(x)), b.filled(m.value(other))
    gap = b.add(c, a, "gap", Op.SUB)
    soft = log_of_one_and_exp(m, gap)
    return b.add(b.add(a, b.apply(Op.RELU, gap, "above"), "larger"), soft)


MOST_FACTORS = 64
"""More elements than that along a dimension are not multiplied one by one."""


def prod(
    m: Importer, x: Any, dim: int | None = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """The elements along a dimension, one factor after the other."""
    b, value = m.builder, m.builder.unmasked(m.value(x), "a product")
    if dim is None:
        value, dim = moved(b, value, (math.prod(value.shape),)), 0
    dim = m.builder.axis(dim, value.rank)
    if not 1 <= value.shape[dim] <= MOST_FACTORS:
        raise b.refuse(
            f"a product of {counted(value.shape[dim], 'element')} along a dimension",
            f"at most {MOST_FACTORS} are multiplied one by one; for positive x, "
            "exp(log(x).sum(dim)) computes it",
        )
    parts = pieces(b, "unbind", value, (dim,))
    result: Value = parts[0]
    for part in parts[1:]:
        result = b.mul(result, part)
    if not keepdim:
        return result
    dims: list[int | None] = [*range(dim), None, *range(dim, result.rank)]
    return result.picked(dims, [*result.shape[:dim], 1, *result.shape[dim:]])


HANDLERS: dict[str, Callable[..., Any]] = {
    "add": add, "sub": sub, "subtract": sub, "rsub": rsub, "mul": mul, "multiply": mul,
    "div": div, "divide": div, "true_divide": div, "neg": neg, "negative": neg,
    "addcmul": addcmul, "addcdiv": addcdiv, "lerp": lerp, "logaddexp": logaddexp,
    "cosh": exponentials(1.0), "sinh": exponentials(-1.0), "prod": prod,
    "reciprocal": reciprocal,
    **{op.value: function(op) for op in FUNCTIONS if op not in (Op.GELU, Op.ROUND)},
    "clamp": clamp, "clip": clamp, "clamp_min": clamp_min, "clamp_max": clamp_max,
    "maximum": maximum, "minimum": minimum, "fmax": maximum, "fmin": minimum,
    "hypot": hypotenuse, "pow": power, "float_power": power, "exp2": exp2,
    "log2": scaled(1 / math.log(2)), "log10": scaled(1 / math.log(10)), "square": square,
}  # fmt: skip
