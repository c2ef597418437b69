"""Syntax trees of the MLIR subset: what was written where, before it means anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from engine.program.formats import Format
from engine.program.syntax import Place

FLOATS = ("f32", "f64", "f16", "bf16")
INTEGERS = ("i64", "index", "i32", "i16", "i8", "i1")
_NOWHERE: Place = (1, 1)
WHERE = "fuseloom.where"
"""Attribute of an argument that is made: what it holds, as the text language says it."""


# Attributes and types -------------------------------------------------------------------------


@dataclass(frozen=True)
class AffineMap:
    """Names of the dimensions, outermost first; per result a name, or None for the constant 0."""

    dims: tuple[str, ...]
    results: tuple[str | None, ...]
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Encoding:
    """A sparse tensor encoding; the format is None where the text gives no map."""

    format: Format | None
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Trait:
    """Maps and iterator types of a ``linalg.generic``; None where the dictionary lacks them."""

    maps: tuple[AffineMap, ...] | None
    iterators: tuple[str, ...] | None
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Type:
    """A tensor, or a scalar where ``shape`` is None; a size of None is written ``?``."""

    element: str
    shape: tuple[int | None, ...] | None = None
    format: Format | None = None
    place: Place = field(default=_NOWHERE, compare=False)

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    @property
    def rank(self) -> int:
        return len(self.shape or ())


# Literals -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A literal whose value depends on the type that follows it."""

    text: str
    place: Place


@dataclass(frozen=True)
class Dense:
    """``dense<...>``: numbers in row-major order, their shape (None: one for all), or bytes."""

    numbers: tuple[Number, ...]
    shape: tuple[int, ...] | None
    blob: str | None
    place: Place


@dataclass(frozen=True)
class Sparse:
    """``sparse<coordinates, values>``."""

    coordinates: Dense
    values: Dense
    place: Place


@dataclass(frozen=True)
class Resource:
    """``dense_resource<name>``: the data are somewhere else."""

    name: str
    place: Place


Literal: TypeAlias = Number | Dense | Sparse | Resource


# Operations -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """``%name`` or ``%name#number``."""

    name: str
    number: int
    place: Place

    def __str__(self) -> str:
        return f"%{self.name}" + (f"#{self.number}" if self.number else "")


@dataclass(frozen=True)
class Typed:
    """A value and the type that the text gives it."""

    use: Use
    type: Type


@dataclass(frozen=True)
class Argument:
    """``%name: type`` of a function or block; ``where`` says what a made tensor holds."""

    name: str
    type: Type
    place: Place
    where: str | None = None


@dataclass(frozen=True)
class Results:
    """What an operation defines: ``%name``, or ``%name:count``."""

    name: str
    count: int
    place: Place


@dataclass(frozen=True)
class Constant:
    literal: Literal
    type: Type


@dataclass(frozen=True)
class Empty:
    """``tensor.empty``; ``sizes`` are given for the dimensions written ``?``."""

    sizes: tuple[Use, ...]
    type: Type


@dataclass(frozen=True)
class Scalar:
    """An operation on scalars inside a region."""

    op: str
    operands: tuple[Use, ...]
    predicate: str | None
    literal: Literal | None
    type: Type | None


@dataclass(frozen=True)
class Line:
    """One operation of a region, the names it defines and its place."""

    results: tuple[str, ...]
    scalar: Scalar
    place: Place


@dataclass(frozen=True)
class Region:
    arguments: tuple[Argument, ...]
    lines: tuple[Line, ...]
    yields: tuple[Use, ...]
    place: Place


@dataclass(frozen=True)
class Linalg:
    """``linalg.generic``, which has a region, or a named operation, which has none."""

    op: str
    trait: Trait
    ins: tuple[Typed, ...]
    outs: tuple[Typed, ...]
    region: Region | None
    types: tuple[Type, ...]
    permutation: tuple[int, ...] | None


@dataclass(frozen=True)
class Concat:
    axis: int
    operands: tuple[Typed, ...]
    type: Type


@dataclass(frozen=True)
class Reshape:
    """``groups`` are those of the larger shape; None for ``tensor.reshape``."""

    operand: Typed
    groups: tuple[tuple[int, ...], ...] | None
    type: Type


@dataclass(frozen=True)
class Cast:
    """A change of format, or of what the type says: the same elements."""

    operand: Typed
    type: Type


@dataclass(frozen=True)
class Dim:
    """``tensor.dim``: the size of a dimension."""

    operand: Use
    number: Use


@dataclass(frozen=True)
class Call:
    callee: str
    operands: tuple[Use, ...]
    types: tuple[Type, ...]


@dataclass(frozen=True)
class Return:
    operands: tuple[Typed, ...]


Body: TypeAlias = Constant | Empty | Linalg | Concat | Reshape | Cast | Dim | Call | Return


@dataclass(frozen=True)
class Operation:
    results: tuple[Results, ...]
    body: Body
    place: Place


@dataclass(frozen=True)
class Function:
    """A function; ``operations`` is None where it is only declared."""

    name: str
    arguments: tuple[Argument, ...]
    operations: tuple[Operation, ...] | None
    place: Place


@dataclass(frozen=True)
class File:
    """``settings`` are the attributes of the modules that have a string for a value."""

    name: str | None
    settings: tuple[tuple[str, str, Place], ...]
    functions: tuple[Function, ...]
