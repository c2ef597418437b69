"""Levels of SciPy's compressed matrices: taken over as they are, without a list of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.program.formats import LevelFormat
from fuseloom.program.levels import CompressedLevel, DenseLevel, Ints, Level, SingletonLevel
from fuseloom.program.types import Tensor

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
        Where the format is another one, or has blocks.
    """
    form = tensor.format
    if form.levels not in _FORMATS or form.blocked or matrix.ndim != 2:
        return None
    by_rows = form.mode_order == (0, 1)
    made = matrix.tocsr() if by_rows else matrix.tocsc()
    if not made.has_canonical_format:
        made = made.copy() if made is matrix else made
        made.sum_duplicates()
    seg, crd = made.indptr.astype(np.int64), made.indices.astype(np.int64)
    return _levels(form.levels, seg, crd), made.data


def _levels(formats: tuple[LevelFormat, ...], seg: Ints, crd: Ints) -> tuple[Level, ...]:
    if formats == _TUPLES:
        outer = np.repeat(np.arange(len(seg) - 1), np.diff(seg))
        return CompressedLevel(np.array([0, len(crd)]), outer), SingletonLevel(crd)
    if formats[0] is LevelFormat.DENSE:
        return DenseLevel(len(seg) - 1), CompressedLevel(seg, crd)
    kept = np.flatnonzero(seg[1:] > seg[:-1])
    inner = np.append(seg[kept], seg[-1])
    return CompressedLevel(np.array([0, len(kept)]), kept), CompressedLevel(inner, crd)


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
