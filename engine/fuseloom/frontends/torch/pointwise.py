"""Element by element: arithmetic and functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from fuseloom.frontends.algebra import functions
from fuseloom.frontends.algebra.expressions import Node, div, largest, made, mul, smallest
from fuseloom.frontends.algebra.powers import power
from fuseloom.frontends.algebra.reductions import product
from fuseloom.frontends.torch.elementwise import compute, handler_of
from fuseloom.frontends.torch.masks import additive_mask
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value
from fuseloom.frontends.torch.views import moved, one_of, pieces, selected
from fuseloom.program import Op
from fuseloom.program.functions import FUNCTIONS


def add(m: Traced, x: Any, other: Any, alpha: float = 1) -> Value:
    if alpha == 1 and m.number(x) is None and m.number(other) is None:
        masked = additive_mask(m, x, other)
        if masked is not None:
            return masked
    return _sum(m, x, other, alpha)


_sum = handler_of(functions.addition)


def quotient(m: Traced, x: Any, other: Any, rounding_mode: str | None = None) -> Value:
    if m.number(other) == 0:
        return m.builder.div(m.value(x), m.value(other))
    return _QUOTIENTS[rounding_mode](m, x, other)


def _pair(function: Callable[[Node, Node], Node]) -> Callable[..., Value]:
    """The handler of a function of two trees."""

    def of(x: Node, other: Node) -> Node:
        return function(x, other)

    return handler_of(of)


_QUOTIENTS: dict[str | None, Callable[..., Value]] = {
    None: _pair(div), "floor": handler_of(functions.floor_divide),
    "trunc": _pair(partial(functions.rounded_quotient, step=Op.TRUNC)),
}  # fmt: skip


def addcdiv(m: Traced, x: Any, one: Any, other: Any, value: float = 1.0) -> Value:
    """``x + v a / b``; what is divided by the number 0 is infinite, as in :func:`quotient`."""
    if m.number(other) == 0:
        share = m.builder.scale(quotient(m, one, other), value)
        return m.builder.add(m.value(x), share)
    return _ADDCDIV(m, x, one, other, value=value)


_ADDCDIV = handler_of(functions.addcdiv)


def negative(x: Node) -> Node:
    return -x


def subtracted(x: Node, other: Node, alpha: float = 1.0) -> Node:
    return functions.subtraction(other, x, alpha)


def raised(x: Node, exponent: Node) -> Node:
    return power(x, exponent)


def applied(op: Op) -> Callable[..., Value]:
    """One of the machine's functions."""

    def of(x: Node) -> Node:
        return made(op, x)

    return handler_of(of)


def at_least(x: Node, min: Node) -> Node:
    return functions.clamp(x, min)


def at_most(x: Node, max: Node) -> Node:
    return functions.clamp(x, None, max)


def glu(m: Traced, x: Any, dim: int = -1) -> Value:
    """The first half times the sigmoid of the second."""
    return compute(m.builder, functions.glu, *pieces(m.builder, "chunk", m.value(x), (2, dim)))


def prelu(m: Traced, x: Any, weight: Any) -> Value:
    """A slope below 0 per channel, dimension 1, or one for all."""
    b, v, slope = m.builder, m.value(x), m.value(weight)
    shape = [slope.shape[0] if d == 1 and slope.rank else 1 for d in range(v.rank)]
    if slope.rank:
        slope = b.dropped(slope, [0]) if slope.shape[0] == 1 else slope
        dims = [0 if d == (1 if v.rank > 1 else 0) else None for d in range(v.rank)]
        slope = slope.picked(dims if v.rank else [], shape) if v.rank else slope.picked([], ())
    return compute(b, functions.prelu, v, slope)


def rrelu(
    m: Traced, x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Value:
    """The slope that the drawn ones have on average."""
    if training:
        raise m.builder.refuse("rrelu that trains", "call module.eval() first")
    return compute(
        m.builder, partial(functions.leaky_relu, negative_slope=(lower + upper) / 2), m.value(x)
    )


def prod(
    m: Traced, x: Any, dim: int | None = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """The product of the elements along a dimension, or of all."""
    b, value = m.builder, m.builder.unmasked(m.value(x), "a product")
    if dim is None:
        value, dim = moved(b, value, (math.prod(value.shape),)), 0
    dim = m.builder.axis(dim, value.rank)
    if not value.shape[dim]:
        raise b.refuse("a product of no elements", "it is 1: torch.ones has it")

    def part(whole: Value, start: int, count: int) -> Value:
        if count == 1:
            return one_of(b, whole, dim, start, "factor")
        return selected(b, whole, dim, range(start, start + count), "half")

    result = product(value, value.shape[dim], part, b.mul)
    if not keepdim:
        return result
    dims: list[int | None] = [*range(dim), None, *range(dim, result.rank)]
    return result.picked(dims, [*result.shape[:dim], 1, *result.shape[dim:]])


_NAMED = (
    *("silu", "leaky_relu", "elu", "selu", "celu", "softplus", "mish", "log_sigmoid"),
    *("hardtanh", "relu6", "hardsigmoid", "hardswish", "softshrink", "hardshrink", "threshold"),
    *("addcmul", "lerp", "logaddexp", "cosh", "sinh", "reciprocal", "exp2", "log2"),
    *("log10", "square", "clamp", "floor_divide", "remainder", "fmod", "tan", "erfc"),
    *("asin", "acos", "atan2", "asinh", "acosh", "atanh"),
)
"""Functions that have PyTorch's own name in the algebra."""

HANDLERS: dict[str, Callable[..., Any]] = {
    **{name: handler_of(getattr(functions, name)) for name in _NAMED},
    **{op.value: applied(op) for op in FUNCTIONS},  # instead of what is made of others
    "gelu": handler_of(functions.gelu),  # which has two forms
    "special_erf": applied(Op.ERF),
    "sgn": applied(Op.SIGN), "fix": applied(Op.TRUNC), "arctan": applied(Op.ATAN),
    "add": add, **dict.fromkeys(("sub", "subtract"), handler_of(functions.subtraction)),
    "rsub": handler_of(subtracted), **dict.fromkeys(("mul", "multiply"), _pair(mul)),
    **dict.fromkeys(("div", "divide", "true_divide"), quotient),
    **dict.fromkeys(("neg", "negative"), handler_of(negative)),
    **dict.fromkeys(("pow", "float_power"), handler_of(raised)),
    **dict.fromkeys(("maximum", "fmax"), _pair(largest)),
    **dict.fromkeys(("minimum", "fmin"), _pair(smallest)),
    "clip": handler_of(functions.clamp), "clamp_min": handler_of(at_least),
    "clamp_max": handler_of(at_most), "hypot": handler_of(functions.hypotenuse),
    "round": handler_of(functions.nearest), "frac": handler_of(functions.fraction),
    **{f"arc{name}": handler_of(getattr(functions, f"a{name}"))
       for name in ("sin", "cos", "tan2", "sinh", "cosh", "tanh")},
    "addcdiv": addcdiv, "prelu": prelu, "rrelu": rrelu, "glu": glu, "prod": prod,
}  # fmt: skip
