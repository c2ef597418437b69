"""Syntax trees of the text language: what was written where, before it means anything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from engine.program.types import Op

Place: TypeAlias = tuple[int, int]
"""1-based line and column."""


@dataclass(frozen=True)
class Word:
    """A name and where it stands."""

    text: str
    place: Place


@dataclass(frozen=True)
class Read:
    """``name[indices]``, read or assigned."""

    name: str
    indices: tuple[Word, ...]
    place: Place
    depth: int = 1

    @cached_property
    def free(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(x.text for x in self.indices))


@dataclass(frozen=True)
class Constant:
    """A number; it survives only until it meets a tensor."""

    value: float
    place: Place
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
    place: Place
    depth: int
    everywhere: bool = False

    @cached_property
    def free(self) -> tuple[str, ...]:
        return self.operand.free


@dataclass(frozen=True)
class Binary:
    """``left op right``."""

    op: Op
    left: Expression
    right: Expression
    place: Place
    depth: int

    @cached_property
    def free(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.left.free, *self.right.free)))


@dataclass(frozen=True)
class Reduce:
    """``max[m] operand`` or ``sum[m] operand``; ``m`` is bound inside the operand."""

    op: Op
    bound: tuple[Word, ...]
    operand: Expression
    place: Place
    depth: int

    @cached_property
    def free(self) -> tuple[str, ...]:
        bound = {x.text for x in self.bound}
        return tuple(x for x in self.operand.free if x not in bound)


@dataclass(frozen=True)
class Gather:
    """``concat[c](A, B, ...)`` or ``product(A, B, ...)``."""

    op: Op
    axis: Word | None
    operands: tuple[Expression, ...]
    place: Place
    depth: int

    @cached_property
    def free(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(x for operand in self.operands for x in operand.free))


Expression: TypeAlias = Read | Constant | Unary | Binary | Reduce | Gather


@dataclass(frozen=True)
class BlockSyntax:
    """``block edge over dimensions``; no dimensions where the text names none."""

    edge: int
    dimensions: tuple[int, ...]
    place: Place


@dataclass(frozen=True)
class ShapeSyntax:
    """What follows the colon of a declaration; ``levels`` is one word or a list of them."""

    dimensions: tuple[int, ...]
    levels: tuple[Word, ...] | Word
    order: tuple[int, ...] | None
    place: Place | None
    order_place: Place | None = None
    block: BlockSyntax | None = None


@dataclass(frozen=True)
class DeclarationSyntax:
    name: Word
    shape: ShapeSyntax


@dataclass(frozen=True)
class OptionSyntax:
    name: Word
    value: Word


@dataclass(frozen=True)
class OutputsSyntax:
    names: tuple[Word, ...]


@dataclass(frozen=True)
class StatementSyntax:
    target: Read
    expression: Expression


LineSyntax: TypeAlias = DeclarationSyntax | OptionSyntax | OutputsSyntax | StatementSyntax


@dataclass(frozen=True)
class ProgramSyntax:
    name: Word | None
    lines: tuple[LineSyntax, ...]
