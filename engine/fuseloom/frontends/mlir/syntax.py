"""Syntax trees of the MLIR subset: what was written where, before it means anything."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.frontends.mlir.blocks import StoredBlocks
from fuseloom.program.formats import Format
from fuseloom.program.syntax import SourcePlace

FLOATS = ("f32", "f64", "f16", "bf16")
INTEGERS = ("i64", "index", "i32", "i16", "i8", "i1")
"""Integers that messages list; ``si8``, ``ui32``, ``i4`` and the like are read, too."""
_INTEGER = re.compile(r"index|[su]?i[1-9]\d?")
_NOWHERE: SourcePlace = (1, 1)
WHERE = "fuseloom.where"
"""Attribute of an argument that is made: what it holds, as the text language says it."""


# Attributes and types -------------------------------------------------------------------------


def is_integer(element: str) -> bool:
    """Return whether a type of elements is one of integers."""
    return _INTEGER.fullmatch(element) is not None


@dataclass(frozen=True)
class Sum:
    """Dimensions with their coefficients, each dimension once, and a number: ``2*d0 + d1 - 1``."""

    terms: tuple[tuple[int, str], ...]
    offset: int = 0


Result: TypeAlias = str | Sum | None
"""The position at which a map reads a dimension: an index, a sum, or (None) the constant 0."""


@dataclass(frozen=True)
class AffineMap:
    """Names of the dimensions, outermost first, and per result where it lies."""

    dims: tuple[str, ...]
    results: tuple[Result, ...]
    place: SourcePlace = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class SparseEncoding:
    """A sparse tensor encoding; the format is None where the text gives no map.

    ``note`` says what is stored instead, where formats have no counterpart; ``blocks`` say which
    elements the encoding stores together.
    """

    format: Format | None
    place: SourcePlace = field(default=_NOWHERE, compare=False)
    note: str | None = None
    blocks: StoredBlocks | None = None


@dataclass(frozen=True)
class Trait:
    """Maps and iterator types of a ``linalg.generic``; None where the dictionary lacks them."""

    maps: tuple[AffineMap, ...] | None
    iterators: tuple[str, ...] | None
    place: SourcePlace = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Type:
    """A tensor, or a scalar where ``shape`` is None; a size of None is written ``?``.

    ``foreign`` says why no program has such values; ``note`` and ``blocks`` are those of the
    encoding.
    """

    element: str
    shape: tuple[int | None, ...] | None = None
    format: Format | None = None
    place: SourcePlace = field(default=_NOWHERE, compare=False)
    note: str | None = None
    foreign: str | None = None
    blocks: StoredBlocks | None = None

    @property
    def is_integer(self) -> bool:
        return self.foreign is None and is_integer(self.element)

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
    place: SourcePlace


@dataclass(frozen=True)
class Dense:
    """``dense<...>``: numbers in row-major order, their shape (None: one for all), or bytes."""

    numbers: tuple[Number, ...]
    shape: tuple[int, ...] | None
    blob: str | None
    place: SourcePlace


@dataclass(frozen=True)
class Sparse:
    """``sparse<coordinates, values>``."""

    coordinates: Dense
    values: Dense
    place: SourcePlace


@dataclass(frozen=True)
class Resource:
    """``dense_resource<name>``: the data are somewhere else."""

    name: str
    place: SourcePlace


Literal: TypeAlias = Number | Dense | Sparse | Resource


# Operations -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """``%name`` or ``%name#number``."""

    name: str
    number: int
    place: SourcePlace

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
    place: SourcePlace
    where: str | None = None


@dataclass(frozen=True)
class ResultNames:
    """The names that an operation defines: ``%name``, or ``%name:count``."""

    name: str
    count: int
    place: SourcePlace


@dataclass(frozen=True)
class ConstantOperation:
    literal: Literal
    type: Type


@dataclass(frozen=True)
class Empty:
    """``tensor.empty``; ``sizes`` are given for the dimensions written ``?``.

    ``splat`` is the number that all elements have, ``copy`` a tensor that it is a copy of.
    """

    sizes: tuple[Use, ...]
    type: Type
    splat: Use | None = None
    copy: Use | None = None


@dataclass(frozen=True)
class Scalar:
    """An operation on scalars inside a region; ``type`` is that of its result.

    ``places`` say where ``tensor.extract`` reads.

    ``regions`` are those of an operation of the sparse dialect by name: None where the region is
    empty, "identity" where it hands its argument on.
    """

    op: str
    operands: tuple[Use, ...]
    predicate: str | None = None
    literal: Literal | None = None
    type: Type | None = None
    source: Type | None = None
    number: int = 0
    places: tuple[Use, ...] = ()
    regions: tuple[tuple[str, RegionBody | str | None], ...] = ()


@dataclass(frozen=True)
class OperationLine:
    """One operation of a region, the names it defines and its place."""

    results: tuple[str, ...]
    scalar: Scalar
    place: SourcePlace


@dataclass(frozen=True)
class RegionBody:
    arguments: tuple[Argument, ...]
    lines: tuple[OperationLine, ...]
    yields: tuple[Use, ...]
    place: SourcePlace


@dataclass(frozen=True)
class Linalg:
    """``linalg.generic``, which has a region, or a named operation, which has none.

    ``unsigned`` says that its inputs are cast as integers without a sign.
    """

    op: str
    trait: Trait
    ins: tuple[Typed, ...]
    outs: tuple[Typed, ...]
    region: RegionBody | None
    types: tuple[Type, ...]
    numbers: tuple[tuple[str, tuple[int, ...]], ...]
    unsigned: bool = False

    def list(self, name: str) -> tuple[int, ...] | None:
        """The numbers of an attribute such as ``strides``."""
        return dict(self.numbers).get(name)


@dataclass(frozen=True)
class Concat:
    axis: int
    operands: tuple[Typed, ...]
    type: Type


@dataclass(frozen=True)
class Reshape:
    """``groups`` are those of the larger shape; None for ``tensor.reshape``.

    ``sizes`` are those of the result, where the text says them; ``shape`` is a tensor of them.
    """

    operand: Typed
    groups: tuple[tuple[int, ...], ...] | None
    type: Type
    sizes: tuple[int | Use, ...] = ()
    shape: Use | None = None


@dataclass(frozen=True)
class Cast:
    """A change of format, or of what the type says: the same elements."""

    operand: Typed
    type: Type


@dataclass(frozen=True)
class Slice:
    """A part of a tensor: ``tensor.extract_slice``, and ``insert_slice`` where ``into`` is given.

    Offsets, sizes and strides are numbers or values; a size of None is that of the type.
    """

    operand: Typed
    into: Typed | None
    offsets: tuple[int | Use, ...]
    sizes: tuple[int | Use, ...]
    strides: tuple[int | Use, ...]
    type: Type


@dataclass(frozen=True)
class Pad:
    """``tensor.pad``: ``value`` is what is put around."""

    operand: Typed
    low: tuple[int | Use, ...]
    high: tuple[int | Use, ...]
    lines: tuple[OperationLine, ...]
    value: Use
    type: Type


@dataclass(frozen=True)
class Pack:
    """``linalg.pack`` and ``linalg.unpack``: tiles of dimensions as dimensions of their own.

    ``type`` is that of the result, and ``into`` the destination, which has its sizes; ``outer``
    permutes the dimensions that are no tiles.
    """

    operand: Typed
    positions: tuple[int | Use, ...]
    tiles: tuple[int | Use, ...]
    outer: tuple[int | Use, ...]
    padding: Use | None
    type: Type
    unpacks: bool
    into: Use


@dataclass(frozen=True)
class New:
    """``sparse_tensor.new``: a tensor that somebody else reads from a file."""

    type: Type


@dataclass(frozen=True)
class Element:
    """``tensor.extract`` of a tensor without dimensions, or ``tensor.from_elements`` of one."""

    operand: Use
    places: tuple[Use, ...]
    type: Type


@dataclass(frozen=True)
class ArithmeticOperation:
    """An operation on numbers outside of any region."""

    scalar: Scalar


@dataclass(frozen=True)
class Foreign:
    """An operation that programs have no counterpart of; an error if its results are needed."""

    problem: FuseloomError


@dataclass(frozen=True)
class Dim:
    """``tensor.dim``: the size of a dimension."""

    operand: Use
    number: Use


@dataclass(frozen=True)
class Entries:
    """``sparse_tensor.number_of_entries``: how many elements are stored."""

    operand: Typed


@dataclass(frozen=True)
class CallOperation:
    callee: str
    operands: tuple[Use, ...]
    types: tuple[Type, ...]


@dataclass(frozen=True)
class Return:
    operands: tuple[Typed, ...]


Body: TypeAlias = (
    ConstantOperation | Empty | Linalg | Concat | Reshape | Cast | Slice | Pad | Pack | New
    | Element | ArithmeticOperation | Foreign | Dim | Entries | CallOperation | Return
)  # fmt: skip


@dataclass(frozen=True)
class Operation:
    results: tuple[ResultNames, ...]
    body: Body
    place: SourcePlace


@dataclass(frozen=True)
class Function:
    """A function; ``operations`` is None where it is only declared.

    ``problem`` says why it cannot be read, where it cannot.
    """

    name: str
    arguments: tuple[Argument, ...]
    operations: tuple[Operation, ...] | None
    place: SourcePlace
    problem: FuseloomError | None = None


@dataclass(frozen=True)
class File:
    """``settings`` are the attributes of the modules that have a string for a value.

    ``problem`` says what is wrong with an alias, which counts where it is used.
    """

    name: str | None
    settings: tuple[tuple[str, str, SourcePlace], ...]
    functions: tuple[Function, ...]
    problem: FuseloomError | None = None


def refuse_meaning(message: str, hint: str, place: SourcePlace) -> ProgramError:
    """A ProgramError at a place."""
    return ProgramError(message, hint=hint, line=place[0], column=place[1])
