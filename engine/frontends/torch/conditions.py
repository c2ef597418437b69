"""Conditions on computed values: 1 where they hold, and 0 elsewhere.

The machine has no comparison; the sign of a difference is one.  Conditions that follow from inputs
and buffers alone are known, and never come here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.frontends.torch.steps import jump
from engine.frontends.torch.values import Value
from engine.program import Op

if TYPE_CHECKING:
    from engine.frontends.torch.importer import Importer


def opposite(m: Importer, condition: Value) -> Value:
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


def greater(turned: bool, holds: bool) -> Callable[..., Value]:
    """``gt``; ``lt`` if turned; ``le`` and ``ge`` are what these are not."""

    def handler(m: Importer, x: Any, other: Any) -> Value:
        found = jump(m, _gap(m, *((other, x) if turned else (x, other))))
        return found if holds else opposite(m, found)

    return handler


def differs(holds: bool) -> Callable[..., Value]:
    """``ne``, and ``eq`` as what it is not."""

    def handler(m: Importer, x: Any, other: Any) -> Value:
        b = m.builder
        found = b.apply(Op.SIGN, b.apply(Op.ABS, _gap(m, x, other)), "differs")
        return found if holds else opposite(m, found)

    return handler


def both(m: Importer, x: Any, other: Any) -> Value:
    return m.builder.mul(m.value(x), m.value(other), "both")


def either(m: Importer, x: Any, other: Any) -> Value:
    return m.builder.larger(m.value(x), m.value(other))


def one_of(m: Importer, x: Any, other: Any) -> Value:
    b = m.builder
    return b.apply(Op.ABS, b.add(m.value(x), m.value(other), "difference", Op.SUB))


def fails(m: Importer, x: Any) -> Value:
    return opposite(m, m.value(x))


HANDLERS: dict[str, Callable[..., Any]] = {
    "gt": greater(turned=False, holds=True), "lt": greater(turned=True, holds=True),
    "ge": greater(turned=True, holds=False), "le": greater(turned=False, holds=False),
    "ne": differs(holds=True), "eq": differs(holds=False),
    **dict.fromkeys(("logical_and", "bitwise_and", "__and__"), both),
    **dict.fromkeys(("logical_or", "bitwise_or", "__or__"), either),
    **dict.fromkeys(("logical_xor", "bitwise_xor", "__xor__"), one_of),
    **dict.fromkeys(("logical_not", "bitwise_not"), fails),
}  # fmt: skip
