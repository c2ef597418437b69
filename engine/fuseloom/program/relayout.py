"""The work of memory between regions: reshaping a tensor (``docs/spec/program.md`` §6)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program.levels import Ints
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor
from fuseloom.wording import counted


def reshaped(given: StoredTensor, tensor: Tensor) -> StoredTensor:
    """The same elements, counted in row-major order, in another shape and format.

    Parameters
    ----------
    tensor : Tensor
        Declaration of the result, with as many places as ``given`` has.

    Raises
    ------
    DataError
        If the number of places differs, or the result is too large to be stored.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> program = parse("A: 2x3 csr\\nR: 6 csf\\nR[a] = reshape(A[i,j])")
    >>> stored = StoredTensor.from_dense(program.tensor("A"), [[0, 1, 0], [0, 0, 2]])
    >>> reshaped(stored, program.tensor("R")).to_coo()[0].tolist()
    [[1], [5]]
    """
    places = prod(given.tensor.shape)
    if places != prod(tensor.shape):
        raise DataError(
            f"{given.tensor.name} has {counted(places, 'place')}, which do not fill {tensor.name}",
            hint="a reshape keeps the number of places",
        )
    coords, values = given.to_coo()
    moved = renumbered(coords, given.tensor.shape, tensor.shape)
    return StoredTensor.from_coo(tensor, moved, values, computed=True)


def renumbered(coords: Ints, before: Sequence[int], after: Sequence[int]) -> Ints:
    """Coordinates in one shape of the places that have these in another, counted row by row.

    Parameters
    ----------
    coords : (n, rank) array of int
    before, after : sequence of int
        Shapes of as many places, be they more than 64 bits can count.
    """
    kind: type = np.int64 if prod(before) <= np.iinfo(np.int64).max else object
    flat: npt.NDArray[Any] = np.zeros(len(coords), dtype=kind)
    for axis, size in enumerate(before):
        flat = flat * size + coords[:, axis]
    columns = []
    for size in reversed(after):
        flat, column = flat // size, flat % size
        columns.append(column.astype(np.int64))
    if not columns:
        return np.zeros((len(coords), 0), dtype=np.int64)
    return np.stack(columns[::-1], axis=1)
