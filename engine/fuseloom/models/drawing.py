"""Random numbers for tensors, drawn piece by piece: little more is held than they themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.program import StoredTensor, Tensor
from fuseloom.program.limits import MAX_REFERENCE_ELEMENTS
from fuseloom.wording import counted

Floats = npt.NDArray[np.float32]

PIECE = 2**22
"""Numbers drawn at once."""
MOST_MADE_UP = 2**29
"""Elements of all tensors of a model that are made up, 2 GiB in float32."""


def check_made_up(tensors: Iterable[Tensor], most: int = MOST_MADE_UP) -> None:
    """That so many elements can be made up, before any are.

    Parameters
    ----------
    most : int
        Elements of all of them together; above the default, of each of them, too.

    Raises
    ------
    DataError
        If a tensor has more than the dense reference could check, or all have too many.
    """
    each = MAX_REFERENCE_ELEMENTS if most <= MOST_MADE_UP else most
    total = 0
    for tensor in tensors:
        elements = prod(tensor.shape)
        if elements > each:
            raise DataError(
                f"{tensor.name} has {counted(elements, 'element')}, too many to make up at random "
                f"(limit {each:,})",
                hint="give the tensors' data, or declare smaller dimensions",
            )
        total += elements
    if total > most:
        raise DataError(
            f"the inputs have {counted(total, 'element')}, too many to make up at random (limit "
            f"{most:,})",
            hint="give the tensors' data, or declare smaller dimensions",
        )


def _pieces(size: int) -> Iterator[slice]:
    return (slice(k, min(k + PIECE, size)) for k in range(0, size, PIECE))


def normal(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Normal numbers, those of ``rng.standard_normal(shape)`` in float32."""
    made = np.empty(prod(shape), dtype=np.float32)
    for piece in _pieces(made.size):
        made[piece] = rng.standard_normal(piece.stop - piece.start)
    return made.reshape(shape)


def thin(array: Floats, density: float, rng: np.random.Generator) -> None:
    """Set elements to 0, each with probability ``1 - density``, those of one call of the rng."""
    flat = array.reshape(-1)
    for piece in _pieces(flat.size):
        flat[piece] *= rng.random(piece.stop - piece.start) < density


def largest(array: Floats, count: int) -> None:
    """Set all but so many elements to 0; those with the largest magnitudes stay.

    Of equal magnitudes the first are set to 0.
    """
    flat = array.reshape(-1)
    dropped = flat.size - count
    if dropped <= 0:
        return
    if not count:
        flat[:] = 0.0
        return
    magnitude = np.abs(flat)
    magnitude.partition(dropped)
    limit = magnitude[dropped]
    del magnitude
    missing = dropped
    for piece in _pieces(flat.size):
        below = np.abs(flat[piece]) < limit
        missing -= int(below.sum())
        flat[piece][below] = 0.0
    for piece in _pieces(flat.size):
        if missing <= 0:
            return
        equal = np.flatnonzero(np.abs(flat[piece]) == limit)[:missing]
        flat[piece][equal] = 0.0
        missing -= len(equal)


def stored(tensor: Tensor, array: npt.NDArray[Any]) -> StoredTensor:
    """As :meth:`StoredTensor.from_dense`; a large sparse matrix takes a fraction of the memory."""
    if tensor.rank != 2 or array.size <= PIECE or tensor.format.all_dense or tensor.format.blocked:
        return StoredTensor.from_dense(tensor, array)
    rows, columns = array.shape
    narrow = np.asarray(array, dtype=np.float32)
    counts = np.count_nonzero(narrow, axis=1)
    start = np.concatenate([[0], np.cumsum(counts)])
    index = np.int32 if start[-1] < 2**31 else np.int64
    crd = np.empty(start[-1], dtype=index)
    values = np.empty(start[-1], dtype=np.float32)
    step = max(PIECE // columns, 1)
    for row in range(0, rows, step):
        some = narrow[row : row + step]
        where = slice(start[row], start[min(row + step, rows)])
        crd[where] = some.nonzero()[1]
        values[where] = some[some != 0]
    matrix = scipy.sparse.csr_array((values, crd, start.astype(index)), shape=array.shape)
    matrix.has_canonical_format = True
    return StoredTensor.from_scipy(tensor, matrix)
