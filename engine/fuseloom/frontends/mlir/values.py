"""The values of a function's names while it is translated."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.errors import FuseloomError
from fuseloom.frontends.algebra.tensors import TensorView
from fuseloom.frontends.mlir.blocks import StoredBlocks
from fuseloom.frontends.mlir.integers import bits_of, canonical
from fuseloom.frontends.mlir.syntax import (
    Dense,
    Literal,
    Number,
    Resource,
    Sparse,
    Type,
    is_integer,
    refuse_meaning,
)
from fuseloom.program.formats import Format
from fuseloom.program.limits import MAX_DIMENSION, MAX_REFERENCE_ELEMENTS
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted

Array: TypeAlias = npt.NDArray[np.float64]

LOWEST = -65504.0
"""A maximum may start here or below; the smallest number of half precision."""
_BYTES = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "i64": "<i8", "index": "<i8", "i32": "<i4",
          "i16": "<i2", "i8": "<i1", "i1": "<i1"}  # fmt: skip


class DimensionSize:
    """The size of a dimension; one written ``?`` is found by what it is set equal to."""

    def __init__(self, value: int | None = None) -> None:
        self._value = value
        self._same: DimensionSize | None = None

    def _root(self) -> DimensionSize:
        node = self
        while node._same is not None:
            node._same = node._same._same or node._same
            if node._same._same is None:
                return node._same
            node = node._same
        return node

    @property
    def value(self) -> int | None:
        return self._root()._value

    @property
    def identity(self) -> int:
        """A number that sizes set equal share."""
        return id(self._root())

    def equate(self, other: DimensionSize) -> bool:
        """Make two sizes one; False if they differ."""
        a, b = self._root(), other._root()
        if a is b:
            return True
        if a._value is not None and b._value is not None:
            return a._value == b._value
        if a._value is None:
            a, b = b, a
        b._same = a
        return True


@dataclass(frozen=True)
class View(TensorView):
    """Elements of a tensor of the program under the dimensions that the text sees.

    Attributes
    ----------
    sizes : tuple of DimensionSize
        Of these dimensions.
    holes : bool
        Whether zeros that the text has as elements may be absent, e.g. those of a pad.
    """

    sizes: tuple[DimensionSize, ...]
    holes: bool = False


@dataclass(frozen=True, eq=False)
class DeferredConstant:
    """A constant that is computed once its shape is known.

    Attributes
    ----------
    signs : tuple of float
        1 and -1 of the infinities that may be among its elements.
    bare : bool
        Whether it has no other elements.
    """

    compute: Callable[[tuple[int, ...]], Array]
    place: SourcePlace
    signs: tuple[float, ...] = ()
    bare: bool = False


@dataclass(frozen=True, eq=False)
class ConstantTensor:
    """A constant tensor, not yet an input; ``permutation[d]`` is the literal's dimension ``d``.

    ``blocks`` say which elements its encoding stores together.
    """

    name: str
    literal: Literal | DeferredConstant
    element: str
    literal_sizes: tuple[DimensionSize, ...]
    permutation: tuple[int, ...]
    format: Format | None
    place: SourcePlace
    blocks: StoredBlocks | None = None

    @property
    def sizes(self) -> tuple[DimensionSize, ...]:
        return tuple(self.literal_sizes[d] for d in self.permutation)

    @property
    def rank(self) -> int:
        return len(self.permutation)

    @property
    def splat(self) -> float | None:
        """The one value that all elements have, if the literal says so."""
        match self.literal:
            case Number() as literal:
                return number(literal, self.element)
            case Dense(shape=None, blob=None, numbers=(literal, *_)):
                return number(literal, self.element)
        return None

    @property
    def resource(self) -> str | None:
        """The location of the data, if they are not in the text."""
        return self.literal.name if isinstance(self.literal, Resource) else None

    def array(self) -> Array | None:
        """Values by dimensions of the text; None for a resource."""
        if isinstance(self.literal, Resource):
            return None
        shape = tuple(size.value or 0 for size in self.literal_sizes)
        made = literal_array(self.literal, self.element, shape)
        wrong = made.ravel()[~exact(made.ravel())]
        if wrong.size and is_integer(self.element):
            raise refuse_meaning(
                f"the constant has the element {wrong[0]:.0f}, which is not a number of float32",
                "integers are exact up to 2^24; scale the data",
                self.place,
            )
        return np.transpose(made, self.permutation)


def constant_tensor(
    name: str,
    value: float | DeferredConstant,
    sizes: tuple[DimensionSize, ...],
    place: SourcePlace,
    format: Format | None = None,
) -> ConstantTensor:
    """A constant with one number everywhere, or with numbers that are computed."""
    literal = value if isinstance(value, DeferredConstant) else Number(repr(value), place)
    return ConstantTensor(name, literal, "f64", sizes, tuple(range(len(sizes))), format, place)


@dataclass(frozen=True)
class ConstantNumber:
    """A number."""

    value: float
    element: str = "f64"


@dataclass(frozen=True)
class Blank:
    """``tensor.empty``: a shape without elements; ``fill`` is what ``linalg.fill`` put there."""

    sizes: tuple[DimensionSize, ...]
    format: Format | None
    fill: float | None = None

    @property
    def rank(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Extent:
    """``tensor.dim``."""

    size: DimensionSize


@dataclass(frozen=True)
class Ignored:
    """A value with no meaning in a program, such as an argmax; an error if anything needs it."""

    reason: str
    problem: FuseloomError | None = None

    @property
    def hint(self) -> str:
        return (self.problem.hint if self.problem is not None else None) or "leave it out"

    def error(self, what: str, place: SourcePlace) -> FuseloomError:
        """The error where it is needed; ``what`` says which need cannot be met."""
        return self.problem or refuse_meaning(f"{what}: {self.reason}", self.hint, place)


Value: TypeAlias = View | ConstantTensor | ConstantNumber | Blank | Extent | Ignored


def sizes_of(value: Value) -> tuple[DimensionSize, ...] | None:
    """Sizes under the text's dimensions; None for what is no tensor."""
    if isinstance(value, View | ConstantTensor | Blank):
        return value.sizes
    return () if isinstance(value, ConstantNumber) else None


def exact(values: Array) -> npt.NDArray[np.bool_]:
    """Which values are numbers of float32."""
    with np.errstate(over="ignore"):
        found: npt.NDArray[np.bool_] = values.astype(np.float32).astype(np.float64) == values
    return found


def inexact(value: float, element: str) -> bool:
    """Return whether an integer is not a number of float32."""
    return is_integer(element) and not bool(exact(np.asarray(value)))


def is_least(value: float | None, element: str, minimum: bool = False) -> bool:
    """Return whether a maximum, or a minimum, of elements of a type may start at a number.

    >>> is_least(0.0, "i1"), is_least(0.0, "i1", minimum=True), is_least(-128.0, "i8")
    (True, False, True)
    """
    if value is None:
        return False
    if element == "i1":
        return value == float(minimum)
    bits = element.lstrip("siu")
    lowest = -(2.0 ** (int(bits) - 1)) + 1 if bits.isdigit() else LOWEST
    return (-value if minimum else value) <= max(lowest, LOWEST)


# Literals -------------------------------------------------------------------------------------


def number(literal: Number, element: str) -> float:
    """The value of a number; hexadecimal digits of a float are its bits."""
    text = literal.text
    if text in ("true", "false"):
        return float(text == "true")
    if is_integer(element) and re.fullmatch(r"-?\d+|0x[0-9A-Fa-f]+", text):
        return float(_integer(literal, element))
    if not text.startswith("0x"):
        return float(text)
    digits = text[2:]
    if element not in ("f16", "bf16", "f32", "f64"):
        return float(int(digits[:20], 16))
    width = {"f64": 16, "f32": 8}.get(element, 4)
    if len(digits) != width:
        raise refuse_meaning(
            f"{text[:40]} has {counted(len(digits), 'digit')}, an {element} has {width}",
            "hexadecimal floats give all bits, e.g. 0xFF800000",
            literal.place,
        )
    bits = bytes.fromhex(digits)
    if element == "bf16":
        bits += b"\0\0"
    code = {"f64": ">d", "f16": ">e"}.get(element, ">f")
    (value,) = struct.unpack(code, bits)
    return float(value)


def _integer(literal: Number, element: str) -> int:
    """An integer that has the bits of a type; one without a sign may be written, too."""
    text = literal.text
    value = int(text[:40], 16) if text.startswith("0x") else int(text[:40])
    bits = bits_of(element) or 64
    if not -(2 ** (bits - 1)) <= value < 2**bits:
        raise refuse_meaning(
            f"{text[:40]} does not fit {element}",
            f"it has {counted(bits, 'bit')}: from {-(2 ** (bits - 1))} to {2**bits - 1}",
            literal.place,
        )
    return canonical(value, element)


def literal_array(
    literal: Literal | DeferredConstant, element: str, shape: tuple[int, ...]
) -> Array:
    """Values of a constant.

    Raises
    ------
    ProgramError
        Values that do not fit the shape.
    """
    if prod(shape) > MAX_REFERENCE_ELEMENTS:
        raise refuse_meaning(
            f"a constant of {counted(prod(shape), 'element')}, the limit is "
            f"{MAX_REFERENCE_ELEMENTS:,}",
            "pass it as an argument",
            literal.place,
        )
    match literal:
        case DeferredConstant():
            return literal.compute(shape)
        case Number():
            return np.full(shape, number(literal, element))
        case Dense(blob=str() as blob):
            return _blob(blob, element, shape, literal.place)
        case Dense(shape=None):
            return np.full(shape, number(literal.numbers[0], element))
        case Dense():
            if literal.shape != shape and prod(literal.shape or ()) + prod(shape) > 0:
                raise refuse_meaning(
                    f"the constant has shape {_shape(literal.shape or ())}, its type "
                    f"{_shape(shape)}",
                    "the lists and the type agree",
                    literal.place,
                )
            flat = [number(n, element) for n in literal.numbers]
            return np.asarray(flat, dtype=np.float64).reshape(shape)
        case Sparse():
            return _sparse(literal, element, shape)
        case _:
            raise FuseloomError("a resource has no values in the text", hint="give its data")


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _blob(text: str, element: str, shape: tuple[int, ...], place: SourcePlace) -> Array:
    """Hexadecimal bytes, little-endian; those of one element stand for all."""
    kind = _BYTES.get(element)
    try:
        if kind is None or not text.startswith("0x"):
            raise ValueError("it is not hexadecimal")
        values: npt.NDArray[Any] = np.frombuffer(bytes.fromhex(text[2:]), dtype=kind)
        if values.size not in (1, prod(shape)):
            raise ValueError(
                f"it has {counted(values.size, 'element')} for a shape of {_shape(shape)}"
            )
    except ValueError as problem:
        raise refuse_meaning(
            f"cannot read the bytes of a constant: {problem}"[:120],
            'dense<"0x..."> holds the elements, little-endian',
            place,
        ) from None
    wide = values.astype(np.float64)
    return np.full(shape, wide[0]) if values.size == 1 else wide.reshape(shape)


def _sparse(literal: Sparse, element: str, shape: tuple[int, ...]) -> Array:
    values = [number(n, element) for n in literal.values.numbers]
    found = [_coordinate(n) for n in literal.coordinates.numbers]
    made = np.zeros(shape)
    rank = len(shape)
    if rank == 0 or len(found) != rank * len(values):
        raise refuse_meaning(
            f"{counted(len(found), 'coordinate')} for {counted(len(values), 'value')} of a "
            f"tensor of {counted(rank, 'dimension')}",
            "sparse<[[0, 1], [2, 3]], [1.0, 2.0]> gives one row per value",
            literal.place,
        )
    for k, value in enumerate(values):
        point = tuple(found[k * rank : (k + 1) * rank])
        if any(not 0 <= x < n for x, n in zip(point, shape, strict=True)):
            raise refuse_meaning(
                f"coordinates {point} are outside a tensor of shape {_shape(shape)}",
                "coordinates count from 0",
                literal.place,
            )
        made[point] = value
    return made


def _coordinate(literal: Number) -> int:
    value = number(literal, "index")
    if not 0 <= value <= MAX_DIMENSION:
        raise refuse_meaning(
            f"{literal.text[:40]} is no coordinate", "they count from 0", literal.place
        )
    return int(value)


def stated(type_: Type) -> tuple[DimensionSize, ...]:
    """Sizes as a type says them."""
    return tuple(DimensionSize(n) for n in type_.shape or ())
