"""Loops, positions and assignments as any imperative language has them.

What a nest of loops becomes before it is printed as C or as Python.  All names are generated;
integers have 64 bits, reals are float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias


@dataclass(frozen=True)
class Var:
    """A variable or a size."""

    name: str


@dataclass(frozen=True)
class Int:
    value: int


@dataclass(frozen=True)
class Real:
    value: float


@dataclass(frozen=True)
class BinaryOperation:
    """``left op right``; the operators are ``+ * < == !=``, ``and`` and ``max``."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class ElementAccess:
    """An element of an array."""

    array: str
    index: Expr


@dataclass(frozen=True)
class Seek:
    """The first position from ``first`` on, before ``end``, with a coordinate not below ``least``.

    ``end`` if there is none.  The coordinates between are sorted.
    """

    array: str
    first: Expr
    end: Expr
    least: Expr


Expr: TypeAlias = Var | Int | Real | BinaryOperation | ElementAccess | Seek


@dataclass(frozen=True)
class Declare:
    """A new integer."""

    name: str
    value: Expr


@dataclass(frozen=True)
class Set:
    """Another value for a variable."""

    name: str
    value: Expr


@dataclass(frozen=True)
class Increase:
    """More in a variable."""

    name: str
    value: Expr


@dataclass(frozen=True)
class Add:
    """More in an element of an array."""

    array: str
    index: Expr
    value: Expr


@dataclass(frozen=True)
class Put:
    """Another value for an element of an array."""

    array: str
    index: Expr
    value: Expr


@dataclass(frozen=True)
class For:
    """A loop from ``first`` to before ``end``."""

    name: str
    first: Expr
    end: Expr
    body: Block


@dataclass(frozen=True)
class While:
    condition: Expr
    body: Block


@dataclass(frozen=True)
class If:
    condition: Expr
    then: Block
    otherwise: Block = ()


@dataclass(frozen=True)
class Clear:
    """Zeros in the first ``count`` elements of an array."""

    array: str
    count: Expr


Command: TypeAlias = Declare | Set | Increase | Add | Put | For | While | If | Clear
Block: TypeAlias = tuple[Command, ...]


@dataclass(frozen=True)
class ArrayParameter:
    """An array that a routine is given.

    Attributes
    ----------
    real : bool
        float64; int64 if not.
    written : bool
    """

    name: str
    real: bool
    written: bool


@dataclass(frozen=True)
class Routine:
    """A routine to compile.

    Attributes
    ----------
    sizes : tuple of str
        Integers that it is given.
    arrays : tuple of ArrayParameter
    scalars : tuple of str
        Its reals, 0 at first.
    body : tuple of commands
    """

    sizes: tuple[str, ...]
    arrays: tuple[ArrayParameter, ...]
    scalars: tuple[str, ...]
    body: Block


class Dialect(Protocol):
    """The syntax of a target language, where languages differ."""

    indent: str
    end: str
    nothing: str  # what stands where no command does

    def operator(self, op: str, left: str, right: str) -> str: ...

    def declared(self, name: str, value: str) -> str: ...

    def loop(self, name: str, first: str, end: str) -> str: ...

    def clear(self, array: str, count: str) -> list[str]: ...

    def head(self, word: str, condition: str) -> str: ...

    def otherwise(self) -> str: ...

    def close(self) -> str | None: ...


def expression(expr: Expr, dialect: Dialect) -> str:
    """An expression in a language."""
    match expr:
        case Var(name):
            return name
        case Int(value):
            return str(value)
        case Real(value):
            return repr(float(value))
        case ElementAccess(array, index):
            return f"{array}[{expression(index, dialect)}]"
        case Seek(array, first, end, least):
            parts = (expression(e, dialect) for e in (first, end, least))
            return f"seek({array}, {', '.join(parts)})"
        case BinaryOperation(op, left, right):
            return dialect.operator(op, expression(left, dialect), expression(right, dialect))


def commands(block: Block, dialect: Dialect, depth: int) -> list[str]:
    """The lines of a block in a language."""
    pad = dialect.indent * depth
    lines: list[str] = []

    def inner(head: str, body: Block) -> None:
        lines.append(pad + head)
        inside = commands(body, dialect, depth + 1)
        lines.extend(inside or [pad + dialect.indent + dialect.nothing])

    def close() -> None:
        closing = dialect.close()
        if closing is not None:
            lines.append(pad + closing)

    for command in block:
        match command:
            case Declare(name, value):
                lines.append(pad + dialect.declared(name, expression(value, dialect)))
            case Set(name, value):
                lines.append(f"{pad}{name} = {expression(value, dialect)}{dialect.end}")
            case Increase(name, value):
                lines.append(f"{pad}{name} += {expression(value, dialect)}{dialect.end}")
            case Add(array, index, value):
                place, more = expression(index, dialect), expression(value, dialect)
                lines.append(f"{pad}{array}[{place}] += {more}{dialect.end}")
            case Put(array, index, value):
                place, new = expression(index, dialect), expression(value, dialect)
                lines.append(f"{pad}{array}[{place}] = {new}{dialect.end}")
            case For(name, first, end, body):
                first_text, end_text = expression(first, dialect), expression(end, dialect)
                inner(dialect.loop(name, first_text, end_text), body)
                close()
            case While(condition, body):
                inner(dialect.head("while", expression(condition, dialect)), body)
                close()
            case If(condition, then, otherwise):
                inner(dialect.head("if", expression(condition, dialect)), then)
                if otherwise:
                    inner(dialect.otherwise(), otherwise)
                close()
            case Clear(array, count):
                lines += [pad + line for line in dialect.clear(array, expression(count, dialect))]
    return lines


def every(op: str, parts: Sequence[Expr]) -> Expr:
    """All parts under one operator.

    Examples
    --------
    >>> every("*", [Var("a"), Int(2)])
    BinaryOperation(op='*', left=Var(name='a'), right=Int(value=2))
    """
    result = parts[0]
    for part in parts[1:]:
        result = BinaryOperation(op, result, part)
    return result
