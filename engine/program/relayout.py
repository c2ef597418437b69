"""What memory does between regions: reshaping a tensor (``fusion.md`` §1.1 rule iv)."""

from __future__ import annotations

import numpy as np

from engine.errors import DataError
from engine.program.storage import StoredTensor
from engine.program.types import Tensor


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
    >>> from engine.program.parser import parse
    >>> program = parse("A: 2x3 csr\\nR: 6 csf\\nR[a] = reshape(A[i,j])")
    >>> stored = StoredTensor.from_dense(program.tensor("A"), [[0, 1, 0], [0, 0, 2]])
    >>> reshaped(stored, program.tensor("R")).to_coo()[0].tolist()
    [[1], [5]]
    """
    places = int(np.prod(given.tensor.shape, dtype=np.int64))
    if places != int(np.prod(tensor.shape, dtype=np.int64)):
        raise DataError(
            f"{given.tensor.name} has {places:,} places, which do not fill {tensor.name}",
            hint="a reshape keeps the number of places",
        )
    coords, values = given.to_coo()
    flat = np.zeros(len(values), dtype=np.int64)
    for axis, size in enumerate(given.tensor.shape):
        flat = flat * size + coords[:, axis]
    columns = []
    for size in reversed(tensor.shape):
        flat, column = np.divmod(flat, size)
        columns.append(column)
    shape = (len(values), tensor.rank)
    moved = np.stack(columns[::-1], axis=1) if columns else np.zeros(shape, dtype=np.int64)
    return StoredTensor.from_coo(tensor, moved, values, computed=True)
