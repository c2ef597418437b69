"""Syntax trees of the text language: what was written where, before it means anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from fuseloom.program.functions import Op
from fuseloom.program.types import summation_order
from fuseloom.program.walks import postorder

SourcePlace: TypeAlias = tuple[int, int]
"""1-based line and column."""


@dataclass(frozen=True)
class Identifier:
    """A name and where it stands."""

    text: str
    place: SourcePlace


@dataclass(frozen=True)
class Read:
    """``name[indices]``, read or assigned."""

    name: str
    indices: tuple[Identifier, ...]
    place: SourcePlace
    depth: int = 1

    @cached_property
    def free(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(x.text for x in self.indices))


@dataclass(frozen=True)
class Position:
    """The position at one dimension of an access, if no plain index: ``2*i + k - 1``, ``p[i]``.

    Attributes
    ----------
    terms : tuple of (int, Identifier)
        Coefficients and indices, each index once.
    entries : Identifier or tuple of int, optional
        The list that the sum numbers: its name, or its entries.
    """

    terms: tuple[tuple[int, Identifier], ...]
    offset: int
    place: SourcePlace
    entries: Identifier | tuple[int, ...] | None = None


@dataclass(frozen=True)
class ComputedAccess:
    """``name[positions]`` with a position that is no index of its own: read at computed places."""

    name: str
    positions: tuple[Identifier | Position, ...]
    place: SourcePlace
    depth: int = 1

    @cached_property
    def free(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for position in self.positions:
            if isinstance(position, Identifier):
                found[position.text] = None
            else:
                found.update(dict.fromkeys(x.text for _, x in position.terms))
        return tuple(found)


@dataclass(frozen=True)
class Constant:
    """A number; it survives only until it meets a tensor."""

    value: float
    place: SourcePlace
    depth: int = 1

    @property
    def free(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class Unary:
    """A function of one operand; SCALE and SHIFT carry their constant.

    ``everywhere`` is set where a summand stands in front of its operand, as in ``1 - v[i]``: it
    is there at every coordinate, and the operand has to be, too.
    """

    op: Op
    constant: float | None
    operand: Expression
    place: SourcePlace
    depth: int
    everywhere: bool = False

    @cached_property
    def free(self) -> tuple[str, ...]:
        return self.operand.free


@dataclass(frozen=True)
class NonzeroExpression:
    """The elements of an operand that are not zero."""

    operand: Expression
    place: SourcePlace
    depth: int

    @cached_property
    def free(self) -> tuple[str, ...]:
        return self.operand.free


@dataclass(frozen=True)
class Binary:
    """``left op right``; ``word`` names a function of two, inside which nothing is summed."""

    op: Op
    left: Expression
    right: Expression
    place: SourcePlace
    depth: int
    word: str | None = None

    @cached_property
    def free(self) -> tuple[str, ...]:
        operands = (self.left.free, self.right.free)
        if self.op.unites:
            return summation_order(operands)
        return tuple(dict.fromkeys(x for free in operands for x in free))


@dataclass(frozen=True)
class Reduce:
    """``max[m] operand`` or ``sum[m] operand``; ``m`` is bound inside the operand.

    ``word`` is how the text calls it: ``min`` is a maximum of what is negated.  ``kept`` has the
    indices that are left in another order than that of the operand.
    """

    op: Op
    bound: tuple[Identifier, ...]
    operand: Expression
    place: SourcePlace
    depth: int
    word: str
    kept: tuple[str, ...] | None = None

    @cached_property
    def free(self) -> tuple[str, ...]:
        if self.kept is not None:
            return self.kept
        bound = {x.text for x in self.bound}
        return tuple(x for x in self.operand.free if x not in bound)


@dataclass(frozen=True)
class Gather:
    """``concat[c](A, B, ...)`` or ``product(A, B, ...)``."""

    op: Op
    axis: Identifier | None
    operands: tuple[Expression, ...]
    place: SourcePlace
    depth: int

    @cached_property
    def free(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(x for operand in self.operands for x in operand.free))


Expression: TypeAlias = (
    Read | ComputedAccess | Constant | Unary | NonzeroExpression | Binary | Reduce | Gather
)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression, one step down.

    >>> parts(Constant(1.0, (1, 1)))
    ()
    """
    match expression:
        case Unary(operand=operand) | NonzeroExpression(operand=operand) | Reduce(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Gather(operands=operands):
            return operands
        case _:
            return ()


def canonical_order(expression: Expression) -> tuple[str, ...]:
    """Return the free indices in an order that no exchange of operands changes.

    It is that of :func:`~fuseloom.program.types.summation_order` at each operation; of operands
    with as many indices the one whose indices come first in the alphabet leads.
    """
    orders: dict[int, tuple[str, ...]] = {}
    for node in postorder([expression], parts):
        below = [orders[id(part)] for part in parts(node)]
        if len(below) > 1:
            order = summation_order(sorted(below, key=lambda o: (-len(o), o)))
        else:
            order = below[0] if below else node.free
        orders[id(node)] = tuple(x for x in order if x in node.free)
    return orders[id(expression)]


def walk(expression: Expression) -> Iterator[Expression]:
    """An expression and everything in it, from left to right."""
    todo = [expression]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(parts(node))


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """An expression with everything in it changed, the innermost first."""
    match expression:
        case Unary(operand=operand) | NonzeroExpression(operand=operand) | Reduce(operand=operand):
            inner = rebuilt(operand, change)
            if inner is not operand:
                expression = replace(expression, operand=inner)
        case Binary(left=left, right=right):
            first, second = rebuilt(left, change), rebuilt(right, change)
            if first is not left or second is not right:
                expression = replace(expression, left=first, right=second)
        case Gather(operands=operands):
            made = tuple(rebuilt(x, change) for x in operands)
            if any(a is not b for a, b in zip(made, operands, strict=True)):
                expression = replace(expression, operands=made)
    return change(expression)


@dataclass(frozen=True)
class BlockSyntax:
    """``block edge over dimensions``; no dimensions where the text names none."""

    edge: int
    dimensions: tuple[int, ...]
    place: SourcePlace


@dataclass(frozen=True)
class ShapeSyntax:
    """The right side of a declaration's colon; ``levels`` is one word or a list of them."""

    dimensions: tuple[int, ...]
    levels: tuple[Identifier, ...] | Identifier
    order: tuple[int, ...] | None
    place: SourcePlace | None
    order_place: SourcePlace | None = None
    block: BlockSyntax | None = None


@dataclass(frozen=True)
class DeclarationSyntax:
    name: Identifier
    shape: ShapeSyntax


@dataclass(frozen=True)
class MadeSyntax:
    """``S[i,j]: 8x9 csr where j = i + 1``: a tensor whose data follow."""

    name: Identifier
    indices: tuple[Identifier, ...]
    shape: ShapeSyntax
    target: Identifier
    position: Position


@dataclass(frozen=True)
class ListSyntax:
    """``p: list 3, 0, 2``."""

    name: Identifier
    entries: tuple[int, ...]


@dataclass(frozen=True)
class IndexSyntax:
    """``k: index 3``: how far an index runs that no tensor has."""

    name: Identifier
    size: int


@dataclass(frozen=True)
class OptionSyntax:
    name: Identifier
    value: Identifier


@dataclass(frozen=True)
class OutputsSyntax:
    names: tuple[Identifier, ...]


@dataclass(frozen=True)
class StatementSyntax:
    """``target = expression``, or ``target += expression``."""

    target: Read
    expression: Expression
    adds: bool = False


LineSyntax: TypeAlias = (
    DeclarationSyntax
    | MadeSyntax
    | ListSyntax
    | IndexSyntax
    | OptionSyntax
    | OutputsSyntax
    | StatementSyntax
)


@dataclass(frozen=True)
class ProgramSyntax:
    name: Identifier | None
    lines: tuple[LineSyntax, ...]
