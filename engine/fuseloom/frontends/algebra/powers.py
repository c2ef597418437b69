"""Powers of numbers: products, roots, and exponentials of logarithms."""

from __future__ import annotations

import math

from fuseloom.frontends.algebra.conditions import DIFFERS, GREATER
from fuseloom.frontends.algebra.expressions import (
    Node,
    Num,
    Unsupported,
    add,
    div,
    made,
    mul,
    number_along,
    raw,
    scaled,
    shifted,
    sub,
)
from fuseloom.program.float32 import LARGEST
from fuseloom.program.functions import Op

_PRODUCTS = 16
"""The largest exponent whose power is a product."""


def power(x: Node, y: Node) -> Node:
    """``x`` to the power of ``y``.

    >>> from fuseloom.frontends.algebra.expressions import Arg
    >>> power(Arg(0), Num(0.5)).op, len(power(Arg(0), Num(3.0)).operands)
    (<Op.SQRT: 'sqrt'>, 3)
    """
    match x, y:
        case Num(a), Num(b):
            return Num(_of_numbers(a, b))
        case _, Num(b):
            return _known(x, b)
        case Num(a), _ if a > 0.0:
            return made(Op.EXP, scaled(y, math.log(a)))
        case Num(), _:
            raise Unsupported(
                "a power of a number that is not positive", "use arith.mulf for its sign"
            )
    return _general(x, y)


def _of_numbers(a: float, b: float) -> float:
    try:
        found = a**b
    except (OverflowError, ZeroDivisionError):
        raise Unsupported("a power that is not finite", "use a finite number") from None
    if isinstance(found, complex):
        raise Unsupported("a power that is no real number", "a negative number has whole powers")
    return float(found)


def _known(x: Node, exponent: float) -> Node:
    """A power by a number."""
    whole = exponent == int(exponent)
    if exponent < 0.0 and exponent != -0.5 and (not whole or -exponent <= _PRODUCTS):
        return div(Num(1.0), _known(x, -exponent))
    if exponent == 0.0:
        return number_along(x, 1.0)
    if exponent in (0.5, -0.5):
        return made(Op.SQRT if exponent > 0.0 else Op.RSQRT, x)
    if not whole:
        return made(Op.EXP, scaled(made(Op.LOG, x), exponent))
    if exponent > _PRODUCTS or exponent < 0.0:
        size = made(Op.EXP, scaled(made(Op.LOG, made(Op.ABS, x)), exponent))
        return size if exponent % 2.0 == 0.0 else mul(size, made(Op.SIGN, x))
    found = x
    n = int(exponent)
    if n <= 4:
        for _ in range(n - 1):
            found = mul(found, x)
        return found
    half = _known(x, float(n // 2))
    square = made(Op.MUL, half, half)
    return made(Op.MUL, square, x) if n % 2 else square


def _general(x: Node, y: Node) -> Node:
    """``exp(y log |x|)`` with the sign of a negative number's whole power; others have none."""
    size = made(Op.AT_LEAST, made(Op.LOG, made(Op.ABS, x)), constant=-LARGEST)
    negative = raw(GREATER, Num(0.0), x)
    odd = sub(y, scaled(made(Op.FLOOR, scaled(y, 0.5)), 2.0))
    sign = shifted(scaled(mul(negative, odd), -2.0), 1.0)
    broken = mul(negative, raw(DIFFERS, y, made(Op.FLOOR, y)))
    absent = made(Op.LOG, shifted(scaled(broken, -1.0), 1.0))  # 0, or minus infinity
    no_number = made(Op.SUB, absent, absent)
    return add(mul(made(Op.EXP, mul(y, size)), sign), no_number)
