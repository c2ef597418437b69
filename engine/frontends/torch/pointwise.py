"""Element by element: arithmetic and functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.frontends.torch.masks import additive_mask, wide
from engine.frontends.torch.values import Value
from engine.frontends.torch.views import moved, pieces
from engine.program import Op

if TYPE_CHECKING:
    from engine.frontends.torch.importer import Importer


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
        raise m.builder.refuse(f"division that rounds ({rounding_mode})", "divide without rounding")
    if (number := m.number(other)) is not None and number != 0:
        return wide(m, m.builder.scale(m.value(x), 1.0 / number))
    return m.builder.div(m.value(x), m.value(other))


def neg(m: Importer, x: Any) -> Value:
    return m.builder.scale(m.value(x), -1.0, "negative")


def function(op: Op) -> Callable[..., Value]:
    def handler(m: Importer, x: Any) -> Value:
        return m.builder.apply(op, m.value(x))

    return handler


def gelu(m: Importer, x: Any, approximate: str = "none") -> Value:
    """Exact, or by tanh: ``x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3))``."""
    b, value = m.builder, m.value(x)
    if approximate == "none":
        return b.apply(Op.GELU, value)

    def by_tanh(v: Value) -> Value:
        cubic = b.scale(b.mul(b.mul(v, v, "square"), v, "cube"), 0.044715, "cubic")
        inner = b.scale(b.add(v, cubic, "inner"), 2 * math.sqrt(2 / math.pi), "logit")
        return b.mul(v, b.apply(Op.SIGMOID, inner), "gated")

    return b.on_stored(value, by_tanh)


def on_stored(step: Callable[[Importer, Value], Value]) -> Callable[..., Value]:
    """A handler from a function of 0 that is 0."""

    def handler(m: Importer, x: Any) -> Value:
        return m.builder.on_stored(m.value(x), lambda v: step(m, v))

    return handler


def tanh_of(m: Importer, v: Value) -> Value:
    """``2 sigmoid(2 v) - 1``"""
    b = m.builder
    gate = b.apply(Op.SIGMOID, b.scale(v, 2.0, "twice"))
    return b.shift(b.scale(gate, 2.0, "stretched"), -1.0)


def silu_of(m: Importer, v: Value) -> Value:
    return m.builder.mul(v, m.builder.apply(Op.SIGMOID, v), "gated")


def negative_part(m: Importer, v: Value) -> Value:
    """``min(v, 0)`` with the sign turned: ``relu(-v)``."""
    return m.builder.apply(Op.RELU, m.builder.scale(v, -1.0, "negative"), "below")


def abs_of(m: Importer, v: Value) -> Value:
    return m.builder.add(m.builder.apply(Op.RELU, v), negative_part(m, v))


def sqrt_of(m: Importer, v: Value) -> Value:
    """``1 / rsqrt(v)``, right at 0 too."""
    b = m.builder
    return b.div(b.constant(1.0), b.apply(Op.RSQRT, v), "root")


def leaky_relu(m: Importer, x: Any, negative_slope: float = 0.01) -> Value:
    b, v = m.builder, m.builder.unmasked(m.value(x), "leaky_relu")
    below = b.scale(negative_part(m, v), float(negative_slope), "leak")
    return b.add(b.apply(Op.RELU, v), below, "leaky", Op.SUB)


def prelu(m: Importer, x: Any, weight: Any) -> Value:
    """A slope below 0 per channel, dimension 1, or one for all."""
    b, v, slope = m.builder, m.builder.unmasked(m.value(x), "prelu"), m.value(weight)
    shape = [slope.shape[0] if d == 1 and slope.rank else 1 for d in range(v.rank)]
    if slope.rank:
        slope = b.dropped(slope, [0]) if slope.shape[0] == 1 else slope
        dims = [0 if d == (1 if v.rank > 1 else 0) else None for d in range(v.rank)]
        slope = slope.picked(dims if v.rank else [], shape) if v.rank else slope.picked([], ())
    below = b.mul(negative_part(m, v), slope, "leak")
    return b.add(b.apply(Op.RELU, v), below, "leaky", Op.SUB)


def celu(m: Importer, x: Any, alpha: float = 1.0) -> Value:
    return elu(m, x, alpha, 1.0, 1.0 / alpha)


def glu(m: Importer, x: Any, dim: int = -1) -> Value:
    """The first half times the sigmoid of the second."""
    value = m.value(x)
    first, second = pieces(m.builder, "chunk", value, (2, dim))
    return m.builder.mul(first, m.builder.apply(Op.SIGMOID, second, "gate"), "gated")


def softshrink(m: Importer, x: Any, lambd: float = 0.5) -> Value:
    """``relu(v - l) - relu(-v - l)``"""
    b = m.builder

    def step(v: Value) -> Value:
        above = b.apply(Op.RELU, b.shift(v, -float(lambd)), "above")
        turned = b.shift(b.scale(v, -1.0, "negative"), -float(lambd))
        return b.add(above, b.apply(Op.RELU, turned, "below"), "shrunk", Op.SUB)

    return b.on_stored(m.value(x), step)


def log1p(m: Importer, x: Any) -> Value:
    b = m.builder
    return b.on_stored(m.value(x), lambda v: b.apply(Op.LOG, b.shift(v, 1.0)))


def expm1(m: Importer, x: Any) -> Value:
    b = m.builder
    return b.on_stored(m.value(x), lambda v: b.shift(b.apply(Op.EXP, v), -1.0))


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


def elu(m: Importer, x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    b = m.builder

    def step(v: Value) -> Value:
        below = b.scale(negative_part(m, v), -float(input_scale), "exponent")
        curve = b.shift(b.apply(Op.EXP, below), -1.0)
        total = b.add(b.apply(Op.RELU, v), b.scale(curve, float(alpha), "curve"))
        return b.scale(total, float(scale))

    return b.on_stored(m.value(x), step)


def selu(m: Importer, x: Any) -> Value:
    return elu(m, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


def softplus(m: Importer, x: Any, beta: float = 1, threshold: float = 20) -> Value:
    """``(relu(bx) + log(1 + exp(-|bx|))) / b``, which does not overflow."""
    b = m.builder
    v = b.scale(b.filled(m.value(x)), float(beta), "sharp")
    below = b.scale(abs_of(m, v), -1.0, "exponent")
    soft = b.apply(Op.LOG, b.shift(b.apply(Op.EXP, below), 1.0))
    return b.scale(b.add(b.apply(Op.RELU, v, "above"), soft), 1.0 / float(beta))


def mish(m: Importer, x: Any) -> Value:
    def step(v: Value) -> Value:
        low = m.builder.scale(abs_of(m, v), -1.0, "exponent")
        soft = m.builder.apply(Op.LOG, m.builder.shift(m.builder.apply(Op.EXP, low), 1.0))
        plus = m.builder.add(m.builder.apply(Op.RELU, v, "above"), soft)
        return m.builder.mul(v, tanh_of(m, plus), "gated")

    return m.builder.on_stored(m.value(x), step)


def log_sigmoid(m: Importer, x: Any) -> Value:
    """``-softplus(-x)``"""
    b = m.builder
    v = b.filled(m.value(x))
    below = b.scale(abs_of(m, v), -1.0, "exponent")
    soft = b.apply(Op.LOG, b.shift(b.apply(Op.EXP, below), 1.0))
    return b.scale(b.add(negative_part(m, v), soft), -1.0, "negative")


def tanh(m: Importer, x: Any) -> Value:
    return m.builder.on_stored(m.value(x), lambda v: tanh_of(m, v))


def reciprocal(m: Importer, x: Any) -> Value:
    return m.builder.div(m.builder.constant(1.0), m.value(x), "inverse")


def clamp(m: Importer, x: Any, min: Any = None, max: Any = None) -> Value:
    """``relu(x - low) + low``, then ``high - relu(high - x)``."""
    b = m.builder
    v = b.unmasked(m.value(x), "clamp")
    if any(bound is not None and m.number(bound) is None for bound in (min, max)):
        if min is not None:
            v = larger(m, v, m.value(min))
        return v if max is None else smaller(m, v, m.value(max))
    min, max = (None if bound is None else m.number(bound) for bound in (min, max))
    zero = (min is None or min <= 0) and (max is None or max >= 0)

    def step(v: Value) -> Value:
        if min is not None:
            low = float(min)
            v = b.shift(b.apply(Op.RELU, b.shift(v, -low)), low)
        if max is not None:
            high = float(max)
            gap = b.shift(b.scale(v, -1.0, "negative"), high)
            v = b.shift(b.scale(b.apply(Op.RELU, gap, "gap"), -1.0, "negative"), high)
        return v

    return b.on_stored(v, step) if zero else step(b.filled(v))


def at_least(m: Importer, value: Value, low: float) -> Value:
    """``max(v, low)`` for a positive number: ``relu(v - low) + low`` on all elements."""
    b = m.builder
    return b.shift(b.apply(Op.RELU, b.filled(value, -low), "above"), low)


def clamp_min(m: Importer, x: Any, min: Any) -> Value:
    return clamp(m, x, min=min)


def clamp_max(m: Importer, x: Any, max: Any) -> Value:
    return clamp(m, x, max=max)


def hardtanh(m: Importer, x: Any, min_val: float = -1, max_val: float = 1) -> Value:
    return clamp(m, x, min_val, max_val)


def relu6(m: Importer, x: Any) -> Value:
    return clamp(m, x, 0, 6)


def hardsigmoid(m: Importer, x: Any) -> Value:
    b = m.builder
    v = b.scale(b.filled(m.value(x), 3.0), 1 / 6)
    low = b.apply(Op.RELU, v)
    gap = b.apply(Op.RELU, b.shift(b.scale(low, -1.0, "negative"), 1.0), "gap")
    return b.shift(b.scale(gap, -1.0, "negative"), 1.0)


def hardswish(m: Importer, x: Any) -> Value:
    return m.builder.mul(m.value(x), hardsigmoid(m, x), "gated")


def maximum(m: Importer, x: Any, other: Any) -> Value:
    return larger(m, m.value(x), m.value(other))


def minimum(m: Importer, x: Any, other: Any) -> Value:
    return smaller(m, m.value(x), m.value(other))


def larger(m: Importer, a: Value, c: Value) -> Value:
    """``c + relu(a - c)``"""
    b = m.builder
    return b.add(c, b.apply(Op.RELU, b.add(a, c, "difference", Op.SUB)), "larger")


def smaller(m: Importer, a: Value, c: Value) -> Value:
    """``a - relu(a - c)``"""
    b = m.builder
    return b.add(a, b.apply(Op.RELU, b.add(a, c, "difference", Op.SUB)), "smaller", Op.SUB)


def power(m: Importer, x: Any, exponent: Any) -> Value:
    b = m.builder
    number = m.number(exponent)
    v = b.unmasked(m.value(x), "a power")
    if number == 0.5:
        return b.on_stored(v, lambda w: sqrt_of(m, w))
    if number == -0.5:
        return b.apply(Op.RSQRT, v)
    if number is None or number != int(number) or not 1 <= abs(number) <= 8:
        raise b.refuse(
            f"a power with the exponent {exponent}",
            "whole exponents from -8 to 8, 0.5 and -0.5 are supported; exp(p * log(x)) computes "
            "others for positive x",
        )
    result = v
    for _ in range(int(abs(number)) - 1):
        result = b.mul(result, v, "power")
    return b.div(b.constant(1.0), result, "inverse") if number < 0 else result


def square(m: Importer, x: Any) -> Value:
    return power(m, x, 2)


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
    low = b.scale(abs_of(m, gap), -1.0, "exponent")
    soft = b.apply(Op.LOG, b.shift(b.apply(Op.EXP, low), 1.0))
    return b.add(b.add(a, b.apply(Op.RELU, gap, "above"), "larger"), soft)


MOST_FACTORS = 64
"""More elements than that along a dimension are not multiplied one by one."""


def prod(m: Importer, x: Any, dim: int | None = None, keepdim: bool = False, dtype: Any = None) -> Value:
    """The elements along a dimension, one factor after the other."""
    b, value = m.builder, m.builder.unmasked(m.value(x), "a product")
    if dim is None:
        value, dim = moved(b, value, (math.prod(value.shape),)), 0
    dim = dim % value.rank
    if value.shape[dim] > MOST_FACTORS:
        raise b.refuse(
            f"a product of {value.shape[dim]} elements along a dimension",
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
    "prelu": prelu, "celu": celu, "glu": glu, "softshrink": softshrink, "log1p": log1p,
    "expm1": expm1, "cosh": exponentials(1.0), "sinh": exponentials(-1.0), "prod": prod,
    "relu": function(Op.RELU), "exp": function(Op.EXP), "log": function(Op.LOG),
    "rsqrt": function(Op.RSQRT), "sigmoid": function(Op.SIGMOID), "gelu": gelu,
    "tanh": tanh, "silu": on_stored(silu_of), "abs": on_stored(abs_of),
    "sqrt": on_stored(sqrt_of), "leaky_relu": leaky_relu, "elu": elu, "selu": selu,
    "softplus": softplus, "mish": mish, "log_sigmoid": log_sigmoid, "reciprocal": reciprocal,
    "clamp": clamp, "clip": clamp, "clamp_min": clamp_min, "clamp_max": clamp_max,
    "hardtanh": hardtanh, "relu6": relu6, "hardsigmoid": hardsigmoid, "hardswish": hardswish,
    "maximum": maximum, "minimum": minimum, "pow": power, "square": square,
}  # fmt: skip
