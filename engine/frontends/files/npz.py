"""Sparse matrices as ``scipy.sparse.save_npz`` writes them, and their parts in other ``.npz``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import DataError
from engine.frontends.files.packed import size_of
from engine.frontends.files.tensor import CoordinateTensor, Duplicates, Floats, check_shape
from engine.program.arrays import read_npz
from engine.program.levels import Ints

Arrays = Mapping[str, npt.NDArray[Any]]
FORMATS = ("csr", "csc", "coo")


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
    """A matrix in CSR, CSC or COO; entries given twice are added, as in SciPy.

    Raises
    ------
    DataError
        If an array is missing, or the arrays do not make a matrix.
    """
    arrays = arrays_of(path)
    kind = arrays.get("format")
    name = "" if kind is None or kind.size != 1 else kind.reshape(-1)[0]
    text = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    if text not in FORMATS:
        raise DataError(
            f"{path} holds no matrix in {', '.join(FORMATS)}",
            hint="write it with scipy.sparse.save_npz(file, matrix.tocsr())",
        )
    shape = matrix_shape(arrays, "shape", str(path))
    values = numbers(arrays, "data", str(path))
    if text == "coo":
        columns = [whole(arrays, axis, str(path)) for axis in ("row", "col")]
        if any(len(column) != len(values) for column in columns):
            raise DataError(
                f"{path}: row, col and data differ in length", hint="one of each per element"
            )
        coords = np.stack(columns, axis=1)
        return CoordinateTensor.of(coords, values, shape, str(path), duplicates=Duplicates.SUM)
    return compressed(arrays, "", shape, str(path), by_column=text == "csc")


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
    minor = whole(arrays, f"{prefix}indices", origin)
    pointers = whole(arrays, f"{prefix}indptr", origin)
    major = shape[1] if by_column else shape[0]
    if len(pointers) != major + 1 or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise DataError(
            f"{origin}: {prefix}indptr has {len(pointers):,} entries and does not rise from 0",
            hint=f"one entry more than the {major:,} {'columns' if by_column else 'rows'}",
        )
    if pointers[-1] != len(minor) or len(minor) != len(values):
        raise DataError(
            f"{origin}: {prefix}indptr ends at {pointers[-1]:,}, there are {len(minor):,} indices "
            f"and {len(values):,} values",
            hint="the file may be cut short",
        )
    along = np.repeat(np.arange(major, dtype=np.int64), np.diff(pointers))
    pair = (minor, along) if by_column else (along, minor)
    coords = np.stack(pair, axis=1)
    return CoordinateTensor.of(coords, values, shape, origin, duplicates=Duplicates.SUM)


def matrix_shape(arrays: Arrays, name: str, origin: str) -> tuple[int, int]:
    """Two sizes.

    Raises
    ------
    DataError
        If the array is missing or holds anything else.
    """
    sizes = whole(arrays, name, origin)
    if len(sizes) != 2:
        raise DataError(f"{origin}: array {name} has {len(sizes)} sizes", hint="rows and columns")
    shape = (int(sizes[0]), int(sizes[1]))
    check_shape(shape, origin)
    return shape


def whole(arrays: Arrays, name: str, origin: str) -> Ints:
    """A one-dimensional array of whole numbers.

    Raises
    ------
    DataError
        If it is missing or something else.
    """
    array = _given(arrays, name, origin)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(
            f"{origin}: array {name} has {array.ndim} dimensions and dtype {array.dtype}",
            hint="a list of whole numbers is needed",
        )
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise DataError(f"{origin}: array {name} has a number beyond 63 bits", hint="check it")
    return array.astype(np.int64)


def numbers(arrays: Arrays, name: str, origin: str) -> Floats:
    """A one-dimensional array of real numbers.

    Raises
    ------
    DataError
        If it is missing or something else.
    """
    array = _given(arrays, name, origin)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise DataError(
            f"{origin}: array {name} has {array.ndim} dimensions and dtype {array.dtype}",
            hint="a list of real numbers is needed",
        )
    return array.astype(np.float64)


def _given(arrays: Arrays, name: str, origin: str) -> npt.NDArray[Any]:
    if name not in arrays:
        raise DataError(
            f"{origin} has no array {name!r}",
            hint=f"arrays: {', '.join(sorted(arrays)[:10]) or 'none'}",
        )
    return arrays[name]
