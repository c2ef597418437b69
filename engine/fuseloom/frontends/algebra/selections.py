"""Selections: tensors of zeros and ones that say where the entries of an index lie.

Reading a table at places that an index tensor holds is a product with ``S[e,f,...,n]``, which has
a 1 where entry ``e,f,...`` of the index is ``n``.  It is data, made from the index.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program import StoredTensor, Tensor

Ints = npt.NDArray[np.int64]


def check_entries(entries: Ints, size: int, label: str, lowest: int = 0) -> None:
    """That entries of an index lie in a dimension.

    Parameters
    ----------
    size : int
        Of the dimension.
    label : str
        What the index is called.
    lowest : int
        The smallest entry that is allowed; ``-size`` where entries may count from the end.

    Raises
    ------
    DataError
        If one lies outside.
    """
    outside = entries[(entries < lowest) | (entries >= size)]
    if outside.size:
        raise DataError(
            f"index {label} has entries outside of a dimension of size {size}, such as "
            f"{int(outside.ravel()[0])}",
            hint=f"entries are from 0 to {size - 1}",
        )


def selection_of(tensor: Tensor, entries: Ints) -> StoredTensor:
    """The selection of entries, in the shape and format of a tensor.

    Parameters
    ----------
    tensor : Tensor
        Its shape is that of ``entries`` and the size of the dimension they lie in.

    Examples
    --------
    >>> from fuseloom.program import parse
    >>> tensor = parse("S: 2x3 csr\\nx[n] = S[e,n]").tensor("S")
    >>> selection_of(tensor, np.array([2, 0])).to_dense()
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    places = np.indices(entries.shape).reshape(entries.ndim, entries.size).T
    coords = np.concatenate([places, entries.reshape(-1, 1)], axis=1)
    return StoredTensor.from_coo(tensor, coords, np.ones(entries.size))
