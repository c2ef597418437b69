"""``.npz`` archives of PyData sparse's ``save_npz``: ``COO`` and ``GCXS`` of any rank."""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.npy import NUMBERS, exact_tensor
from fuseloom.frontends.files.npz_parts import Arrays, numbers, pairs, whole
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates, check_shape
from fuseloom.program.levels import Ints
from fuseloom.wording import counted


def is_pydata(arrays: Arrays) -> bool:
    """Return whether these are the arrays of such an archive; SciPy's lack ``fill_value``.

    Examples
    --------
    >>> is_pydata({"data": np.ones(1), "coords": np.zeros((2, 1)), "shape": np.array([2, 2])})
    True
    """
    names = set(arrays)
    if "format" in names and "fill_value" not in names:
        return False
    return {"data", "shape"} <= names and ("coords" in names or {"indices", "indptr"} <= names)


def pydata_tensor(arrays: Arrays, origin: str) -> CoordinateTensor:
    """The tensor of an archive's arrays; elements given twice are added.

    Raises
    ------
    DataError
        If the arrays make none, or what is not stored is not 0.

    Examples
    --------
    >>> coords, shape = np.array([[0, 1], [2, 0]]), np.array([2, 3])
    >>> given = {"data": np.array([5.0, 7.0]), "coords": coords, "shape": shape}
    >>> pydata_tensor(given, "a file").coords
    array([[0, 2],
           [1, 0]])
    """
    shape = tuple(int(size) for size in whole(arrays, "shape", origin))
    if not shape:
        raise DataError(f"{origin} holds a single number", hint="a tensor has a dimension at least")
    check_shape(shape, origin)
    fill = np.asarray(arrays.get("fill_value", 0))
    if fill.size != 1 or fill.dtype.kind not in NUMBERS or fill.reshape(-1)[0] != 0:
        raise DataError(
            f"{origin}: what is not stored is {fill.reshape(-1)[:1].tolist()}, not 0",
            hint="subtract it, or store all elements: array.todense()",
        )
    values = numbers(arrays, "data", origin)
    if "coords" in arrays:
        coords = _columns(arrays["coords"], len(shape), len(values), origin)
    else:
        coords = _grouped(arrays, shape, len(values), origin)
    return exact_tensor(coords, values, shape, origin, duplicates=Duplicates.SUM)


def _columns(table: npt.NDArray[np.generic], rank: int, count: int, origin: str) -> Ints:
    if table.shape != (rank, count) or (table.size and table.dtype.kind not in "iu"):
        raise DataError(
            f"{origin}: coords have shape {'x'.join(map(str, table.shape))} and dtype "
            f"{table.dtype}, for {counted(count, 'element')} of rank {rank}",
            hint="one row of integers per dimension",
        )
    rows = [whole({"coords": row}, "coords", origin) for row in table]
    return np.stack(rows, axis=1)


def _grouped(arrays: Arrays, shape: tuple[int, ...], count: int, origin: str) -> Ints:
    """Coordinates of ``GCXS``: a compressed matrix whose rows are some axes, its columns others."""
    rank = len(shape)
    rows = whole(arrays, "compressed_axes", origin).tolist()
    if sorted(set(rows)) != sorted(rows) or not all(0 <= axis < rank for axis in rows):
        raise DataError(
            f"{origin}: compressed_axes {rows} are no axes of rank {rank}",
            hint="write it with sparse.save_npz",
        )
    order = [*rows, *(axis for axis in range(rank) if axis not in rows)]
    height = prod(shape[axis] for axis in rows)
    width = prod(shape[axis] for axis in order[len(rows) :])
    if max(height, width) >= 2**63:
        raise DataError(f"{origin} has more rows or columns than 63 bits count")
    at = pairs(arrays, "", (height, width), count, origin, by_column=False)
    if len(at) and (int(at[:, 1].min()) < 0 or int(at[:, 1].max()) >= width):
        raise DataError(f"{origin}: an index is outside its {counted(width, 'column')}")
    coords = np.empty((count, rank), dtype=np.int64)
    for part, axes in ((at[:, 0], rows), (at[:, 1], order[len(rows) :])):
        left = part
        for axis in reversed(axes):
            left, coords[:, axis] = np.divmod(left, shape[axis])
    return coords
