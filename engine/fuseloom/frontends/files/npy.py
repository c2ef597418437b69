"""Arrays in ``.npy`` files, packed or not, and dense arrays as tensors; nothing is unpickled."""

from __future__ import annotations

from math import prod
from pathlib import Path
from struct import error as struct_error
from tokenize import TokenError
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_DENSE
from fuseloom.frontends.files.packed import Content, unpacked
from fuseloom.frontends.files.tensor import CoordinateTensor, check_shape, rounding
from fuseloom.wording import counted

MAGIC = b"\x93NUMPY"
HEADER = 12_000
"""Bytes that a header may take; NumPy itself refuses more than 10,000 characters."""
NUMBERS = "biuf"


def read_npy(path: str | Path, *, most: int = MAX_DENSE) -> CoordinateTensor:
    """The tensor of one array: what is 0 is absent.

    Truth values are 0 and 1.  Numbers of any size are read; what float32 does not hold exactly is
    counted in the notes.

    Parameters
    ----------
    most : int
        How many numbers it may hold.

    Raises
    ------
    DataError
        If it is no such file, holds no real numbers, or its header claims what it does not hold.
    """
    with unpacked(Path(path)) as content:
        array = _array(content, most)
    return dense_tensor(array, str(path))


def dense_tensor(array: npt.NDArray[Any], origin: str) -> CoordinateTensor:
    """The non-zeros of an array.

    Raises
    ------
    DataError
        Not real numbers, too many of them, or one that is not finite.
    """
    check_numbers(array.dtype, origin)
    check_shape(array.shape, origin)
    if array.size > MAX_DENSE:
        raise DataError(
            f"{origin} has {counted(array.size, 'number')}", hint=f"the limit is {MAX_DENSE:,}"
        )
    coords = np.argwhere(array).astype(np.int64)
    return exact_tensor(coords, array[array != 0], array.shape, origin)


def exact_tensor(
    coords: npt.NDArray[np.int64],
    values: npt.NDArray[Any],
    shape: tuple[int, ...],
    origin: str,
    **options: Any,
) -> CoordinateTensor:
    """A tensor of numbers of any type; see :meth:`CoordinateTensor.of`.

    Numbers beyond what float64 holds exactly are counted as rounded, too.
    """
    with np.errstate(over="ignore"):
        wide = values.astype(np.float64)
    made = CoordinateTensor.of(coords, wide, shape, origin, **options)
    lost = values.dtype.kind in "iuf" and values.dtype.itemsize >= 8 and values.dtype != np.float64
    if not lost or made.nnz != len(values):
        return made
    kept = tuple(note for note in made.notes if note not in rounding(made.values))
    return CoordinateTensor(made.coords, made.values, shape, origin, (*kept, *rounding(values)))


def check_numbers(dtype: Any, origin: str) -> None:
    """Refuse what holds no real numbers.

    Raises
    ------
    DataError
        Names the type, and what to write in its place.
    """
    if dtype.hasobject:
        raise DataError(
            f"{origin} holds Python objects, which are never unpickled",
            hint="write numbers: numpy.save(file, array.astype(numpy.float32))",
        )
    if dtype.kind == "c":
        raise DataError(
            f"{origin} holds {dtype}, complex numbers", hint="write the real part: array.real"
        )
    if dtype.kind not in NUMBERS or dtype.subdtype is not None:
        raise DataError(
            f"{origin} holds {dtype}, not real numbers",
            hint="convert it: array.astype(numpy.float32)",
        )


def _array(content: Content, most: int) -> npt.NDArray[Any]:
    """The array, whose bytes are counted before an array is made of them."""
    path = content.path
    start = content.start(len(MAGIC))
    if start != MAGIC:
        raise DataError(f"{path} is no array of NumPy", hint="write it with numpy.save")
    file = cast(Any, content)
    try:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version[0]} of the format holds no numbers")
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read(file)
    except (ValueError, TypeError, KeyError, SyntaxError, TokenError, EOFError, RecursionError,
            MemoryError, OverflowError, struct_error) as problem:  # fmt: skip
        raise DataError(
            f"the header of {path} is damaged: {str(problem)[:150]}",
            hint="write it with numpy.save",
        ) from None
    check_numbers(dtype, str(path))
    check_shape(shape, str(path))
    size = prod(shape)
    if size > most:
        raise DataError(
            f"the header of {path} claims {counted(size, 'number')}",
            hint=f"the limit is {most:,}; write it by coordinates, as Matrix Market does",
        )
    held = content.read(size * dtype.itemsize + 1)
    if len(held) != size * dtype.itemsize:
        more = len(held) > size * dtype.itemsize
        raise DataError(
            f"the header of {path} claims shape {shape} of {dtype}, the file holds "
            f"{'more' if more else f'{len(held):,} bytes'}",
            hint="the file may be cut short or damaged",
        )
    flat = np.frombuffer(held, dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C")
