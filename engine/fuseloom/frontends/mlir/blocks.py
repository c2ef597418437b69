"""The elements that an encoding stores beside those that are not 0.

A level may hold a part of a dimension (``d0 floordiv 2``), or a sum of dimensions (``d0 - d1``).
Where such levels are dense behind compressed ones, memory holds whole blocks, or whole diagonals,
zeros included.  Programs store tensors by dimensions, so these zeros are elements to be given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.program import StoredTensor, Tensor
from fuseloom.program.late import is_scipy

MOST = 2**24
"""Elements of the largest tensor whose blocks are filled up."""
Ints: TypeAlias = npt.NDArray[np.int64]

Term: TypeAlias = int | str | tuple[str, "Term", "Term"]
"""A number, the name of a dimension, or an operation on two of these."""
OPERATIONS: Mapping[str, Callable[[Ints, Ints], Ints]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "floordiv": np.floor_divide,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": np.mod,
}


@dataclass(frozen=True)
class StoredBlocks:
    """Places that are stored together.

    Attributes
    ----------
    dims : tuple of str
        Names of the dimensions.
    levels : tuple of Term
        The levels up to the last one that is not dense: places that agree in them are stored
        together.
    """

    dims: tuple[str, ...]
    levels: tuple[Term, ...]

    def around(self, coords: Ints, shape: tuple[int, ...]) -> Ints:
        """Return all places that are stored if these are.

        Examples
        --------
        >>> blocks = StoredBlocks(("i", "j"), (("floordiv", "i", 2), ("floordiv", "j", 2)))
        >>> blocks.around(np.array([[0, 3]]), (4, 4)).tolist()
        [[0, 2], [0, 3], [1, 2], [1, 3]]
        """
        every = np.indices(shape).reshape(len(shape), -1).T
        together = self._keys(every)
        _, groups = np.unique(together, axis=0, return_inverse=True)
        at = np.ravel_multi_index(tuple(coords.T), shape) if len(coords) else np.zeros(0, np.int64)
        found: Ints = every[np.isin(groups.ravel(), groups.ravel()[at])]
        return found

    def _keys(self, coords: Ints) -> Ints:
        by_name = {name: coords[:, n] for n, name in enumerate(self.dims)}
        columns = [np.broadcast_to(_value(term, by_name), len(coords)) for term in self.levels]
        return np.stack(columns, axis=1) if columns else np.zeros((len(coords), 1), np.int64)


def _value(term: Term, dims: Mapping[str, Ints]) -> Ints:
    if isinstance(term, str):
        return dims[term]
    if isinstance(term, int):
        return np.asarray(term, dtype=np.int64)
    op, a, b = term
    with np.errstate(all="ignore"):
        return OPERATIONS[op](_value(a, dims), _value(b, dims))


def with_blocks(tensor: Tensor, given: Any, blocks: StoredBlocks) -> Any:
    """Data with the zeros that stand beside their elements in blocks.

    Parameters
    ----------
    given
        An array, a ``scipy.sparse`` array or a StoredTensor.  One of which a dense copy would be
        too large has the elements that it lists.

    Raises
    ------
    DataError
        Data that contradict the declaration.
    """
    if prod(tensor.shape) > MOST or tensor.format.all_dense:
        return given
    if isinstance(given, StoredTensor):
        stored = given
    elif is_scipy(given):
        stored = StoredTensor.from_scipy(tensor, given)
    else:
        stored = StoredTensor.from_dense(tensor, given)
    coords, values = stored.to_coo()
    places = blocks.around(np.asarray(coords, dtype=np.int64), tensor.shape)
    whole = np.zeros(tensor.shape, dtype=np.float32)
    whole[tuple(coords.T)] = values
    return StoredTensor.from_coo(tensor, places, whole[tuple(places.T)])


def levels_stored(dims: Sequence[str], levels: Sequence[tuple[Term, bool]]) -> StoredBlocks | None:
    """Return the blocks that the levels of an encoding store; None if it stores single elements.

    Parameters
    ----------
    levels : sequence of (Term, bool)
        What each level holds, outermost first, and whether it is dense.
    """
    last = max((n for n, (_, dense) in enumerate(levels) if not dense), default=-1)
    if last in (-1, len(levels) - 1):
        return None
    return StoredBlocks(tuple(dims), tuple(term for term, _ in levels[: last + 1]))
