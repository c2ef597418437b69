"""The trees that are 0 wherever they are absent: they mean the same as over dense tensors."""

from __future__ import annotations

from collections.abc import Callable

from fuseloom.frontends.algebra.conditions import DIFFERS, GREATER, INFINITE
from fuseloom.frontends.algebra.expressions import (
    UNSIGNED,
    WRAP,
    Apply,
    Arg,
    Index,
    Node,
    Num,
    Raw,
    arguments,
    is_known,
)
from fuseloom.program.functions import Op

_ZERO_AT_ZERO = (*(op for op in Op if op.keeps_zero), Op.SCALE, Op.SUM, Op.ADD, Op.SUB)


def absent_is_zero(node: Node, lacks: Callable[[int], bool] = lambda _: True) -> bool:
    """Return whether an operation on dense tensors gives 0 where the program has no element.

    Parameters
    ----------
    lacks : callable
        Whether an operand, by its number, may lack elements.

    >>> from fuseloom.frontends.algebra.expressions import made
    >>> absent_is_zero(made(Op.MUL, Arg(0), Arg(1))), absent_is_zero(made(Op.EXP, Arg(0)))
    (True, False)
    >>> absent_is_zero(made(Op.MUL, Arg(0), made(Op.EXP, Arg(1))), lambda number: number == 0)
    True
    """

    def zero(inner: Node) -> bool:
        return absent_is_zero(inner, lacks)

    if not any(k >= 0 and lacks(k) for k in arguments(node)):
        return True  # it has every element
    if isinstance(node, Arg | Index) or is_known(node):
        return True
    match node:
        case Apply(op=Op.MUL, operands=operands):
            return all(zero(x) or _masked(x) for x in operands)
        case Apply(op=op, operands=operands) if op in _ZERO_AT_ZERO:
            return all(zero(x) for x in operands)
        case Apply(op=Op.AT_LEAST, operands=(inner,), constant=float() as least):
            return least <= 0.0 and zero(inner)
        case Apply(op=Op.DIV, operands=(above, _)):
            return zero(above)
        case Raw(name="cast" | "max" | "min" | "and" | "or" | "xor", operands=operands):
            if node.name in ("max", "min"):
                return False
            return all(zero(x) for x in operands)
        case Raw(operands=(inner, *_)) if node.name in (WRAP, UNSIGNED, INFINITE):
            return zero(inner)
        case Raw(operands=(a, b)) if node.name in (GREATER, DIFFERS):
            if isinstance(a, Num):
                return node.name == GREATER and a.value <= 0.0 and zero(b)
            if isinstance(b, Num):
                return node.name == GREATER and b.value >= 0.0 and zero(a)
            return zero(a) and zero(b)
        case Raw(name="select", operands=(condition, yes, no)):
            bare = [x for x in (yes, no) if not isinstance(x, Num)]
            return (
                zero(condition)
                and all(zero(x) for x in bare)
                and (not isinstance(no, Num) or no.value == 0.0 or is_known(condition))
            )
    return False


def _masked(node: Node) -> bool:
    """Return whether a tree is a mask: a factor with a one at each element of another."""
    match node:
        case Apply(op=Op.SHIFT, operands=(Apply(op=Op.SCALE, constant=0.0),), constant=1.0):
            return True
    return False
