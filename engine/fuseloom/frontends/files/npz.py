"""``.npz`` archives: matrices of ``scipy.sparse.save_npz``, their parts, and single arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.npy import dense_tensor, exact_tensor
from fuseloom.frontends.files.npz_parts import Arrays, given, numbers, pairs, whole
from fuseloom.frontends.files.packed import size_of
from fuseloom.frontends.files.pydata import is_pydata, pydata_tensor
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates, check_shape
from fuseloom.program.arrays import operand_shapes, read_npz
from fuseloom.program.levels import Ints
from fuseloom.wording import counted

FORMATS = ("csr", "csc", "coo", "bsr", "dia")


def arrays_of(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays of an ``.npz`` file by name, none of them unpickled.

    Raises
    ------
    DataError
        If the file is none, or its headers claim what it does not hold.
    """
    size_of(Path(path))
    return read_npz(path)


def read_scipy_npz(path: str | Path) -> CoordinateTensor:
    """A matrix in CSR, CSC, COO, BSR or DIA; entries given twice are added, as in SciPy.

    A COO array may have any rank.

    Raises
    ------
    DataError
        If an array is missing, or the arrays do not make a matrix.
    """
    return scipy_tensor(arrays_of(path), str(path))


def read_npz_tensor(path: str | Path) -> CoordinateTensor:
    """The one tensor of an archive: of SciPy or PyData sparse, a single array, or coordinates.

    Coordinates are three arrays, ``B_coords``, ``B_vals`` and ``B_shape``.

    Raises
    ------
    DataError
        If it holds several, or what it holds does not make one.
    """
    arrays, origin = arrays_of(path), str(path)
    if is_pydata(arrays):
        return pydata_tensor(arrays, origin)
    if "format" in arrays:
        return scipy_tensor(arrays, origin)
    names = list(operand_shapes(arrays))
    if len(names) != 1:
        raise DataError(
            f"{origin} holds {'several arrays' if names else 'no array'}"
            f"{': ' if names else ''}{', '.join(names[:6])}",
            hint="a file of one tensor has one array, or what scipy.sparse.save_npz writes; "
            "--tensors FILE.npz gives all inputs by their names",
        )
    (name,) = names
    if name in arrays:
        return dense_tensor(arrays[name], f"{origin}, array {name}")
    shape = operand_shapes(arrays)[name]
    coords = arrays[f"{name}_coords"] if f"{name}_coords" in arrays else np.zeros((0, 0))
    values = numbers(arrays, f"{name}_vals", origin)
    if coords.shape != (len(values), len(shape)) or coords.dtype.kind not in "iu":
        raise DataError(
            f"{origin}: {name}_coords is no table of integers with a row for each value",
            hint=f"shape ({len(values):,}, {len(shape)})",
        )
    checked = np.minimum(coords, 2**62).astype(np.int64)
    return exact_tensor(checked, values, shape, origin, duplicates=Duplicates.REFUSE)


def scipy_tensor(arrays: Arrays, origin: str) -> CoordinateTensor:
    """The matrix of a file's arrays; see :func:`read_scipy_npz`."""
    kind = arrays.get("format")
    name = "" if kind is None or kind.size != 1 else kind.reshape(-1)[0]
    text = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    if text not in FORMATS:
        raise DataError(
            f"{origin} holds no matrix in {', '.join(FORMATS)}",
            hint="write it with scipy.sparse.save_npz(file, matrix.tocsr())",
        )
    if text == "coo":
        return _coo(arrays, origin)
    shape = matrix_shape(arrays, "shape", origin)
    if text == "bsr":
        return _bsr(arrays, shape, origin)
    if text == "dia":
        return _dia(arrays, shape, origin)
    return compressed(arrays, "", shape, origin, by_column=text == "csc")


def _coo(arrays: Arrays, origin: str) -> CoordinateTensor:
    values = numbers(arrays, "data", origin)
    if "coords" in arrays:
        table = given(arrays, "coords", origin)
        sizes = whole(arrays, "shape", origin)
        if table.ndim != 2 or table.dtype.kind not in "iu" or len(table) != len(sizes):
            raise DataError(f"{origin}: coords do not fit the shape", hint="one row per dimension")
        columns = [whole({"coords": row}, "coords", origin) for row in table]
        shape = tuple(int(size) for size in sizes)
        check_shape(shape, origin)
    else:
        columns = [whole(arrays, axis, origin) for axis in ("row", "col")]
        shape = matrix_shape(arrays, "shape", origin)
    if not columns or any(len(column) != len(values) for column in columns):
        raise DataError(
            f"{origin}: row, col and data differ in length", hint="one of each per element"
        )
    coords = np.stack(columns, axis=1)
    return exact_tensor(coords, values, shape, origin, duplicates=Duplicates.SUM)


def _bsr(arrays: Arrays, shape: tuple[int, int], origin: str) -> CoordinateTensor:
    """Blocks, all of whose elements are stored; those that are 0 are left out."""
    values = numbers(arrays, "data", origin, rank=3)
    height, width = values.shape[1:]
    if not height or not width or shape[0] % height or shape[1] % width:
        raise DataError(
            f"{origin}: blocks of {height}x{width} do not tile {shape[0]}x{shape[1]}",
            hint="write it with scipy.sparse.save_npz",
        )
    grid = shape[0] // height, shape[1] // width
    at = pairs(arrays, "", grid, len(values), origin, by_column=False)
    _check_inside(at, grid, origin)
    block, row, column = np.nonzero(values)
    coords = np.stack([at[block, 0] * height + row, at[block, 1] * width + column], axis=1)
    return exact_tensor(
        coords, values[block, row, column], shape, origin, duplicates=Duplicates.SUM
    )


def _dia(arrays: Arrays, shape: tuple[int, int], origin: str) -> CoordinateTensor:
    """Diagonals: ``data[d, j]`` is the element of column ``j``; zeros are left out."""
    values = numbers(arrays, "data", origin, rank=2)
    offsets = whole(arrays, "offsets", origin)
    if len(offsets) != len(values) or len(np.unique(offsets)) != len(offsets):
        raise DataError(
            f"{origin}: {counted(len(values), 'diagonal')} with {counted(len(offsets), 'offset')}",
            hint="one offset per diagonal, each once",
        )
    if len(offsets) and int(np.abs(np.clip(offsets, -(2**62), 2**62)).max()) > 2**31:
        raise DataError(f"{origin}: a diagonal outside the matrix", hint="offsets have 32 bits")
    diagonal, column = np.nonzero(values)
    row = column - offsets[diagonal]
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1])
    coords = np.stack([row[inside], column[inside]], axis=1).astype(np.int64)
    return exact_tensor(coords, values[diagonal, column][inside], shape, origin)


def _check_inside(at: Ints, grid: tuple[int, int], origin: str) -> None:
    outside = np.flatnonzero(((at < 0) | (at >= np.array(grid))).any(axis=1))
    if len(outside):
        raise DataError(
            f"{origin}: block {outside[0]:,} lies outside the "
            f"{grid[0]:,}x{counted(grid[1], 'block')}",
            hint="the file may be damaged",
        )


def compressed(
    arrays: Arrays, prefix: str, shape: tuple[int, int], origin: str, *, by_column: bool = False
) -> CoordinateTensor:
    """The matrix of ``<prefix>data``, ``<prefix>indices`` and ``<prefix>indptr``.

    Parameters
    ----------
    by_column : bool
        CSC instead of CSR.

    Raises
    ------
    DataError
        If they do not make a matrix; explicit zeros stay, entries given twice are added.
    """
    values = numbers(arrays, f"{prefix}data", origin)
    coords = pairs(arrays, prefix, shape, len(values), origin, by_column=by_column)
    return exact_tensor(coords, values, shape, origin, duplicates=Duplicates.SUM)


def matrix_shape(arrays: Arrays, name: str, origin: str) -> tuple[int, int]:
    """Two sizes.

    Raises
    ------
    DataError
        If the array is missing or holds anything else.
    """
    sizes = whole(arrays, name, origin)
    if len(sizes) != 2:
        raise DataError(
            f"{origin}: array {name} has {counted(len(sizes), 'size')}", hint="rows and columns"
        )
    shape = (int(sizes[0]), int(sizes[1]))
    check_shape(shape, origin)
    return shape
