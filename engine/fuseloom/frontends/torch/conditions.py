"""Conditions on computed values: 1 where they hold, and 0 elsewhere.

Conditions that follow from inputs and buffers alone are known, and never come here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from fuseloom.frontends.algebra.conditions import combined, compared, not_
from fuseloom.frontends.algebra.expressions import Node, Num
from fuseloom.frontends.torch.elementwise import compute, handler_of
from fuseloom.frontends.torch.nodes import op_name, shape_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value


def beyond(m: Traced, node: Any) -> bool | None:
    """Return the constant result of comparing finite values with an infinite number; else None."""
    told = op_name(node)
    x, other = (*node.args, None)[:2]
    if told in ("isinf", "isnan"):
        return False
    if told == "isfinite":
        return True
    if told not in COMPARISONS or other is None:
        return None
    for given, rest in ((other, x), (x, other)):
        number = None if isinstance(rest, int | float) else m.number(given)
        if number is not None and not math.isfinite(number):
            pair = (0.0, number) if given is other else (number, 0.0)
            return bool(COMPARISONS[told](*pair))
    return None


COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "gt": operator.gt, "lt": operator.lt, "ge": operator.ge, "le": operator.le,
    "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def settled(handler: Callable[..., Value]) -> Callable[..., Value]:
    """A comparison, which infinite numbers settle for all values."""

    def either_way(m: Traced, x: Any, other: Any) -> Value:
        told = beyond(m, m.builder.node)
        return handler(m, x, other) if told is None else everywhere(m, told)

    return either_way


def everywhere(m: Traced, holds: bool) -> Value:
    """A condition that holds everywhere, or nowhere."""
    b = m.builder
    return b.aligned([b.constant(float(holds))], shape_of(b.node))[0]


def comparison(predicate: str) -> Callable[..., Value]:
    def of(x: Node, other: Node) -> Node:
        return compared(predicate, x, other, whole=False)

    return settled(handler_of(of))


def _bits(m: Traced, x: Any) -> Value:
    """A condition, or whether numbers differ from 0."""
    value = m.value(x)
    if isinstance(x, bool | int | float) or x.meta["val"].dtype == m.torch.bool:
        return value
    return compute(m.builder, holds, value)


def holds(x: Node) -> Node:
    """Whether a number differs from 0."""
    return compared("ne", x, Num(0.0), whole=False)


def both(name: str) -> Callable[..., Value]:
    """Two conditions as one."""

    def handler(m: Traced, x: Any, other: Any) -> Value:
        return compute(m.builder, partial(combined, name), _bits(m, x), _bits(m, other))

    return handler


def is_finite(m: Traced, x: Any) -> Value:
    m.builder.unmasked(m.value(x), "isfinite")
    return everywhere(m, True)


def finite(m: Traced, x: Any, nan: Any = 0, posinf: Any = None, neginf: Any = None) -> Value:
    """Return the value itself: computed and given values are already numbers."""
    return m.builder.unmasked(m.value(x), "nan_to_num")


def fails(m: Traced, x: Any) -> Value:
    return compute(m.builder, not_, _bits(m, x))


HANDLERS: dict[str, Callable[..., Any]] = {
    **{predicate: comparison(predicate) for predicate in COMPARISONS},
    "isnan": lambda m, x: everywhere(m, False), "isfinite": is_finite, "nan_to_num": finite,
    **dict.fromkeys(("logical_and", "bitwise_and", "__and__"), both("and")),
    **dict.fromkeys(("logical_or", "bitwise_or", "__or__"), both("or")),
    **dict.fromkeys(("logical_xor", "bitwise_xor", "__xor__"), both("xor")),
    **dict.fromkeys(("logical_not", "bitwise_not"), fails),
}  # fmt: skip
