"""Tensors from ``.npz`` files: dense arrays by name, or coordinates, values and shape.

An operand ``B`` is either an array ``B`` or the three arrays ``B_coords`` (nnz, rank),
``B_vals`` (nnz,) and ``B_shape`` (rank,).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from struct import error as struct_error
from tokenize import TokenError
from typing import Any, TypeAlias
from zlib import error as zlib_error

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program import regular_files
from fuseloom.program.limits import (
    FREE_ARRAYS,
    MAX_DIMENSION,
    MAX_RANK,
    MAX_RATIO,
    MAX_STORED_BYTES,
)
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]


def read_npz(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays by name.

    Raises
    ------
    DataError
        If the file is no ``.npz`` file, or unpacks to more than the limit.
    """
    try:
        with regular_files.opened(path) as file:
            if file.read(6) == b"\x93NUMPY":
                raise ValueError("it holds one array without a name")
            packed = os.fstat(file.fileno()).st_size
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            if size > MAX_STORED_BYTES:
                raise DataError(
                    f"{path} unpacks to {counted(size, 'byte')}, the limit is "
                    f"{MAX_STORED_BYTES:,} bytes",
                    hint="use smaller tensors",
                )
            if size > max(FREE_ARRAYS, MAX_RATIO * packed):
                raise DataError(
                    f"{path} has {counted(packed, 'byte')} and unpacks to {size:,}",
                    hint=f"a packed file may hold {MAX_RATIO} times its size; write it with "
                    "numpy.savez, which does not pack",
                )
            for entry in archive.infolist():
                _check_header(archive, entry)
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, TypeError, TokenError, struct_error, KeyError,
            MemoryError, zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError,
            SyntaxError, RuntimeError, zlib_error) as problem:  # fmt: skip
        what = problem.strerror if isinstance(problem, OSError) else problem
        raise DataError(
            f"cannot read tensors from {path}: {what}",
            hint="write them with numpy.savez(file, A=..., X=...)",
        ) from None


def _check_header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Refuse an array whose header claims more or less than its file holds, before loading it.

    Raises
    ------
    ValueError
        Names the array, and what its header says.
    """
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"{entry.filename} has a version of the format that holds no numbers")
        held = entry.file_size - file.tell()
    if dtype.hasobject or dtype.fields is not None:
        raise ValueError(f"{entry.filename} holds {dtype}, not numbers")
    if any(size < 0 for size in shape) or prod(shape) * dtype.itemsize != held:
        raise ValueError(
            f"the header of {entry.filename} claims shape {shape} of {dtype}, "
            f"the file holds {counted(held, 'byte')}"
        )


def operand_shapes(arrays: Arrays) -> dict[str, tuple[int, ...]]:
    """Shape of every operand of a file.

    Raises
    ------
    DataError
        If a ``_shape`` is no list of sizes.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for name, array in arrays.items():
        base, mark, part = name.rpartition("_")
        if mark and part == "shape" and f"{base}_vals" in arrays:
            shapes[base] = _sizes(name, array)
        elif not (mark and part in ("coords", "vals") and f"{base}_shape" in arrays):
            shapes[name] = array.shape
    return shapes


def store_operand(tensor: Tensor, arrays: Arrays, *, zeros: bool = True) -> StoredTensor:
    """One operand's data, stored as its declaration says.

    Parameters
    ----------
    zeros : bool
        Whether zeros given by coordinates stay stored.

    Raises
    ------
    DataError
        If it is missing or does not fit its declaration.
    """
    name = tensor.name
    if name in arrays:
        return StoredTensor.from_dense(tensor, arrays[name])
    missing = [n for n in (f"{name}_coords", f"{name}_vals", f"{name}_shape") if n not in arrays]
    if missing:
        raise DataError(
            f"the data of operand {name} are missing: there is no array {missing[-1]}",
            hint=f"give {name}_coords, {name}_vals and {name}_shape, or a dense array {name}",
        )
    shape = _sizes(f"{name}_shape", arrays[f"{name}_shape"])
    if shape != tensor.shape:
        raise DataError(
            f"operand {name} has shape {'x'.join(map(str, shape)) or 'scalar'}, "
            f"expected {'x'.join(map(str, tensor.shape)) or 'scalar'}"
        )
    coords, values = arrays[f"{name}_coords"], np.atleast_1d(arrays[f"{name}_vals"])
    if not zeros and values.dtype.kind in "biuf" and len(coords) == len(values):
        coords, values = coords[values != 0], values[values != 0]
    return StoredTensor.from_coo(tensor, coords, values)


def _sizes(name: str, array: npt.NDArray[Any]) -> tuple[int, ...]:
    if array.ndim != 1 or len(array) > MAX_RANK or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"array {name} is no shape", hint=f"a list of at most {MAX_RANK} integers")
    sizes = tuple(int(size) for size in array)
    if any(not 0 <= size <= MAX_DIMENSION for size in sizes):
        raise DataError(f"array {name} has a size outside 0..{MAX_DIMENSION:,}")
    return sizes
