"""Values of operations, and what their meanings share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.errors import ProgramError, shortened
from fuseloom.stitch.bfloat16 import rounded_to_bf16
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.shapes import TensorShape, ValueShape

Array: TypeAlias = npt.NDArray[Any]
DenseValue: TypeAlias = Any
"""An array, or a tuple of values."""
MOST_BYTES = 2**32
"""The most memory that one value may take."""
_MISSING = object()


class Regions(Protocol):
    """The computations that operations call."""

    def run(self, name: str, operands: Sequence[DenseValue]) -> DenseValue:
        """The value of a computation."""

    def run_elementwise(self, name: str, operands: Sequence[Array]) -> tuple[Array, ...]:
        """The values of a computation of scalars for all elements of arrays of one shape."""

    def combiner(self, name: str) -> str | None:
        """The opcode of a computation that is one operation of its two parameters.

        ``parameter`` if it is its second parameter, and None if it is neither.
        """


Meaning: TypeAlias = Callable[[DenseOperation, Sequence[DenseValue], Regions], DenseValue]


def attribute(operation: DenseOperation, name: str, usual: Any = _MISSING) -> Any:
    """An attribute, or what is usual if there is none.

    Raises
    ------
    ProgramError
        If it is missing, and nothing is usual.
    """
    value = operation.attributes.get(name, usual)
    if value is _MISSING:
        raise fault(operation, f"has no {name}")
    return value


def fault(operation: DenseOperation, words: str, hint: str | None = None) -> ProgramError:
    """An error of an operation, with its name, its opcode and its line."""
    name, opcode = shortened(operation.name, 60), shortened(operation.opcode, 40)
    return ProgramError(f"{name} ({opcode}) {words}", hint=hint, line=operation.line or None)


def same_types(operation: DenseOperation, operands: Sequence[Array]) -> None:
    """Refuse arrays of different types of elements."""
    if len({one.dtype for one in operands}) > 1:
        raise fault(operation, "has operands of different types")


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that sums and products of elements of a type are computed in.

    Examples
    --------
    >>> wide(np.dtype("float32")), wide(np.dtype("int8"))
    (dtype('float64'), dtype('int8'))
    """
    return {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}.get(dtype.kind, dtype)


def rounded(value: DenseValue, shape: ValueShape) -> DenseValue:
    """A value whose arrays of bf16 are rounded to that.

    Examples
    --------
    >>> rounded(np.float32([1 / 3]), TensorShape("bf16", (1,)))
    array([0.33398438], dtype=float32)
    """
    if isinstance(shape, TensorShape):
        narrow = shape.element == "bf16" and getattr(value, "dtype", None) == np.float32
        return rounded_to_bf16(value) if narrow else value
    return tuple(rounded(*pair) for pair in zip(value, shape.parts, strict=True))


def fits(value: DenseValue, shape: ValueShape) -> bool:
    """True if a value has a shape."""
    if isinstance(shape, TensorShape):
        return (
            isinstance(value, np.ndarray | np.generic)
            and value.shape == shape.dims
            and value.dtype == shape.dtype
        )
    return (
        isinstance(value, tuple)
        and len(value) == len(shape.parts)
        and all(map(fits, value, shape.parts))
    )


def shown(value: DenseValue) -> str:
    """The type of a value, for errors."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"
