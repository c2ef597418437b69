"""Comparisons and choices, as what programs have: maxima, products and sums.

A comparison is 1 where it holds, and 0 elsewhere.  Only *strict* ones, and "differs", are built of
operations: they are 0 where nothing is stored.  The others are what these are not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from fuseloom.frontends.mlir.expressions import (
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
)
from fuseloom.program.types import Op

GREATER, DIFFERS, NOT, SELECT = "greater", "differs", "not", "select"
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
    return isinstance(node, Raw) and node.name in (GREATER, DIFFERS, NOT, *BOOLEAN)


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
    if isinstance(condition, Raw) and condition.name == GREATER:
        greater, smaller = condition.operands
        if (yes, no) == (greater, smaller):
            return largest(greater, smaller)
        if (yes, no) == (smaller, greater):
            return smallest(greater, smaller)
    for number in (yes, no):
        if isinstance(number, Num) and not math.isfinite(number.value):
            raise Unsupported(
                "a choice of a number that is not finite",
                "products with it have no value; choose a finite number",
            )
    return raw(SELECT, condition, yes, no)


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
        case "select":
            return _choice(*node.operands)
    return None


def _choice(condition: Node, yes: Node, no: Node) -> Node:
    """``c * yes + (no - c * no)``: exact, and 0 where both are absent.

    Of a condition that is known, and so cheap to turn round, ``c * yes + (1 - c) * no``.
    """
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
    "not": "all", "max": "all", "min": "all", "cast": "all", "wrap": "all", "unsigned": "all",
}  # fmt: skip
"""The absence rule of each operation: absent if any operand is, or if all are."""
