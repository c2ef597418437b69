"""Activation functions, made of the machine's and of relu."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fuseloom.frontends.torch.conditions import not_
from fuseloom.frontends.torch.pointwise import (
    clamp,
    log_of_one_and_exp,
    negative_part,
    on_stored,
)
from fuseloom.frontends.torch.steps import step
from fuseloom.frontends.torch.values import Value
from fuseloom.frontends.torch.views import pieces
from fuseloom.program import Op

if TYPE_CHECKING:
    from fuseloom.frontends.torch.importer import Importer


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


def silu_of(m: Importer, v: Value) -> Value:
    return m.builder.mul(v, m.builder.apply(Op.SIGMOID, v), "gated")


def leaky_relu(m: Importer, x: Any, negative_slope: float = 0.01) -> Value:
    """``max(v, s v)``, or for a slope beyond 1 ``relu(v) - s relu(-v)``."""
    b, v = m.builder, m.builder.unmasked(m.value(x), "leaky_relu")
    if negative_slope <= 1:

        def step(w: Value) -> Value:
            return b.add(w, b.scale(w, float(negative_slope), "leak"), "leaky", Op.MAXIMUM)

        return b.on_stored(v, step)
    below = b.scale(negative_part(m, v), float(negative_slope), "leak")
    return b.add(b.apply(Op.RELU, v), below, "leaky", Op.SUB)


def rrelu(
    m: Importer, x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Value:
    """The slope that the drawn ones have on average."""
    if training:
        raise m.builder.refuse("rrelu that trains", "call module.eval() first")
    return leaky_relu(m, x, (lower + upper) / 2)


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


FAINT = 17.0
"""``log(1 + exp(-x))`` of a larger x is less than half of the last bit of 1 in float32."""


def softplus(m: Importer, x: Any, beta: float = 1, threshold: float = 20) -> Value:
    """``(relu(bx) + log(1 + exp(-|bx|))) / b``, which does not overflow.

    Above the threshold it is x; where float32 cannot tell the two, that needs no care.
    """
    b = m.builder
    v = b.scale(b.filled(m.value(x)), float(beta), "sharp")
    soft = log_of_one_and_exp(m, v)
    total = b.add(b.apply(Op.RELU, v, "above"), soft)
    if threshold < FAINT:
        beyond = step(m, b.shift(v, -float(threshold)))
        bent = b.mul(total, not_(m, beyond), "bent")
        total = b.add(b.mul(v, beyond, "straight"), bent)
    return b.scale(total, 1.0 / float(beta))


def mish(m: Importer, x: Any) -> Value:
    def step(v: Value) -> Value:
        soft = log_of_one_and_exp(m, v)
        plus = m.builder.add(m.builder.apply(Op.RELU, v, "above"), soft)
        return m.builder.mul(v, m.builder.apply(Op.TANH, plus), "gated")

    return m.builder.on_stored(m.value(x), step)


def log_sigmoid(m: Importer, x: Any) -> Value:
    """``-softplus(-x)``"""
    b = m.builder
    v = b.filled(m.value(x))
    soft = log_of_one_and_exp(m, v)
    return b.scale(b.add(negative_part(m, v), soft), -1.0, "negative")


def hardtanh(m: Importer, x: Any, min_val: float = -1, max_val: float = 1) -> Value:
    return clamp(m, x, min_val, max_val)


def relu6(m: Importer, x: Any) -> Value:
    return clamp(m, x, 0, 6)


def hardsigmoid(m: Importer, x: Any) -> Value:
    b = m.builder
    return b.at_most(b.apply(Op.RELU, b.scale(b.filled(m.value(x), 3.0), 1 / 6)), 1.0)


def hardswish(m: Importer, x: Any) -> Value:
    return m.builder.mul(m.value(x), hardsigmoid(m, x), "gated")


HANDLERS: dict[str, Callable[..., Any]] = {
    "gelu": gelu, "silu": on_stored(silu_of), "leaky_relu": leaky_relu, "elu": elu, "selu": selu,
    "softplus": softplus, "mish": mish, "log_sigmoid": log_sigmoid, "hardtanh": hardtanh,
    "relu6": relu6, "hardsigmoid": hardsigmoid, "hardswish": hardswish, "prelu": prelu,
    "rrelu": rrelu, "celu": celu, "glu": glu, "softshrink": softshrink,
}  # fmt: skip
