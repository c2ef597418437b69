"""Functions that round, or jump: whole parts, quotients in integers, signs, thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fuseloom.frontends.torch.values import Value
from fuseloom.program import Op

if TYPE_CHECKING:
    from fuseloom.frontends.torch.importer import Importer


def nearest(m: Importer, x: Any, decimals: int = 0) -> Value:
    """To the nearest integer of a power of ten, of two the even one."""
    b, value = m.builder, m.value(x)
    tens = 10.0 ** abs(decimals)
    up, down = (tens, 1.0 / tens) if decimals >= 0 else (1.0 / tens, tens)
    return b.scale(b.apply(Op.ROUND, b.scale(value, up, "tens")), down)


def fraction(m: Importer, x: Any) -> Value:
    """Return the fractional part, with the sign."""
    b, v = m.builder, m.builder.unmasked(m.value(x), "a fraction")
    return b.add(v, b.apply(Op.TRUNC, v), "fraction", Op.SUB)


def rounded_quotient(m: Importer, x: Any, other: Any, step: Op) -> Value:
    """A quotient, rounded once to float32 and then to an integer."""
    return m.builder.apply(step, m.builder.div(m.value(x), m.value(other), "quotient"))


def floor_divide(m: Importer, x: Any, other: Any) -> Value:
    return rounded_quotient(m, x, other, Op.FLOOR)


def rest(step: Op) -> Callable[..., Value]:
    """``x - other * step(x / other)``"""

    def handler(m: Importer, x: Any, other: Any) -> Value:
        b = m.builder
        number = m.number(other)
        whole = rounded_quotient(m, x, other, step)
        taken = b.mul(whole, m.value(other)) if number is None else b.scale(whole, number)
        return b.add(m.value(x), taken, "rest", Op.SUB)

    return handler


def step(m: Importer, v: Value) -> Value:
    """1 where a value is positive, and 0 elsewhere."""
    return m.builder.apply(Op.SIGN, m.builder.apply(Op.RELU, v, "above"), "step")


def hardshrink(m: Importer, x: Any, lambd: float = 0.5) -> Value:
    """``x`` where ``|x| > lambd``, else 0."""
    b, v = m.builder, m.builder.unmasked(m.value(x), "hardshrink")
    far = step(m, b.shift(b.filled(b.apply(Op.ABS, v)), -float(lambd)))
    return b.mul(v, far, "shrunk")


def threshold(m: Importer, x: Any, threshold: float, value: float) -> Value:
    """``x`` where ``x > threshold``, else a number: ``value + (x - value) * (x > threshold)``."""
    b, v = m.builder, m.builder.filled(m.builder.unmasked(m.value(x), "threshold"))
    kept = b.mul(b.shift(v, -float(value)), step(m, b.shift(v, -float(threshold))), "kept")
    return b.shift(kept, float(value))


def tangent(m: Importer, x: Any) -> Value:
    b, v = m.builder, m.value(x)
    return b.div(b.apply(Op.SIN, v), b.apply(Op.COS, v), "tangent")


def complement_of_erf(m: Importer, x: Any) -> Value:
    """``1 - erf(x)``, which is good to what float32 keeps next to 1."""
    b = m.builder
    return b.shift(b.scale(b.apply(Op.ERF, b.filled(m.value(x))), -1.0, "negative"), 1.0)


HANDLERS: dict[str, Callable[..., Any]] = {
    "round": nearest, "frac": fraction, "fix": lambda m, x: m.builder.apply(Op.TRUNC, m.value(x)),
    "sgn": lambda m, x: m.builder.apply(Op.SIGN, m.value(x)),
    "floor_divide": floor_divide, "remainder": rest(Op.FLOOR), "fmod": rest(Op.TRUNC),
    "hardshrink": hardshrink, "threshold": threshold, "tan": tangent, "erfc": complement_of_erf,
    "special_erf": lambda m, x: m.builder.apply(Op.ERF, m.value(x)),
}  # fmt: skip
