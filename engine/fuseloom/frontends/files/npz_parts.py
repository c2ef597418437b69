"""Arrays of ``.npz`` archives by name, each checked when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.npy import NUMBERS
from fuseloom.program.levels import Ints
from fuseloom.wording import counted

Arrays = Mapping[str, npt.NDArray[Any]]


def pairs(
    arrays: Arrays,
    prefix: str,
    shape: tuple[int, int],
    values: int,
    origin: str,
    *,
    by_column: bool,
) -> Ints:
    """Rows and columns of what pointers and indices name, shape (values, 2).

    Raises
    ------
    DataError
        If they do not make a compressed matrix of so many values.
    """
    minor = whole(arrays, f"{prefix}indices", origin)
    pointers = whole(arrays, f"{prefix}indptr", origin)
    major = shape[1] if by_column else shape[0]
    if len(pointers) != major + 1 or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise DataError(
            f"{origin}: {prefix}indptr has {counted(len(pointers), 'entry', 'entries')} and does "
            "not rise from 0",
            hint=f"one entry more than the {major:,} {'columns' if by_column else 'rows'}",
        )
    if pointers[-1] != len(minor) or len(minor) != values:
        raise DataError(
            f"{origin}: {prefix}indptr ends at {pointers[-1]:,}, the file has "
            f"{counted(len(minor), 'index', 'indices')} and {counted(values, 'value')}",
            hint="the file may be cut short",
        )
    along = np.repeat(np.arange(major, dtype=np.int64), np.diff(pointers))
    return np.stack((minor, along) if by_column else (along, minor), axis=1)


def whole(arrays: Arrays, name: str, origin: str) -> Ints:
    """A one-dimensional array of integers.

    Raises
    ------
    DataError
        If it is missing or something else.
    """
    array = given(arrays, name, origin)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(
            f"{origin}: array {name} has {counted(array.ndim, 'dimension')} and dtype "
            f"{array.dtype}",
            hint="a list of integers is needed",
        )
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise DataError(f"{origin}: array {name} has a number beyond 63 bits", hint="check it")
    return array.astype(np.int64)


def numbers(arrays: Arrays, name: str, origin: str, rank: int = 1) -> npt.NDArray[Any]:
    """An array of real numbers of some rank, in its own type.

    Raises
    ------
    DataError
        If it is missing or something else.
    """
    array = given(arrays, name, origin)
    if array.ndim != rank or array.dtype.kind not in NUMBERS:
        what = "a list" if rank == 1 else f"an array of rank {rank}"
        raise DataError(
            f"{origin}: array {name} has {counted(array.ndim, 'dimension')} and dtype "
            f"{array.dtype}",
            hint=f"{what} of real numbers is needed",
        )
    return array


def given(arrays: Arrays, name: str, origin: str) -> npt.NDArray[Any]:
    """An array by name.

    Raises
    ------
    DataError
        If it is missing.
    """
    if name not in arrays:
        raise DataError(
            f"{origin} has no array {name!r}",
            hint=f"arrays: {', '.join(sorted(arrays)[:10]) or 'none'}",
        )
    return arrays[name]
