"""Trees of the operations that programs have, on elements, numbers and positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from fuseloom.program.functions import Op

FULL = "full"
"""Raw tree of a number at each place of the dimensions that are its other operands."""
CAST = "cast"
"""Raw tree of a region that does nothing but change the type of an element."""
NONZERO = "nonzero"
"""Raw tree of the elements of its operand that are not zero."""
WRAP, UNSIGNED = "wrap", "unsigned"
"""Raw trees of an integer modulo 2^bits, and without a sign; further operands are numbers."""
ROOT_HALF = 1.0 / math.sqrt(2.0)
_CLOSE = 1e-6


class Tree:
    """What all trees have: arithmetic with each other and with numbers."""

    def __add__(self, other: Operand) -> Node:
        return add(tree(self), tree(other))

    def __radd__(self, other: float) -> Node:
        return add(tree(self), Num(other))

    def __sub__(self, other: Operand) -> Node:
        return sub(tree(self), tree(other))

    def __rsub__(self, other: float) -> Node:
        return sub(Num(other), tree(self))

    def __mul__(self, other: Operand) -> Node:
        return mul(tree(self), tree(other))

    def __rmul__(self, other: float) -> Node:
        return mul(tree(self), Num(other))

    def __truediv__(self, other: Operand) -> Node:
        return div(tree(self), tree(other))

    def __rtruediv__(self, other: float) -> Node:
        return div(Num(other), tree(self))

    def __neg__(self) -> Node:
        return negated(tree(self))


@dataclass(frozen=True)
class Arg(Tree):
    """The element of an operand, inputs before outputs; -1 - n for the n-th value from outside.

    ``range`` is that of the integers that it may be, where that is known.
    """

    number: int
    size: int = 1
    depth: int = 1
    range: tuple[float, float] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Num(Tree):
    value: float
    size: int = 1
    depth: int = 1


@dataclass(frozen=True)
class Index(Tree):
    """The position of the operation along one of its dimensions."""

    number: int
    size: int = 1
    depth: int = 1


@dataclass(frozen=True)
class Apply(Tree):
    """An operation of programs on one or more trees."""

    op: Op
    operands: tuple[Node, ...]
    constant: float | None = None
    size: int = field(default=1, compare=False)
    depth: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Raw(Tree):
    """A node with a meaning only inside a larger pattern: a maximum, a comparison, a root, ..."""

    name: str
    operands: tuple[Node, ...]
    size: int = field(default=1, compare=False)
    depth: int = field(default=1, compare=False)


Node: TypeAlias = Arg | Num | Index | Apply | Raw
Operand: TypeAlias = "Tree | float"


def tree(given: Operand) -> Node:
    """A tree, or the number that is given, as one.

    >>> tree(2)
    Num(value=2.0, size=1, depth=1)
    """
    return cast(Node, given) if isinstance(given, Tree) else Num(float(given))


def leaves(node: Node) -> Iterator[Arg | Num | Index]:
    """Yield the leaves of a tree, in order of appearance; repeated ones once."""
    seen: set[int] = set()
    todo = [node]
    while todo:
        found = todo.pop()
        if isinstance(found, Apply | Raw):
            if id(found) not in seen:
                seen.add(id(found))
                todo += reversed(found.operands)
        else:
            yield found


def arguments(node: Node) -> tuple[int, ...]:
    """Numbers of the operands that a tree reads, in order of first appearance."""
    return tuple(dict.fromkeys(x.number for x in leaves(node) if isinstance(x, Arg)))


def places(node: Node) -> tuple[int, ...]:
    """Numbers of the dimensions whose index a tree reads."""
    return tuple(dict.fromkeys(x.number for x in leaves(node) if isinstance(x, Index)))


def is_known(node: Node) -> bool:
    """Return whether a tree's value at each place is independent of the data."""
    found = list(leaves(node))
    return not any(isinstance(x, Arg) for x in found) and any(isinstance(x, Index) for x in found)


def made(op: Op, *operands: Node, constant: float | None = None) -> Node:
    """An operation on trees."""
    return Apply(op, operands, constant, *_measures(operands))


def cast_of(node: Node) -> Node:
    """A region that yields an element in another type."""
    return raw(CAST, node)


def raw(name: str, *operands: Node) -> Node:
    """A tree that has a meaning only inside a larger one."""
    return Raw(name, operands, *_measures(operands))


def _measures(operands: tuple[Node, ...]) -> tuple[int, int]:
    """Size and depth of a tree over these."""
    return 1 + sum(n.size for n in operands), 1 + max(n.depth for n in operands)


def scaled(node: Node, factor: float) -> Node:
    """A tree times a number."""
    return made(Op.SCALE, node, constant=factor)


def shifted(node: Node, term: float) -> Node:
    """A tree plus a number, where the tree has elements."""
    return made(Op.SHIFT, node, constant=term)


class Unsupported(Exception):  # noqa: N818 - not an error of its own; gets its place above
    """A value that no statement computes: what is wrong, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def substituted(node: Node, old: Node, new: Node) -> Node:
    """A tree with another one in place of one that it contains."""
    if node == old:
        return new
    if not isinstance(node, Apply | Raw):
        return node
    operands = tuple(substituted(x, old, new) for x in node.operands)
    if operands == node.operands:
        return node
    if isinstance(node, Apply):
        return made(node.op, *operands, constant=node.constant)
    return raw(node.name, *operands)


def with_arguments(node: Node, trees: Sequence[Node]) -> Node:
    """A tree with others in place of its operands, by their numbers."""
    match node:
        case Arg(number=number):
            return trees[number]
        case Apply(op, operands, constant):
            return made(op, *(with_arguments(x, trees) for x in operands), constant=constant)
        case Raw(name, operands):
            return raw(name, *(with_arguments(x, trees) for x in operands))
    return node


# Arithmetic -----------------------------------------------------------------------------------


def mul(a: Node, b: Node) -> Node:
    """A product; those of several factors are one."""
    match a, b:
        case Num(x), Num(y):
            return Num(x * y)
        case (Num(1.0), node) | (node, Num(1.0)):
            return node
        case (Num(x), node) | (node, Num(x)) if math.isfinite(x):
            return _gelu(scaled(node, x))
    return _gelu(made(Op.MUL, *_factors(a), *_factors(b)))


def _factors(node: Node) -> tuple[Node, ...]:
    return node.operands if isinstance(node, Apply) and node.op is Op.MUL else (node,)


def div(a: Node, b: Node) -> Node:
    """A quotient."""
    match a, b:
        case _, Num(0.0):
            raise Unsupported("division by zero", "divide by a non-zero constant")
        case Num(x), Num(y):
            return Num(x / y)
        case node, Num(y):
            return scaled(node, 1.0 / y)
        case Num(1.0), Apply(Op.SQRT, (x,)):
            return made(Op.RSQRT, x)
        case _, Apply(Op.SHIFT, (Apply(Op.EXP, (Apply(Op.SCALE, (x,), -1.0),)),), 1.0):
            sigmoid = made(Op.SIGMOID, x)
            return sigmoid if a == Num(1.0) else mul(a, sigmoid)
    if isinstance(a, Num) and math.isfinite(a.value):
        a = number_along(b, a.value)
    return made(Op.DIV, a, b)


def add(a: Node, b: Node) -> Node:
    """A sum."""
    match a, b:
        case Num(x), Num(y):
            return Num(x + y)
        case (Num(0.0), node) | (node, Num(0.0)):
            return node
        case (Num(x), node) | (node, Num(x)) if math.isfinite(x):
            return shifted(node, x)
    return made(Op.ADD, a, b)


def sub(a: Node, b: Node) -> Node:
    """A difference."""
    match a, b:
        case Num(x), Num(y):
            return Num(x - y)
        case node, Num(0.0):
            return node
        case node, Num(y) if math.isfinite(y):
            return shifted(node, -y)
        case Num(0.0), node:
            return scaled(node, -1.0)
        case Num(x), node if math.isfinite(x):
            return shifted(scaled(node, -1.0), x)
    return made(Op.SUB, a, b)


def number_along(node: Node, number: float) -> Node:
    """A number where a tree has elements."""
    return shifted(scaled(node, 0.0), number)


def number_of(node: Node, along: Node) -> float | None:
    """The number that a tree is where another one has elements; None if it is none.

    >>> number_of(number_along(Arg(0), 2.0), Arg(0)), number_of(Arg(1), Arg(0))
    (2.0, None)
    """
    match node:
        case Apply(Op.SHIFT, (Apply(Op.SCALE, (x,), 0.0),), constant) if x == along:
            return constant
    return None


def exact_quotient(a: Node, b: Node) -> Node:
    """A quotient that is rounded once: not by the reciprocal of a number, but for powers of two."""
    if isinstance(b, Num) and not isinstance(a, Num) and abs(math.frexp(b.value)[0]) != 0.5:
        b = number_along(a, b.value)
    return div(a, b)


def rounded(x: Node) -> Node:
    """To the nearest integer, halves away from 0: every step is exact."""
    whole = made(Op.TRUNC, x)
    return add(whole, made(Op.TRUNC, scaled(sub(x, whole), 2.0)))


def largest(a: Node, b: Node) -> Node:
    """The larger of two."""
    match a, b:
        case Num(x), Num(y):
            return Num(max(x, y))
        case (Num(0.0), node) | (node, Num(0.0)):
            return made(Op.RELU, node)
        case (Num(x), node) | (node, Num(x)) if math.isfinite(x):
            return made(Op.AT_LEAST, node, constant=x)
        case (Num(x), node) | (node, Num(x)) if math.isinf(x):
            return Num(x) if x > 0.0 else node
    return raw("max", a, b)


def smallest(a: Node, b: Node) -> Node:
    """The maximum of what is negated, which is exact."""
    match a, b:
        case Num(x), Num(y):
            return Num(min(x, y))
        case (Num(math.inf), node) | (node, Num(math.inf)):
            return node
        case (Num(x), node) | (node, Num(x)):
            return _negated(largest(_negated(node), Num(-x)))
    return raw("min", a, b)


def _negated(node: Node) -> Node:
    return Num(-node.value) if isinstance(node, Num) else scaled(node, -1.0)


def as_maximum(node: Raw) -> Node:
    """The larger, or smaller, of two elements as an operation of programs.

    >>> as_maximum(Raw("max", (Arg(0), Arg(1)))).op
    <Op.MAXIMUM: 'max()'>
    """
    a, b = node.operands
    if node.name == "max":
        return made(Op.MAXIMUM, a, b)
    return _negated(made(Op.MAXIMUM, _negated(a), _negated(b)))


def negated(node: Node) -> Node:
    """A tree times -1."""
    return _negated(node)


def _gelu(node: Node) -> Node:
    """``0.5 x (1 + erf(x / sqrt 2))`` as GELU, however its factors are arranged."""
    factor, rest = 1.0, [node]
    factors: list[Node] = []
    while rest:
        match rest.pop():
            case Apply(Op.SCALE, (inner,), float() as constant):
                factor *= constant
                rest.append(inner)
            case Apply(Op.MUL, operands):
                rest += operands
            case other:
                factors.append(other)
        if len(factors) > 2:
            return node
    if len(factors) != 2 or abs(factor - 0.5) > _CLOSE:
        return node
    for x, bell in (factors, factors[::-1]):
        match bell:
            case Apply(
                Op.SHIFT, (Apply(Op.ERF, (Apply(Op.SCALE, (same,), float() as root),)),), 1.0
            ):
                if same == x and abs(root - ROOT_HALF) < _CLOSE:
                    return made(Op.GELU, x)
    return node
