"""A tensor as files give it: coordinates and values, no storage format yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_ENTRIES, MAX_NODES
from fuseloom.program.levels import Ints, shape_text, sorting
from fuseloom.program.limits import MAX_DIMENSION, MAX_RANK, MAX_REFERENCE_ELEMENTS
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

Floats = npt.NDArray[np.float64]
Place = Callable[[int, str, str], DataError]
"""Makes the error of an element: its position in the file, message and hint."""


class Duplicates(Enum):
    """The treatment of an element that a file gives twice."""

    REFUSE = "refuse"
    FIRST = "first"
    SUM = "sum"


@dataclass(frozen=True, eq=False)
class CoordinateTensor:
    """A sparse tensor by coordinates (COO).

    Attributes
    ----------
    coords : (nnz, rank) array of int64
        Counted from 0, in lexicographic order, each once.
    values : (nnz,) array of float64
        Explicit zeros stay.  Finite but where a file of matrices says otherwise: programs take
        finite data only, see :meth:`store`.
    shape : tuple of int
        A matrix may have no rows or no columns; no tensor of a program can.
    origin : str
        The file it came from.
    notes : tuple of str
        What became of the file that the elements do not show: what was added up, counted from 1,
        passed over or rounded.  A sentence each.
    """

    coords: Ints
    values: Floats
    shape: tuple[int, ...]
    origin: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        coords: Ints,
        values: Floats,
        shape: tuple[int, ...],
        origin: str,
        *,
        duplicates: Duplicates = Duplicates.REFUSE,
        place: Place | None = None,
        notes: tuple[str, ...] = (),
        called: str = "element",
        exact: bool = False,
    ) -> CoordinateTensor:
        """Sort elements, and treat those given twice.

        Parameters
        ----------
        place : callable, optional
            See :data:`Place`; by default elements are named by their number, from 0.
        notes : tuple of str
            What the reader has to say already.
        called : str
            What an element is to people.
        exact : bool
            Whether to keep what no program takes: sizes of 0, values that are not finite.

        Raises
        ------
        DataError
            A shape beyond the limits, or an element that is out of range, not finite, or given
            twice where that is refused.
        """
        place = place or _numbered(origin)
        check_shape(shape, origin, least=0 if exact else 1)
        if len(values) > MAX_ENTRIES:
            raise DataError(
                f"{origin} has {counted(len(values), 'element')}, the limit is {MAX_ENTRIES:,}",
                hint="use a smaller tensor",
            )
        outside = np.flatnonzero(((coords < 0) | (coords >= np.array(shape))).any(axis=1))
        if len(outside):
            at = ",".join(map(str, coords[outside[0]].tolist()))
            raise place(
                int(outside[0]),
                f"coordinates [{at}], counted from 0, are outside {shape_text(shape)}",
                "check the shape, and whether counting starts at 0 or at 1",
            )
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad) and not exact:
            raise place(int(bad[0]), "the value is not finite", "remove NaN and infinite values")
        order = sorting(coords, shape) if len(shape) else np.arange(len(values))
        coords, values = coords[order], values[order]
        again = (coords[1:] == coords[:-1]).all(axis=1)
        if again.any():
            if duplicates is Duplicates.REFUSE:
                second = int(order[np.flatnonzero(again)[0] + 1])
                at = ",".join(map(str, coords[np.flatnonzero(again)[0]].tolist()))
                raise place(
                    second,
                    f"element [{at}], counted from 0, is given twice",
                    "add or drop duplicates first",
                )
            first = np.concatenate([[True], ~again])
            notes = (*notes, _repeated(int(again.sum()), called, duplicates, values, first))
            if duplicates is Duplicates.SUM:
                place_of = np.cumsum(first) - 1
                values = np.asarray(np.bincount(place_of, values), np.float64)  # in their order
                if not exact and not np.isfinite(values).all():
                    raise DataError(
                        f"{origin}: {called}s given more than once add up to more than float64 "
                        "holds",
                        hint="scale the values",
                    )
            else:
                values = values[first]
            coords = coords[first]
        return cls(coords, values, shape, origin, (*notes, *rounding(values)))

    @property
    def nnz(self) -> int:
        """Stored elements, explicit zeros included."""
        return len(self.values)

    @property
    def density(self) -> float:
        """Share of the elements that are stored."""
        return self.nnz / max(prod(self.shape), 1)

    def to_scipy(self) -> Any:
        """A ``csr_array`` of float64.

        Raises
        ------
        DataError
            If it is no matrix, or has more rows than row pointers may take memory for.
        """
        if len(self.shape) != 2:
            raise DataError(
                f"{self.origin} holds a tensor of rank {len(self.shape)}, not a matrix",
                hint="scipy.sparse knows matrices only",
            )
        if self.shape[0] > MAX_NODES:
            raise DataError(
                f"{self.origin} has {counted(self.shape[0], 'row')}, the limit is {MAX_NODES:,}",
                hint="drop empty rows",
            )
        return scipy.sparse.csr_array((self.values, tuple(self.coords.T)), shape=self.shape)

    def to_dense(self) -> Floats:
        """An array of float64.

        Raises
        ------
        DataError
            If it would have more elements than a dense reference may have.
        """
        if prod(self.shape) > MAX_REFERENCE_ELEMENTS:
            raise DataError(
                f"{self.origin} has {counted(prod(self.shape), 'place')}, the limit of dense "
                "arrays is "
                f"{MAX_REFERENCE_ELEMENTS:,}",
                hint="use a smaller tensor",
            )
        made = np.zeros(self.shape)
        made[tuple(self.coords.T)] = self.values
        return made

    def store(self, tensor: Tensor) -> StoredTensor:
        """The data of a declared tensor, in its format and in float32.

        Raises
        ------
        DataError
            If the shapes differ, or a value is too large for float32.
        """
        if self.shape != tensor.shape:
            raise DataError(
                f"tensor {tensor.name} has shape {shape_text(tensor.shape)}, "
                f"{self.origin} has {shape_text(self.shape)}",
                hint="transpose the data, or change the declaration",
            )
        return StoredTensor.from_coo(tensor, self.coords, self.values)


def _repeated(
    count: int, called: str, duplicates: Duplicates, values: Floats, first: npt.NDArray[np.bool_]
) -> str:
    told = (
        f"1 {called} repeats one that was given before: "
        if count == 1
        else f"{count:,} {called}s repeat one that was given before: "
    )
    if duplicates is Duplicates.SUM:
        return told + "the values of the same place are added"
    same = values[~first] == values[np.flatnonzero(first)[np.cumsum(first) - 1][~first]]
    differ = int((~same).sum())
    rest = f", {differ:,} {'has' if differ == 1 else 'have'} another value" if differ else ""
    return f"{told}the first counts{rest}"


def rounding(values: npt.NDArray[Any]) -> tuple[str, ...]:
    """Return notes on the loss from storing values in float32; empty if there is none.

    Values that are too large for float32 are left to the error of storing them.
    """
    with np.errstate(over="ignore", under="ignore"):
        near = values.astype(np.float32)
    wide = np.longdouble if values.dtype.kind in "iu" or values.dtype.itemsize > 8 else np.float64
    fits = np.isfinite(near)
    off = np.count_nonzero((near.astype(wide) != values.astype(wide)) & fits)
    if not off:
        return ()
    count = f"{off:,} of {counted(len(values), 'value')} are" if len(values) > 1 else "the value is"
    lost = np.count_nonzero((near == 0) & (values != 0))
    gone = f"; {lost:,} of them to 0, which is nearest" if lost else ""
    return (f"{count} rounded to float32{gone}",)


def check_shape(shape: tuple[int, ...], origin: str, least: int = 1) -> None:
    """Refuse a shape that no machine's coordinates could name, or with sizes below ``least``.

    Raises
    ------
    DataError
        More axes or longer ones than the limits.
    """
    if len(shape) > MAX_RANK:
        raise DataError(
            f"{origin} has {counted(len(shape), 'dimension')}, the limit is {MAX_RANK}",
            hint="use a tensor of lower rank",
        )
    if any(not least <= size <= MAX_DIMENSION for size in shape):
        raise DataError(
            f"{origin} has shape {shape_text(shape)}, every size is {least}..{MAX_DIMENSION:,}",
            hint="a tensor has at least one element along every dimension"
            if 0 in shape
            else "coordinates have 32 bits",
        )


def _numbered(origin: str) -> Place:
    def place(element: int, message: str, hint: str) -> DataError:
        return DataError(f"{origin}, element {element}: {message}", hint=hint)

    return place
