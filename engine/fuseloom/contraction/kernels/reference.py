"""The reference result of a network, computed densely if it is small, else pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.contraction.kernels.operands import Elements, Floats, Ints
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import LimitError
from fuseloom.program import Access
from fuseloom.wording import counted

DENSE = 2**22
"""Steps of a contraction up to which NumPy's einsum computes it."""
MOST_PRODUCTS = 2**29
"""Products of two numbers that one contraction of sparse tensors may take."""


@dataclass(frozen=True, eq=False)
class _Sparse:
    """Elements of a tensor, by indices of the network."""

    indices: tuple[str, ...]
    coords: Ints
    values: Floats

    def columns(self, wanted: Sequence[str]) -> Ints:
        return self.coords[:, [self.indices.index(x) for x in wanted]]


def evaluate(tree: ContractionTree, data: Mapping[str, Elements], sizes: bool = False) -> Floats:
    """The result of a network, dense, its dimensions as the tree has them.

    Parameters
    ----------
    sizes : bool
        Of absolute values: the sum of the absolute products of each element, by which errors of
        rounding are measured.

    Raises
    ------
    LimitError
        If it takes far too many products.

    Examples
    --------
    >>> from fuseloom.contraction.kernels.operands import elements_of
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,j->i", {"i": 2, "j": 2}))
    >>> given = {"A": np.eye(2), "B": np.array([3.0, -4.0])}
    >>> data = {n: elements_of(tree.program.tensor(n), a) for n, a in given.items()}
    >>> evaluate(tree, data), evaluate(tree, data, sizes=True)
    (array([ 3., -4.]), array([3., 4.]))
    """
    steps = (prod(tree.extents[x] for x in c.indices) for c in tree.contractions)
    values = {name: abs(e.values) if sizes else e.values for name, e in data.items()}
    with np.errstate(over="ignore", invalid="ignore"):
        if max(steps) <= DENSE:
            return _dense(tree, data, values)
        return _pairwise(tree, data, values)


def _dense(
    tree: ContractionTree, data: Mapping[str, Elements], values: Mapping[str, Floats]
) -> Floats:
    einsum: Any = np.einsum  # whose types know no lists of indices
    held: dict[str, Floats] = {}
    for name, elements in data.items():
        held[name] = elements.to_dense(values[name])
    for c in tree.contractions:
        numbers = {x: n for n, x in enumerate(c.indices)}
        given: list[Any] = []
        for access in c.operands:
            given += [held[access.tensor], [numbers[x] for x in access.indices]]
        held[c.name] = np.asarray(einsum(*given, [numbers[x] for x in c.out.indices]))
    return held[tree.result.tensor]


def _pairwise(
    tree: ContractionTree, data: Mapping[str, Elements], values: Mapping[str, Floats]
) -> Floats:
    held: dict[str, _Sparse] = {}
    for c in tree.contractions:
        operands = [
            _Sparse(a.indices, held[a.tensor].coords, held[a.tensor].values)
            if a.tensor in held
            else _Sparse(a.indices, data[a.tensor].coords, values[a.tensor])
            for a in c.operands
        ]
        held[c.name] = _contracted(c.out, operands, tree.extents)
    made = held[tree.result.tensor]
    if not tree.result.indices:
        return np.array(made.values.sum())
    result = np.zeros([tree.extents[x] for x in tree.result.indices])
    result[tuple(made.columns(tree.result.indices).T)] = made.values
    return result


def _contracted(out: Access, operands: Sequence[_Sparse], extents: Mapping[str, int]) -> _Sparse:
    """One contraction, as a product of two matrices that scipy multiplies.

    Rows are what the result has of the left operand, columns what it has of the right one alone.
    """
    left = operands[0]
    one = _Sparse((), np.zeros((1, 0), dtype=np.int64), np.ones(1))
    right = operands[1] if len(operands) > 1 else one
    shared = [x for x in left.indices if x in right.indices]
    rows = [x for x in left.indices if x in out.indices]
    columns = [x for x in right.indices if x in out.indices and x not in left.indices]
    both = np.concatenate([left.columns(shared), right.columns(shared)])
    middles, middle = _numbered(both, [extents[x] for x in shared])
    row_of, row = _numbered(left.columns(rows), [extents[x] for x in rows])
    column_of, column = _numbered(right.columns(columns), [extents[x] for x in columns])
    count, split = len(middles), len(left.values)
    products = np.dot(
        np.bincount(middle[:split], minlength=count).astype(float),
        np.bincount(middle[split:], minlength=count).astype(float),
    )
    if products > MOST_PRODUCTS:
        raise LimitError(
            f"{out} takes {counted(int(products), 'product')}, and is checked up to "
            f"{MOST_PRODUCTS:,}",
            hint="check and measure the network on smaller data",
        )
    first = scipy.sparse.csr_array((left.values, (row, middle[:split])), shape=(len(row_of), count))
    second = scipy.sparse.csr_array(
        (right.values, (middle[split:], column)), shape=(count, len(column_of))
    )
    product = (first @ second).tocoo()
    at_row, at_column = product.coords
    coords = np.concatenate([row_of[at_row], column_of[at_column]], axis=1)
    return _Sparse((*rows, *columns), coords, product.data)


def _numbered(coords: Ints, extents: Sequence[int]) -> tuple[Ints, Ints]:
    """The different rows of coordinates, and which of them each row is."""
    if not extents:
        return np.zeros((1, 0), dtype=np.int64), np.zeros(len(coords), dtype=np.int64)
    found: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    if prod(extents) < 2**63:
        keys = np.ravel_multi_index(tuple(coords.T), tuple(extents))
        different, which = np.unique(keys, return_inverse=True)
        found = np.stack(np.unravel_index(different, tuple(extents)), axis=1), which
    else:
        rows, which = np.unique(coords, axis=0, return_inverse=True)
        found = rows, which.reshape(-1)
    return found
