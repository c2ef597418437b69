"""Tensors out of files that came from a page; nothing is believed, nothing is unpickled."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    CoordinateTensor,
    Duplicates,
    dense_tensor,
    read_npy,
    read_scipy_npz,
    read_tensor,
)
from fuseloom.program.arrays import operand_shapes, read_npz
from fuseloom.wording import counted
from fuseloom_workbench.input.kinds import FileKind
from fuseloom_workbench.state.files import MOST_STORED

MOST_TENSORS = 64
"""Of an archive."""
MOST_UNPACKED = 256 << 20
"""Bytes of the arrays of an archive."""
FREE, RATIO = 32 << 20, 100
"""Bytes that an archive may unpack to in any case, or so many times what it has."""
MOST_RANK = 8


def tensors_of(path: Path, kind: FileKind, stem: str) -> dict[str, CoordinateTensor]:
    """Every tensor of a file, by name.

    Parameters
    ----------
    stem : str
        The file's name without its end: what a single tensor is called.

    Raises
    ------
    DataError
        If it breaks a rule of its format, or has more elements than a page may hold.
    """
    if kind is FileKind.NPY and path.suffix == ".gz":  # of any packer
        return {stem: read_npy(path, most=8 * MOST_STORED)}
    if kind is FileKind.NPY:
        return {stem: _dense(_npy(path), str(path))}
    if kind is FileKind.NPZ:
        return _archive(path, stem)
    return {stem: _finite(read_tensor(path))}


def _finite(tensor: CoordinateTensor) -> CoordinateTensor:
    """A tensor that a program can take, before anybody is asked which input it is."""
    bad = np.flatnonzero(~np.isfinite(tensor.values))
    if len(bad):
        at = ", ".join(map(str, tensor.coords[bad[0]].tolist()))
        raise DataError(
            f"{tensor.origin}: {tensor.values[bad[0]]:g} at [{at}], counted from 0, is not finite",
            hint="remove NaN and infinite values",
        )
    return tensor


def _npy(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, TypeError, TokenError, SyntaxError, KeyError,
            RuntimeError, OverflowError, MemoryError) as problem:  # fmt: skip
        raise DataError(f"{path}: {str(problem)[:200]}", hint="write it with numpy.save") from None


def _archive(path: Path, stem: str) -> dict[str, CoordinateTensor]:
    check_unpacked(path)
    arrays = read_npz(path)
    if "format" in arrays and "shape" in arrays:
        return {stem: read_scipy_npz(path)}
    shapes = operand_shapes(arrays)
    if not shapes:
        raise DataError(f"{path} holds no arrays", hint="numpy.savez(file, A=..., X=...)")
    if len(shapes) > MOST_TENSORS:
        raise DataError(
            f"{path} holds {counted(len(shapes), 'tensor')}", hint=f"at most {MOST_TENSORS} at once"
        )
    return {name: _operand(name, arrays, str(path)) for name in shapes}


def check_unpacked(path: Path) -> None:
    """Refuse what unpacks to far more than it has, before anything is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as problem:
        raise DataError(f"{path}: {str(problem)[:200]}", hint="write it with numpy.savez") from None
    if total > MOST_UNPACKED or total > max(FREE, RATIO * path.stat().st_size):
        raise DataError(
            f"{path} unpacks to {counted(total, 'byte')}",
            hint=f"at most {MOST_UNPACKED:,}, and {RATIO} times what the file has; numpy.savez "
            "does not pack",
        )


def _operand(name: str, arrays: Mapping[str, Any], origin: str) -> CoordinateTensor:
    if name in arrays:
        return _dense(arrays[name], f"{origin}, array {name}")
    coords, values = arrays[f"{name}_coords"], np.atleast_1d(arrays[f"{name}_vals"])
    shape = tuple(int(size) for size in arrays[f"{name}_shape"])
    _check_numbers(values, f"{origin}, array {name}_vals")
    if (
        coords.ndim != 2
        or coords.shape != (len(values), len(shape))
        or coords.dtype.kind not in "iu"
    ):
        raise DataError(
            f"{origin}: {name}_coords is no table of integers with a row for each value",
            hint=f"shape ({len(values):,}, {len(shape)})",
        )
    if coords.dtype.kind == "u" and coords.size and int(coords.max()) >= 1 << 62:
        raise DataError(f"{origin}: a coordinate of {int(coords.max()):,}")
    return CoordinateTensor.of(
        coords.astype(np.int64), values.astype(np.float64), shape, f"{origin}, {name}",
        duplicates=Duplicates.REFUSE,
    )  # fmt: skip


def _dense(array: Any, origin: str) -> CoordinateTensor:
    """The non-zeros of a dense array."""
    _check_numbers(array, origin)
    if not 1 <= array.ndim <= MOST_RANK:
        raise DataError(
            f"{origin} has {counted(array.ndim, 'dimension')}",
            hint=f"a tensor has 1 to {MOST_RANK}",
        )
    if math.prod(array.shape) > 8 * MOST_STORED:
        raise DataError(
            f"{origin} has {counted(math.prod(array.shape), 'element')}",
            hint=f"at most {8 * MOST_STORED:,} dense ones; write it by coordinates",
        )
    return dense_tensor(array, origin)


def _check_numbers(array: Any, origin: str) -> None:
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"{origin} holds {array.dtype}, not real numbers", hint="convert it to float32"
        )
