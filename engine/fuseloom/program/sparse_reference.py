"""The sparse part of the dense reference: large inputs, and their products with dense matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program.functions import Op
from fuseloom.program.late import scipy_sparse
from fuseloom.program.limits import MAX_REFERENCE_ELEMENTS
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Access, Statement
from fuseloom.wording import counted

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SPARSE = 8
"""A matrix counts as sparse if it has so many elements for each one it stores: below that the
products of dense matrices are faster."""


@dataclass(frozen=True, eq=False)
class Masked:
    """Values in logical order, and which of them are present; absent values are 0."""

    values: Floats
    present: Bools

    def dense(self) -> Floats:
        """Values where present, else 0."""
        return np.where(self.present, self.values, 0.0)


class Evaluated(Mapping[str, Masked]):
    """Tensors by name; an input is spread out when it is first asked for."""

    def __init__(self, stored: Mapping[str, StoredTensor]) -> None:
        self._stored = dict(stored)
        self._known: dict[str, Masked] = {}
        self._sparse: dict[str, tuple[Any, Any]] = {}

    def __getitem__(self, name: str) -> Masked:
        if name not in self._known:
            tensor = self._stored[name]
            check_space(f"tensor {name}", tensor.tensor.shape)
            self._known[name] = Masked(tensor.to_dense(), tensor.pattern())
        return self._known[name]

    def __setitem__(self, name: str, result: Masked) -> None:
        self._known[name] = result

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._stored, *self._known))

    def __len__(self) -> int:
        return len({*self._stored, *self._known})

    def matrix(self, name: str) -> tuple[Any, Any] | None:
        """Values (float64) and pattern (ones, float32) of an input that is a sparse matrix."""
        tensor = self._stored.get(name)
        if tensor is None or not is_sparse(tensor):
            return None
        if name not in self._sparse:
            coords, values = tensor.to_coo()
            at, shape = tuple(coords.T), tensor.tensor.shape
            ones = np.ones(len(values), dtype=np.float32)
            self._sparse[name] = (
                scipy_sparse.csr_array((values.astype(np.float64), at), shape=shape),
                scipy_sparse.csr_array((ones, at), shape=shape),
            )
        return self._sparse[name]


def is_sparse(tensor: StoredTensor) -> bool:
    """Return whether a stored tensor is a matrix worth multiplying in sparse form."""
    return tensor.tensor.rank == 2 and tensor.nnz * SPARSE <= prod(tensor.tensor.shape)


def spreads(s: Statement, stored: Mapping[str, StoredTensor]) -> set[str]:
    """The operands of a statement that it needs in dense form."""
    names = {access.tensor for access in s.operands}
    split = sparse_operand(s, stored)
    return names if split is None else {split[1].tensor}


def sparse_operand(
    s: Statement, stored: Mapping[str, StoredTensor]
) -> tuple[Access, Access] | None:
    """The sparse and the dense operand of ``T[i,p] = A[i,k] * X[k,p]``, in any orientation.

    None if the statement is no product of two different matrices, or neither is sparse.
    """
    if s.op is not Op.MUL or len(s.operands) != 2 or len(s.reduced) != 1:
        return None
    (summed,) = s.reduced
    first, second = s.operands
    shape = (len(first.indices), len(second.indices), len(s.out.indices))
    shared = set(first.indices) & set(second.indices)
    if shape != (2, 2, 2) or shared != {summed} or first.tensor == second.tensor:
        return None
    for sparse, dense in ((first, second), (second, first)):
        tensor = stored.get(sparse.tensor)
        if tensor is not None and is_sparse(tensor):
            return sparse, dense
    return None


def sparse_product(
    s: Statement, sparse: Access, dense: Access, matrix: tuple[Any, Any], operand: Masked
) -> Masked:
    """The product of a sparse matrix and a dense one; an element is present iff some product is.

    Parameters
    ----------
    matrix : (csr_array, csr_array)
        Values and pattern of the sparse operand.
    """
    (summed,) = s.reduced
    values, pattern = matrix
    if sparse.indices[0] == summed:
        values, pattern = values.T, pattern.T
    flip = dense.indices[1] == summed
    right = operand.dense().T if flip else operand.dense()
    there = operand.present.T if flip else operand.present
    product = np.asarray(values @ right)
    # Counts in float32 may be rounded but never become 0.
    present = np.asarray(pattern @ there.astype(np.float32)) > 0
    rows = next(x for x in sparse.indices if x != summed)
    if s.out.indices[0] != rows:
        product, present = product.T, present.T
    return Masked(product, present)


def check_space(what: str, shape: tuple[int, ...]) -> None:
    """Refuse to hold so many elements densely.

    Raises
    ------
    DataError
        More than the limit.
    """
    if prod(shape) > MAX_REFERENCE_ELEMENTS:
        raise DataError(
            f"{what} has {counted(prod(shape), 'element')}, the dense reference holds at most "
            f"{MAX_REFERENCE_ELEMENTS:,}",
            hint="check the result on a smaller instance of the program",
        )
