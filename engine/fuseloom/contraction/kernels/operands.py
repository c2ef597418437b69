"""Data of given tensors as kernels read them: levels as everywhere, values in float64.

:class:`fuseloom.program.StoredTensor` keeps float32, as the dataflow machine does; what is compared
with NumPy to nine digits needs the numbers as they were given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.contraction.kernels.references import OperandLayout
from fuseloom.errors import DataError
from fuseloom.frontends.files.tensor import CoordinateTensor
from fuseloom.program import Format, StoredTensor, Tensor
from fuseloom.program.compressed_matrices import is_sound, levels_of_matrix
from fuseloom.program.level_checks import as_integers, check_coordinates, check_duplicates
from fuseloom.program.levels import (
    DenseLevel,
    Level,
    arrays_of,
    build_levels,
    check_size,
    shape_text,
    sorting,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Elements:
    """A given tensor: coordinates in its own mode order, sorted, each once, and values.

    Attributes
    ----------
    tensor : Tensor
    coords : array of int64, shape (nnz, rank)
    values : array of float64, shape (nnz,)
    """

    tensor: Tensor
    coords: Ints
    values: Floats

    def to_dense(self, values: Floats | None = None) -> Floats:
        """An array of the tensor's shape, of its values or of others in their places."""
        values = self.values if values is None else values
        if not self.tensor.rank:
            return np.asarray(values.sum())
        array = np.zeros(self.tensor.shape)
        array[tuple(self.coords.T)] = values
        return array


@dataclass(frozen=True, eq=False)
class Operand:
    """A given tensor in a kernel's layout.

    Attributes
    ----------
    levels : tuple of levels
        Outermost first.
    values : array of float64
        One per position of the last level.
    """

    levels: tuple[Level, ...]
    values: Floats


def elements_of(tensor: Tensor, given: Any) -> Elements:
    """The elements of data as people have them.

    Parameters
    ----------
    given : array_like, scipy.sparse array, (coords, values), StoredTensor, CoordinateTensor, or
        anything with ``coords`` of shape (rank, nnz), ``data`` and ``shape``, as PyData sparse
        has, or that becomes so by ``tocoo()``.
        Zeros of a dense array are left out, those of the others are not.

    Raises
    ------
    DataError
        Of another shape; of coordinates that are no integers, outside the tensor or given twice;
        of values that are no finite real numbers; of elements that are not stored and not 0.

    Examples
    --------
    >>> tensor = Tensor("A", (2, 3), Format.compressed(2))
    >>> found = elements_of(tensor, ([[1, 2], [0, 1]], [5.0, 0.1]))
    >>> found.coords.tolist(), found.values.tolist()
    ([[0, 1], [1, 2]], [0.1, 5.0])
    """
    if isinstance(given, StoredTensor):
        _check_shape(tensor, given.tensor.shape)
        given.verify()
        coords, values = given.to_coo()
        return _sorted(tensor, coords, values.astype(np.float64))
    if scipy.sparse.issparse(given):
        _check_matrix(tensor, given)
        coo = given.tocoo(copy=True)
        coords = np.stack([np.asarray(axis, dtype=np.int64) for axis in coo.coords], axis=1)
        return _sorted(tensor, coords, _reals(tensor, np.asarray(coo.data)), adds=True)
    if isinstance(given, tuple) and len(given) == 2:
        return _from_coo(tensor, *given)
    if isinstance(given, CoordinateTensor):
        _check_shape(tensor, given.shape)
        return _from_coo(tensor, given.coords, given.values)
    if not hasattr(given, "coords") and hasattr(given, "tocoo"):
        given = given.tocoo()
    if hasattr(given, "coords") and hasattr(given, "data") and hasattr(given, "shape"):
        _check_shape(tensor, tuple(given.shape))
        fill = np.asarray(getattr(given, "fill_value", 0))
        if fill.size != 1 or fill.dtype.kind not in "biuf" or fill.reshape(-1)[0] != 0:
            raise DataError(
                f"what {tensor.name} does not store is {str(fill)[:30]}, not 0",
                hint="give all elements: array.todense()",
            )
        return _from_coo(tensor, np.asarray(given.coords).T, given.data)
    reals = _array_of(tensor, given)
    stored = np.argwhere(reals != 0).astype(np.int64)
    return Elements(tensor, stored, reals[reals != 0])


class TensorData:
    """The data of a given tensor: checked at once, listed by elements only where that is needed.

    Arrays, and SciPy's matrices by rows or columns, become operands as they are where a layout
    allows it.

    Parameters
    ----------
    tensor : Tensor
    given
        What :func:`elements_of` takes; a copy is kept.

    Raises
    ------
    DataError
        As :func:`elements_of`.

    Examples
    --------
    >>> tensor = Tensor("A", (2, 2), Format.compressed(2))
    >>> rows = TensorData(tensor, scipy.sparse.csr_array(np.eye(2)))
    >>> rows.operand(OperandLayout("A", Format.compressed(2))).values, rows.elements.coords.tolist()
    (array([1., 1.]), [[0, 0], [1, 1]])
    """

    def __init__(self, tensor: Tensor, given: Any) -> None:
        self.tensor = tensor
        self._array: Floats | None = None
        self._matrix: Any = None
        if isinstance(given, np.ndarray):
            self._array = _array_of(tensor, given)
        elif scipy.sparse.issparse(given) and given.format in ("csr", "csc") and given.ndim == 2:
            _check_matrix(tensor, given)
            self._matrix = given.copy()
            self._matrix.data = _reals(tensor, given.data)
        else:
            self.elements = elements_of(tensor, given)

    @cached_property
    def elements(self) -> Elements:
        """Coordinates and values."""
        return elements_of(self.tensor, self._array if self._matrix is None else self._matrix)

    def operand(self, layout: OperandLayout) -> Operand:
        """The tensor as a kernel reads it.

        Raises
        ------
        DataError
            If that takes too much memory.
        """
        if self._array is not None and layout.format.all_dense:
            check_size(self.tensor, self._array.size)
            array = self._array.transpose(layout.format.mode_order)
            return Operand(tuple(map(DenseLevel, array.shape)), np.ascontiguousarray(array).ravel())
        if self._matrix is not None:
            tensor = Tensor(self.tensor.name, self.tensor.shape, layout.format)
            taken = levels_of_matrix(tensor, self._matrix)
            if taken is not None:
                levels, values = taken
                words = sum(len(array) for level in levels for array in arrays_of(level))
                check_size(tensor, words + len(values))
                return Operand(levels, values)
        return operand(self.elements, layout)


def _check_matrix(tensor: Tensor, matrix: Any) -> None:
    """Refuse a matrix of SciPy that does not fit, or is broken."""
    _check_shape(tensor, matrix.shape)
    if not is_sound(matrix):
        raise DataError(
            f"the matrix given for {tensor.name} is broken: its indices lie outside its shape, "
            "or do not fit its rows",
            hint="build it anew, e.g. scipy.sparse.csr_array(dense)",
        )


def _array_of(tensor: Tensor, given: Any) -> Floats:
    """All elements, as a new array of the tensor's shape."""
    array = _as_array(tensor, "the data", given)
    if array.dtype.kind in "biuf":
        _check_shape(tensor, array.shape)
    return _reals(tensor, array)


def _from_coo(tensor: Tensor, coords: Any, values: Any) -> Elements:
    data = np.atleast_1d(_reals(tensor, _as_array(tensor, "the values", values)))
    points = _as_array(tensor, "the coordinates", coords)
    if points.size == 0:
        points = np.zeros((len(data), tensor.rank), dtype=np.int64)
    if data.ndim != 1 or points.shape != (len(data), tensor.rank):
        raise DataError(
            f"tensor {tensor.name} needs coordinates of shape {len(data)}x{tensor.rank}, "
            f"found {shape_text(points.shape)}",
            hint="give one row of coordinates per value",
        )
    if points.dtype.kind == "u" and points.size and points.max() > np.iinfo(np.int64).max:
        raise DataError(
            f"a coordinate of {tensor.name} is {points.max()}, which no int64 holds",
            hint="coordinates count from 0 and end below the extent",
        )
    return _sorted(tensor, as_integers(tensor, "coordinates", points), data)


def _as_array(tensor: Tensor, what: str, given: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(given)
    except (ValueError, TypeError, OverflowError, RuntimeError):
        raise DataError(
            f"{what} of {tensor.name} are no array",
            hint="give an array, a scipy.sparse matrix, or (coords, values)",
        ) from None


def _reals(tensor: Tensor, array: npt.NDArray[Any]) -> Floats:
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"the values of {tensor.name} have dtype {array.dtype}, which is not a real number",
            hint="convert them, e.g. array.astype('float64')",
        )
    with np.errstate(over="ignore"):
        reals = array.astype(np.float64)
    bad = np.argwhere(~np.isfinite(reals))
    if len(bad):
        where = ",".join(map(str, bad[0].tolist()))
        raise DataError(
            f"tensor {tensor.name}: value {array[tuple(bad[0])]} at [{where}] is not finite",
            hint="remove NaN and infinite values",
        )
    return reals


def _check_shape(tensor: Tensor, shape: tuple[int, ...]) -> None:
    if tuple(shape) != tensor.shape:
        raise DataError(
            f"tensor {tensor.name} has shape {shape_text(tensor.shape)}, "
            f"its data {shape_text(shape)}",
            hint="build the data for this network's extents",
        )


def _sorted(tensor: Tensor, coords: Ints, values: Floats, adds: bool = False) -> Elements:
    """Elements in order, checked; those given twice are added or refused."""
    logical = Tensor(tensor.name, tensor.shape, Format.compressed(tensor.rank))
    check_coordinates(logical, coords)
    check_size(logical, len(values))
    if tensor.rank:
        order = sorting(coords, tensor.shape)
        coords, values = coords[order], values[order]
    if adds and len(coords):
        first = np.flatnonzero(np.r_[True, (coords[1:] != coords[:-1]).any(axis=1)])
        coords, values = coords[first], np.add.reduceat(values, first)
    check_duplicates(logical, coords)
    return Elements(tensor, np.ascontiguousarray(coords), values)


def operand(elements: Elements, layout: OperandLayout) -> Operand:
    """A tensor as a kernel reads it.

    Raises
    ------
    DataError
        If that takes too much memory.

    Examples
    --------
    >>> tensor = Tensor("A", (2, 3), Format.compressed(2))
    >>> found = elements_of(tensor, ([[1, 2], [0, 1]], [5.0, 0.1]))
    >>> columns = operand(found, OperandLayout("A", Format.compressed(2, (1, 0))))
    >>> columns.levels[0].crd, columns.values
    (array([1, 2]), array([0.1, 5. ]))
    """
    tensor = Tensor(elements.tensor.name, elements.tensor.shape, layout.format)
    stored = elements.coords[:, list(layout.format.mode_order)]
    values = elements.values
    extents = tuple(tensor.shape[axis] for axis in layout.format.mode_order)
    if tensor.rank and layout.format.mode_order != tuple(range(tensor.rank)):
        order = sorting(stored, extents)
        stored, values = stored[order], values[order]
    levels, positions, count = build_levels(tensor, stored)
    packed = np.zeros(count)
    packed[positions] = values
    return Operand(levels, packed)
