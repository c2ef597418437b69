"""Kinds of data structures: fields that say which part is meant, and how parts are had.

A kind belongs to the user of a library: four functions are all that fused code knows of it.  Those
of databases and trees are in :mod:`fuseloom.calls.stored_kinds`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError, ProgramError

Fields = Mapping[str, int]
MOST_BYTES = 2**32
"""The most memory that one allocation may take."""


@dataclass(frozen=True)
class FieldPair:
    """A dimension of a part: where it begins, and how long it is.

    Attributes
    ----------
    start, length : str
        Names of fields.
    """

    start: str
    length: str


class DataKind(ABC):
    """A kind of data structure.

    Attributes
    ----------
    name : str
    dimensions : tuple of FieldPair
        Fields that bound a part, dimension by dimension.
    exact : tuple of str
        Further fields; two parts that differ in them have no part in common that holds both.
    """

    name: ClassVar[str]
    dimensions: ClassVar[tuple[FieldPair, ...]]
    exact: ClassVar[tuple[str, ...]] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields of a part."""
        starts = tuple(pair.start for pair in self.dimensions)
        return (*starts, *(pair.length for pair in self.dimensions), *self.exact)

    @abstractmethod
    def query(self, value: Any, fields: Fields) -> Any:
        """A part, as calls take it."""

    def insert(self, value: Any, fields: Fields, part: Any) -> None:  # noqa: B027
        """Put a part back; nothing where queries give views."""

    @abstractmethod
    def allocate(self, fields: Fields) -> Any:
        """Room for a part, in which it begins at 0."""

    def free(self, part: Any) -> None:  # noqa: B027
        """Give back what was allocated or queried."""

    @abstractmethod
    def whole(self, value: Any) -> Fields:
        """The fields of all of it."""

    def elements(self, fields: Fields) -> int:
        """The number of elements of a part."""
        count = 1
        for pair in self.dimensions:
            count *= fields[pair.length]
        return count


class ArrayKind(DataKind):
    """A kind that NumPy arrays have: a field pair for each of their first dimensions.

    Parameters
    ----------
    dtype : dtype
        Of what is allocated.
    rest : tuple of int
        Extents of further dimensions, which every part has whole.

    Examples
    --------
    >>> kind = Matrix(np.float32)
    >>> kind.query(np.arange(6).reshape(2, 3), {"row": 1, "col": 0, "rows": 1, "cols": 2})
    array([[3, 4]])
    >>> kind.whole(np.zeros((2, 3)))
    {'row': 0, 'col': 0, 'rows': 2, 'cols': 3}
    """

    def __init__(self, dtype: npt.DTypeLike = np.float64, rest: Sequence[int] = ()) -> None:
        self.dtype = np.dtype(dtype)
        self.rest = tuple(rest)

    def __repr__(self) -> str:
        rest = f", {self.rest}" if self.rest else ""
        return f"{type(self).__name__}({self.dtype.name}{rest})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.dtype, self.rest))

    def query(self, value: npt.NDArray[Any], fields: Fields) -> npt.NDArray[Any]:
        self._check(value)
        ranges = []
        for pair, extent in zip(self.dimensions, value.shape, strict=False):
            start, length = fields[pair.start], fields[pair.length]
            if not 0 <= start <= start + length <= extent:
                raise DataError(
                    f"{pair.start} {start} and {pair.length} {length} are outside an extent of "
                    f"{extent}"
                )
            ranges.append(slice(start, start + length))
        return value[tuple(ranges)]

    def allocate(self, fields: Fields) -> npt.NDArray[Any]:
        shape = (*(fields[pair.length] for pair in self.dimensions), *self.rest)
        if any(extent < 0 for extent in shape):
            raise DataError(f"an allocation of {shape} has a negative extent")
        if np.prod(shape, dtype=np.float64) * self.dtype.itemsize > MOST_BYTES:
            raise DataError(f"an allocation of {shape} would take more than {MOST_BYTES:,} bytes")
        return np.empty(shape, self.dtype)

    def whole(self, value: npt.NDArray[Any]) -> Fields:
        self._check(value)
        starts = dict.fromkeys((pair.start for pair in self.dimensions), 0)
        lengths = (pair.length for pair in self.dimensions)
        return {**starts, **dict(zip(lengths, map(int, value.shape), strict=False))}

    def _check(self, value: Any) -> None:
        if not isinstance(value, np.ndarray):
            raise DataError(f"a {self.name} is an array, not a {type(value).__name__}")
        wanted = len(self.dimensions) + len(self.rest)
        if value.ndim != wanted or value.shape[len(self.dimensions) :] != self.rest:
            raise DataError(f"a {self.name} has {wanted} dimensions, not the shape {value.shape}")


class Vector(ArrayKind):
    """A vector: ``start``, ``len``."""

    name = "vector"
    dimensions = (FieldPair("start", "len"),)


class Matrix(ArrayKind):
    """A matrix, or an image of one channel: ``row``, ``col``, ``rows``, ``cols``."""

    name = "matrix"
    dimensions = (FieldPair("row", "rows"), FieldPair("col", "cols"))


class Array3(ArrayKind):
    """An array of three dimensions: ``plane``, ``row``, ``col`` and their lengths."""

    name = "array of three dimensions"
    dimensions = (
        FieldPair("plane", "planes"), FieldPair("row", "rows"), FieldPair("col", "cols"),
    )  # fmt: skip


class ImageTensor(ArrayKind):
    """Images with channels, NHWC: ``n``, ``row``, ``col``, ``channel`` and their lengths."""

    name = "image tensor"
    dimensions = (
        FieldPair("n", "images"), FieldPair("row", "rows"), FieldPair("col", "cols"),
        FieldPair("channel", "channels"),
    )  # fmt: skip


class CsrRows(DataKind):
    """A sparse matrix of SciPy in CSR format, by rows: ``row``, ``rows``.

    Examples
    --------
    >>> import scipy.sparse
    >>> CsrRows().whole(scipy.sparse.eye(3, format="csr"))
    {'row': 0, 'rows': 3}
    """

    name = "CSR matrix"
    dimensions = (FieldPair("row", "rows"),)

    def query(self, value: Any, fields: Fields) -> Any:
        start = fields["row"]
        if not 0 <= start <= start + fields["rows"] <= value.shape[0]:
            raise DataError(f"row {start} and rows {fields['rows']} are outside {value.shape[0]}")
        return value[start : start + fields["rows"]]

    def allocate(self, fields: Fields) -> Any:
        raise ProgramError("a CSR matrix is an input: nothing is written into it by rows")

    def whole(self, value: Any) -> Fields:
        if getattr(value, "format", None) != "csr":
            raise DataError(f"a CSR matrix is one of SciPy, not a {type(value).__name__}")
        return {"row": 0, "rows": int(value.shape[0])}


class Items(DataKind):
    """A list of Python objects: ``start``, ``len``.

    Examples
    --------
    >>> kind, values = Items(), ["a", "b", "c"]
    >>> kind.insert(values, {"start": 1, "len": 2}, ["x", "y"])
    >>> values
    ['a', 'x', 'y']
    """

    name = "list"
    dimensions = (FieldPair("start", "len"),)

    def query(self, value: list[Any], fields: Fields) -> list[Any]:
        return value[_range(fields, len(value))]

    def insert(self, value: list[Any], fields: Fields, part: list[Any]) -> None:
        if len(part) != fields["len"]:
            raise DataError(f"{len(part)} values are put into a part of {fields['len']}")
        value[_range(fields, len(value))] = part

    def allocate(self, fields: Fields) -> list[Any]:
        if fields["len"] < 0:
            raise DataError(f"an allocation of {fields['len']} has a negative extent")
        return [None] * fields["len"]

    def whole(self, value: list[Any]) -> Fields:
        if not isinstance(value, list):
            raise DataError(f"a list is wanted, not a {type(value).__name__}")
        return {"start": 0, "len": len(value)}


def _range(fields: Fields, extent: int) -> slice:
    start, length = fields["start"], fields["len"]
    if not 0 <= start <= start + length <= extent:
        raise DataError(f"start {start} and len {length} are outside an extent of {extent}")
    return slice(start, start + length)
