"""``sparse_tensor.unary``, ``binary`` and ``select``: what is computed where elements are stored.

Where a tensor has elements is a tensor, too: ``0 * a + 1``, which is 1 at each.  A product with it
keeps what lies at these places, and ``x - x * pattern`` leaves what lies elsewhere, with zeros at
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TypeAlias

from fuseloom.frontends.algebra.conditions import DIFFERS, NOT, PATTERNS
from fuseloom.frontends.algebra.expressions import (
    FULL,
    NONZERO,
    Apply,
    Index,
    Node,
    Num,
    Raw,
    Unsupported,
    add,
    arguments,
    is_known,
    made,
    mul,
    negated,
    number_along,
    raw,
    sub,
)
from fuseloom.program.functions import Op

Branch: TypeAlias = Callable[..., Node] | None
"""A function that builds a region's result from its arguments; None for an empty region."""


def pattern(node: Node) -> Node:
    """1 where a tree has elements.

    >>> from fuseloom.frontends.algebra.expressions import Arg
    >>> pattern(Arg(0)).constant
    1.0
    """
    return number_along(node, 1.0)


def everywhere(node: Node) -> bool:
    """Return whether a tree has a value at each place."""
    return not arguments(node)


def covers(node: Node, other: Node) -> bool:
    """Return whether a tree is absent wherever another one is."""
    if node == other:
        return True
    match node:
        case Apply(op=Op.MUL | Op.DIV, operands=operands):
            return any(covers(x, other) for x in operands)
        case Apply(operands=operands):
            return all(covers(x, other) for x in operands)
        case Raw() if node.name in PATTERNS:
            real = [x for x in node.operands if not isinstance(x, Num)]
            test = any if PATTERNS[node.name] == "any" else all
            return test(covers(x, other) for x in real)
    return False


def _at(node: Node, *places: Node) -> Node:
    """A tree at the places where all of these have elements, too."""
    wanted = [x for x in places if not everywhere(x) and not covers(node, x)]
    return reduce(mul, [pattern(x) for x in wanted], node)


def _without(node: Node, other: Node) -> Node:
    """A tree at the places where another one has no elements; zeros at the others."""
    return sub(node, mul(node, pattern(other)))


def unary(a: Node, present: Branch, absent: Branch, dims: Iterable[int]) -> Node:
    """``present(a)`` where there are elements, and ``absent()`` where there are none.

    Parameters
    ----------
    dims : iterable of int
        Numbers of the dimensions that the tree has.
    """
    parts: list[Node] = []
    if present is not None:
        parts.append(_at(present(a), a))
    if absent is not None and not everywhere(a):
        value = absent()
        places = [Index(d) for d in dims]
        if isinstance(value, Num) and value.value != 0.0 and places:
            value = raw(FULL, value, *places)
        if not everywhere(value):
            raise Unsupported(
                "what stands for absent elements depends on data", "yield a number or an index"
            )
        if value != Num(0.0):
            parts.append(_without(value, a))
    if not parts:
        raise Unsupported("the operation has no elements at all", "yield something where present")
    return reduce(add, parts)


def binary(
    a: Node, b: Node, overlap: Branch, left: Branch, right: Branch, same: tuple[bool, bool]
) -> Node:
    """``overlap(a, b)`` where both have elements, ``left(a)`` or ``right(b)`` where one has.

    Parameters
    ----------
    same : tuple of bool
        Whether the left and the right region hand their argument on.
    """
    both = None if overlap is None else overlap(a, b)
    if both is not None and not everywhere(a) and not everywhere(b):
        united = (
            isinstance(both, Raw) and both.name in ("max", "min") and set(both.operands) == {a, b}
        ) or both in (add(a, b), add(b, a))
        if (united and all(same)) or (both == sub(a, b) and same[0] and _negates(right, b)):
            return both  # the operation of programs does the same
    parts: list[Node] = []
    if both is not None and overlap is not None:
        if not covers(both, a) or not covers(both, b):
            both = overlap(_at(a, b), _at(b, a))
        parts.append(_at(both, a, b))
    for mine, other, branch in ((a, b, left), (b, a, right)):
        if branch is None or everywhere(other):
            continue
        if everywhere(mine):
            raise Unsupported(
                "what is computed where a tensor has no elements",
                "use sparse_tensor.unary with a region 'absent'",
            )
        parts.append(_without(_at(branch(mine), mine), other))
    if not parts:
        raise Unsupported("the operation has no elements at all", "yield something where both are")
    return reduce(add, parts)


def _negates(branch: Branch, node: Node) -> bool:
    return branch is not None and branch(node) == negated(node)


def kept(a: Node, condition: Node) -> Node:
    """The elements for which a condition holds; zeros at those for which it does not.

    Where the condition is known, these are absent.
    """
    if isinstance(condition, Num):
        if condition.value:
            return a
        raise Unsupported("the selection keeps no element", "leave it out")
    if condition == raw(DIFFERS, a, Num(0.0)):
        return raw(NONZERO, a)
    if not is_known(condition) and isinstance(condition, Raw) and condition.name == NOT:
        return made(Op.SUB, a, mul(a, condition.operands[0]))
    return mul(a, condition)
