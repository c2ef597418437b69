"""Levels of SciPy's compressed matrices: taken over as they are, without a list of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.program.formats import LevelFormat
from fuseloom.program.late import scipy_sparse as sparse
from fuseloom.program.levels import CompressedLevel, DenseLevel, Ints, Level, SingletonLevel
from fuseloom.program.types import Tensor

_MOST_EMPTY = 8
"""Rows per element from which on a list of the rows is not made."""
_TUPLES = (LevelFormat.COMPRESSED, LevelFormat.SINGLETON)
_FORMATS = (
    (LevelFormat.DENSE, LevelFormat.COMPRESSED),
    (LevelFormat.COMPRESSED, LevelFormat.COMPRESSED),
    _TUPLES,
)


def levels_of_matrix(
    tensor: Tensor, matrix: Any
) -> tuple[tuple[Level, ...], npt.NDArray[Any]] | None:
    """Levels and values of a ``scipy.sparse`` matrix of the tensor's shape, in the tensor's format.

    The matrix is sound (:func:`is_sound`).  Rows are sorted, and entries given twice added, only
    where the matrix is not so already.  The values may be the matrix's own.

    Returns
    -------
    None
        Where the format is another one, or has blocks; or SciPy would need memory by the number of
        rows, of which few have elements.
    """
    form = tensor.format
    if form.levels not in _FORMATS or form.blocked or matrix.ndim != 2:
        return None
    wanted = "csr" if form.mode_order == (0, 1) else "csc"
    if matrix.format not in ("csr", "csc"):
        matrix = by_coordinates(matrix)
    outer = matrix.shape[form.mode_order[0]]
    sparse_rows = form.levels[0] is not LevelFormat.DENSE and outer > _MOST_EMPTY * matrix.nnz
    if matrix.format != wanted and sparse_rows:
        return None
    made = matrix.tocsr() if wanted == "csr" else matrix.tocsc()
    if not made.has_canonical_format:
        made = made.copy() if made is matrix else made
        made.sum_duplicates()
    return _levels(form.levels, made.indptr, made.indices.astype(np.int64)), made.data


def _levels(
    formats: tuple[LevelFormat, ...], seg: npt.NDArray[Any], crd: Ints
) -> tuple[Level, ...]:
    if formats[0] is LevelFormat.DENSE:
        return DenseLevel(len(seg) - 1), CompressedLevel(seg.astype(np.int64), crd)
    kept = np.flatnonzero(seg[1:] > seg[:-1])
    inner = np.append(seg[kept], seg[-1]).astype(np.int64)
    if formats == _TUPLES:
        outer = np.repeat(kept, np.diff(inner))
        return CompressedLevel(np.array([0, len(crd)]), outer), SingletonLevel(crd)
    return CompressedLevel(np.array([0, len(kept)]), kept), CompressedLevel(inner, crd)


def by_coordinates(matrix: Any) -> Any:
    """Return a ``scipy.sparse`` matrix as its list of coordinates.

    Of diagonals SciPy makes that list by way of rows, however few have elements.

    Examples
    --------
    >>> made = by_coordinates(sparse.dia_array(([[1.0, 2.0]], [1]), shape=(2**31, 2**31)))
    >>> [axis.tolist() for axis in made.coords], made.data.tolist()
    ([[0], [1]], [2.0])
    """
    if matrix.format != "dia":
        return matrix.tocoo()
    columns = np.arange(min(matrix.data.shape[1], matrix.shape[1]))
    numbers = matrix.data[:, : len(columns)]
    rows = columns - matrix.offsets[:, None]
    kept = (rows >= 0) & (rows < matrix.shape[0]) & (numbers != 0)
    places = (rows[kept], np.broadcast_to(columns, rows.shape)[kept])
    return sparse.coo_array((numbers[kept], places), shape=matrix.shape)


def is_sound(matrix: Any) -> bool:
    """Return whether every index is in the matrix: SciPy converts without checking."""
    if matrix.format == "coo":
        sizes = zip(matrix.coords, matrix.shape, strict=True)
        return all(_within(np.asarray(axis), size) for axis, size in sizes)
    if matrix.format not in ("csr", "csc"):
        return True
    rows, columns = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    seg = matrix.indptr
    return bool(
        len(seg) == rows + 1
        and seg[0] == 0
        and np.all(seg[1:] >= seg[:-1])
        and seg[-1] == len(matrix.indices) == len(matrix.data)
        and _within(matrix.indices, columns)
    )


def _within(indices: npt.NDArray[Any], size: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < size)
