"""Types of values of dense graphs: arrays of a type of elements, and tuples of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from fuseloom.errors import ProgramError

ELEMENTS = {
    "pred": np.dtype(np.bool_), "f16": np.dtype(np.float16), "bf16": np.dtype(np.float32),
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64), "c128": np.dtype(np.complex128),
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Types of elements as HLO writes them, and those that NumPy computes with; it has no bf16, whose
results are rounded."""
BF16_BYTES = 2
MOST_DIMS = 8
"""Dimensions of an array."""


@dataclass(frozen=True)
class TensorShape:
    """The type of an array.

    Attributes
    ----------
    element : str
        A key of :data:`ELEMENTS`.
    dims : tuple of int
        Extents, the slowest first.

    Raises
    ------
    ProgramError
        If there is no such type of elements, an extent is negative, or there are too many.

    Examples
    --------
    >>> shape = TensorShape("f32", (8, 32))
    >>> str(shape), shape.elements, shape.byte_size
    ('f32[8,32]', 256, 1024)
    """

    element: str
    dims: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.element not in ELEMENTS:
            raise ProgramError(
                f"{self.element[:20]!r} is no type of elements",
                hint=f"types are {', '.join(ELEMENTS)}",
            )
        if len(self.dims) > MOST_DIMS:
            raise ProgramError(f"{self} has more than {MOST_DIMS} dimensions")
        if any(extent < 0 for extent in self.dims):
            raise ProgramError(f"{self} has a negative extent")

    def __str__(self) -> str:
        return f"{self.element}[{','.join(map(str, self.dims))}]"

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return len(self.dims)

    @cached_property
    def elements(self) -> int:
        """The number of its elements."""
        return prod(self.dims)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """What NumPy computes with."""
        return ELEMENTS[self.element]

    @property
    def byte_size(self) -> int:
        """Bytes in the memory of a machine."""
        item = BF16_BYTES if self.element == "bf16" else self.dtype.itemsize
        return self.elements * item


@dataclass(frozen=True)
class TupleShape:
    """The type of a tuple.

    Attributes
    ----------
    parts : tuple of TensorShape or TupleShape
    """

    parts: tuple[ValueShape, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))})"

    @property
    def byte_size(self) -> int:
        """Bytes of all its parts."""
        return sum(part.byte_size for part in self.parts)


ValueShape: TypeAlias = TensorShape | TupleShape
