"""Comparisons and choices, as what programs have: maxima, products and sums.

A comparison is 1 where it holds, and 0 elsewhere.  Only *strict* ones, and "differs", are built of
operations: they are 0 where nothing is stored.  The others are what these are not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce

from fuseloom.frontends.algebra.expressions import (
    Apply,
    Node,
    Num,
    Raw,
    Unsupported,
    add,
    as_maximum,
    is_known,
    largest,
    made,
    mul,
    raw,
    scaled,
    shifted,
    smallest,
    sub,
    substituted,
)
from fuseloom.program.float32 import LARGEST
from fuseloom.program.functions import Op

GREATER, DIFFERS, NOT, SELECT = "greater", "differs", "not", "select"
INFINITE = "infinite"
"""Raw tree of whether an element is the infinity that is the other operand."""
_STRICT = {"gt": False, "lt": True}
_LOOSE = {"ge": True, "le": False}


def compared(predicate: str | None, a: Node, b: Node, whole: bool) -> Node:
    """A comparison; ``whole`` says that its operands are integers.

    Raises
    ------
    Unsupported
        A predicate that no program has.
    """
    word = (predicate or "").lstrip("ous") if not whole else (predicate or "").lstrip("us")
    if predicate in ("one", "une"):
        word = "ne"
    elif predicate in ("oeq", "ueq"):
        word = "eq"
    if word in ("ne", "eq"):
        found = _made(DIFFERS, a, b)
        return found if word == "ne" else not_(found)
    if word in _STRICT:
        return _made(GREATER, *((b, a) if _STRICT[word] else (a, b)))
    if word in _LOOSE:
        return not_(_made(GREATER, *((b, a) if _LOOSE[word] else (a, b))))
    raise Unsupported(
        f"the comparison {predicate!r}"[:80], "use eq, ne, lt, le, gt or ge, e.g. cmpf ogt"
    )


def _made(name: str, a: Node, b: Node) -> Node:
    if isinstance(a, Num) and isinstance(b, Num):
        return Num(float(a.value > b.value if name == GREATER else a.value != b.value))
    for x, bound, below in ((a, b, False), (b, a, True)):
        if isinstance(bound, Num) and math.isinf(bound.value):
            if name == GREATER and (bound.value > 0.0) is not below:
                return Num(0.0)  # nothing is more than infinity
            return not_(raw(INFINITE, x, bound))
    return raw(name, a, b)


def not_(condition: Node) -> Node:
    """1 where a condition is 0.

    >>> not_(Num(1.0))
    Num(value=0.0, size=1, depth=1)
    """
    if isinstance(condition, Num):
        return Num(1.0 - condition.value)
    if isinstance(condition, Raw) and condition.name == NOT:
        return condition.operands[0]
    return raw(NOT, condition)


def is_condition(node: Node) -> bool:
    """Return whether a tree is 0 or 1 by its form."""
    if isinstance(node, Num):
        return node.value in (0.0, 1.0)
    return isinstance(node, Raw) and node.name in (GREATER, DIFFERS, NOT, INFINITE, *BOOLEAN)


def difference(a: Node, b: Node) -> Node:
    """``a - b``; of whether a number is positive and whether it is negative, its sign."""
    match a, b:
        case Raw("greater", (x, Num(0.0))), Raw("greater", (Num(0.0), y)) if x == y:
            return made(Op.SIGN, x)
    return sub(a, b)


def selected(condition: Node, yes: Node, no: Node) -> Node:
    """A choice; that of the larger or smaller of what is compared is a maximum or minimum."""
    if isinstance(condition, Num):
        return yes if condition.value else no
    if yes == no:
        return yes
    if isinstance(condition, Raw) and condition.name == NOT:
        return selected(condition.operands[0], no, yes)
    if isinstance(condition, Raw) and condition.name == INFINITE:
        x, bound = condition.operands  # elsewhere it is finite on that side
        no = substituted(no, x, _inside(x, bound))
    if isinstance(condition, Raw) and condition.name == GREATER:
        greater, smaller = condition.operands
        if (yes, no) == (greater, smaller):
            return largest(greater, smaller)
        if (yes, no) == (smaller, greater):
            return smallest(greater, smaller)
        if (leaky := _leaky(greater, smaller, yes, no)) is not None:
            return leaky
    for number in (yes, no):
        if isinstance(number, Num) and math.isnan(number.value):
            raise Unsupported("a choice of what is no number", "choose a number")
    return raw(SELECT, condition, yes, no)


def _leaky(greater: Node, smaller: Node, yes: Node, no: Node) -> Node | None:
    """``x > 0 ? x : c x`` as the larger or the smaller of the two; None for other choices."""
    x, above, below = (greater, yes, no) if smaller == Num(0.0) else (smaller, no, yes)
    match below:
        case Apply(Op.SCALE, (same,), constant) if constant is not None and constant > 0.0:
            if same == x == above and Num(0.0) in (greater, smaller):
                return largest(x, below) if constant <= 1.0 else smallest(x, below)
    return None


BOOLEAN = ("and", "or", "xor")


def combined(name: str, a: Node, b: Node) -> Node:
    """Two conditions as one."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Num):
            true = bool(x.value)
            if name == "and":
                return y if true else Num(0.0)
            if name == "or":
                return Num(1.0) if true else y
            return not_(y) if true else y
    return raw(name, a, b)


def lowered(node: Raw) -> Node | None:
    """Return the tree of a comparison, a condition or a choice in a program; None for others."""
    match node.name:
        case "max" | "min":
            return as_maximum(node)
        case "nonzero":  # within something else, zeros change nothing
            return node.operands[0]
        case "greater":
            return made(Op.SIGN, made(Op.RELU, sub(*node.operands)))
        case "differs":
            return made(Op.SIGN, made(Op.ABS, sub(*node.operands)))
        case "not":
            return shifted(scaled(node.operands[0], -1.0), 1.0)
        case "and":
            return mul(*node.operands)
        case "or":
            return made(Op.MAXIMUM, *node.operands)
        case "xor":
            return made(Op.ABS, sub(*node.operands))
        case "infinite":
            return _is_infinite(*node.operands)
        case "select":
            return _choice(*node.operands)
    return None


def _is_infinite(x: Node, bound: Node) -> Node:
    """1 where an element lies behind the largest number of float32, on the side of an infinity."""
    inside = smallest(largest(x, Num(-LARGEST)), Num(LARGEST))
    beyond = sub(x, inside) if isinstance(bound, Num) and bound.value > 0.0 else sub(inside, x)
    return made(Op.SIGN, made(Op.RELU, beyond))


def _inside(x: Node, bound: Node) -> Node:
    """An element, or the largest number in place of one infinity."""
    above = isinstance(bound, Num) and bound.value > 0.0
    return smallest(x, Num(LARGEST)) if above else largest(x, Num(-LARGEST))


def _is_boundless(node: Node) -> bool:
    return isinstance(node, Num) and math.isinf(node.value)


def _at_infinity(condition: Node, number: Node) -> Node:
    """An infinity where a condition holds, and 0 elsewhere: the logarithm of 0, and of 1."""
    if is_known(condition):
        return raw(SELECT, condition, number, Num(0.0))
    least = made(Op.LOG, shifted(scaled(condition, -1.0), 1.0))
    return least if isinstance(number, Num) and number.value < 0.0 else scaled(least, -1.0)


def _choice(condition: Node, yes: Node, no: Node) -> Node:
    """``c * yes + (no - c * no)``: exact, and 0 where both are absent.

    Of a condition that is known, and so cheap to turn round, ``c * yes + (1 - c) * no``.  An
    infinity is added, as no product with it is 0.
    """
    if _is_boundless(yes) or _is_boundless(no):
        parts = [
            _at_infinity(where, x) if _is_boundless(x) else None
            for where, x in ((condition, yes), (not_(condition), no))
        ]
        rest = [x for x in (yes, no) if not _is_boundless(x)]
        return reduce(add, [*rest, *(x for x in parts if x is not None)])
    first = None if yes == Num(0.0) else mul(condition, yes)
    if no == Num(0.0):
        second: Node | None = None
    elif is_known(condition):
        second = mul(not_(condition), no)
    elif isinstance(no, Num):
        second = shifted(scaled(condition, -no.value), no.value)
    else:
        second = sub(no, mul(condition, no))
    if first is None:
        assert second is not None  # both are not 0: they differ
        return second
    return first if second is None else add(first, second)


PATTERNS: Mapping[str, str] = {
    "and": "any", "select": "all", "greater": "all", "differs": "all", "or": "all", "xor": "all",
    "not": "all", "infinite": "all", "max": "all", "min": "all", "cast": "all", "wrap": "all",
    "unsigned": "all", "nonzero": "all",
}  # fmt: skip
"""The absence rule of each operation: absent if any operand is, or if all are."""
