"""Conditions on computed values: 1 where they hold, and 0 elsewhere.

The machine has no comparison; the sign of a difference is one.  Conditions that follow from inputs
and buffers alone are known, and never come here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fuseloom.frontends.torch.nodes import op_name
from fuseloom.frontends.torch.steps import step
from fuseloom.frontends.torch.values import Value
from fuseloom.program import Op

if TYPE_CHECKING:
    from fuseloom.frontends.torch.importer import Importer


def not_(m: Importer, condition: Value) -> Value:
    """1 where a condition is 0."""
    return m.builder.shift(m.builder.scale(condition, -1.0, "negative"), 1.0)


def _gap(m: Importer, x: Any, other: Any) -> Value:
    """``x - other``, everywhere."""
    b = m.builder
    for given, rest, sign in ((other, x, 1.0), (x, other, -1.0)):
        if (number := m.number(given)) is not None:
            gap = b.filled(b.unmasked(m.value(rest), "a comparison"))
            gap = gap if sign > 0 else b.scale(gap, -1.0, "negative")
            return b.shift(gap, -sign * number) if number else gap
    first = b.unmasked(m.value(x), "a comparison")
    second = b.unmasked(m.value(other), "a comparison")
    return b.filled(b.add(first, second, "difference", Op.SUB))


def beyond(m: Importer, node: Any) -> bool | None:
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

    def either_way(m: Importer, x: Any, other: Any) -> Value:
        told = beyond(m, m.builder.node)
        return handler(m, x, other) if told is None else everywhere(m, told)

    return either_way


def everywhere(m: Importer, holds: bool) -> Value:
    """A condition that holds everywhere, or nowhere."""
    b = m.builder
    return b.aligned([b.constant(float(holds))], tuple(b.node.meta["val"].shape))[0]


def greater(turned: bool, holds: bool) -> Callable[..., Value]:
    """``gt``; ``lt`` if turned; ``le`` and ``ge`` are what these are not."""

    def handler(m: Importer, x: Any, other: Any) -> Value:
        found = step(m, _gap(m, *((other, x) if turned else (x, other))))
        return found if holds else not_(m, found)

    return handler


def differs(holds: bool) -> Callable[..., Value]:
    """``ne``, and ``eq`` as what it is not."""

    def handler(m: Importer, x: Any, other: Any) -> Value:
        b = m.builder
        found = b.apply(Op.SIGN, b.apply(Op.ABS, _gap(m, x, other)), "differs")
        return found if holds else not_(m, found)

    return handler


def _bits(m: Importer, x: Any) -> Value:
    """A condition, or whether numbers differ from 0."""
    value = m.value(x)
    if isinstance(x, bool | int | float) or x.meta["val"].dtype == m.torch.bool:
        return value
    return m.builder.apply(Op.SIGN, m.builder.apply(Op.ABS, value), "holds")


def and_(m: Importer, x: Any, other: Any) -> Value:
    return m.builder.mul(_bits(m, x), _bits(m, other), "and_")


def or_(m: Importer, x: Any, other: Any) -> Value:
    return m.builder.larger(_bits(m, x), _bits(m, other))


def xor_(m: Importer, x: Any, other: Any) -> Value:
    b = m.builder
    return b.apply(Op.ABS, b.add(_bits(m, x), _bits(m, other), "difference", Op.SUB))


def is_finite(m: Importer, x: Any) -> Value:
    m.builder.unmasked(m.value(x), "isfinite")
    return everywhere(m, True)


def finite(m: Importer, x: Any, nan: Any = 0, posinf: Any = None, neginf: Any = None) -> Value:
    """Return the value itself: computed and given values are already numbers."""
    return m.builder.unmasked(m.value(x), "nan_to_num")


def fails(m: Importer, x: Any) -> Value:
    return not_(m, _bits(m, x))


HANDLERS: dict[str, Callable[..., Any]] = {
    "gt": settled(greater(turned=False, holds=True)),
    "lt": settled(greater(turned=True, holds=True)),
    "ge": settled(greater(turned=True, holds=False)),
    "le": settled(greater(turned=False, holds=False)),
    "ne": settled(differs(holds=True)), "eq": settled(differs(holds=False)),
    "isnan": lambda m, x: everywhere(m, False), "isfinite": is_finite, "nan_to_num": finite,
    **dict.fromkeys(("logical_and", "bitwise_and", "__and__"), and_),
    **dict.fromkeys(("logical_or", "bitwise_or", "__or__"), or_),
    **dict.fromkeys(("logical_xor", "bitwise_xor", "__xor__"), xor_),
    **dict.fromkeys(("logical_not", "bitwise_not"), fails),
}  # fmt: skip
