"""The number of distinct coordinates of a tensor in some modes: the statistics of its levels.

The positions of a compressed level are the different coordinates in the modes down to it, whatever
the order of these; so counts per set of modes serve every layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from fuseloom.program import LevelFormat

Ints = npt.NDArray[np.int64]


class Occupancy:
    """Counts of different coordinates, per set of modes.

    Parameters
    ----------
    coordinates : array of shape (elements, rank)
        Those of the stored elements.
    shape : sequence of int

    Examples
    --------
    >>> found = Occupancy(np.array([[0, 1], [0, 2], [3, 1]]), (4, 5))
    >>> found.count({0}), found.count({1}), found.count({0, 1})
    (2, 2, 3)
    >>> found.share({0})
    0.5
    """

    def __init__(self, coordinates: Ints, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        given = np.asarray(coordinates, dtype=np.int64)
        self._coordinates = given.reshape(len(given), len(self.shape))
        self._full = False
        self._known: dict[frozenset[int], int] = {frozenset(): min(1, len(self._coordinates))}

    @classmethod
    def dense(cls, shape: Sequence[int]) -> Occupancy:
        """Of a tensor that has every element, without listing them."""
        made = cls(np.empty((0, len(shape)), dtype=np.int64), shape)
        made._full = True
        return made

    @property
    def full(self) -> bool:
        """True if every element is stored."""
        return self._full

    def count(self, modes: set[int] | frozenset[int]) -> int:
        """Different coordinates in these modes."""
        chosen = frozenset(modes)
        if self.full:
            return prod(self.shape[m] for m in chosen)
        if chosen not in self._known:
            key = np.zeros(len(self._coordinates), dtype=np.int64)
            for m in sorted(chosen):
                # Keys stay small: as many as there are elements at most, times one more size.
                key = np.unique(key, return_inverse=True)[1] * self.shape[m]
                key += self._coordinates[:, m]
            self._known[chosen] = len(np.unique(key))
        return self._known[chosen]

    def share(self, modes: set[int] | frozenset[int]) -> float:
        """Which part of all coordinates in these modes there is."""
        every = prod(self.shape[m] for m in modes)
        return self.count(modes) / every if every else 0.0


def suitable_levels(held: Mapping[str, Occupancy]) -> dict[str, tuple[LevelFormat, ...]]:
    """Per tensor the levels of a kernel that suit what it holds, outermost first.

    All dense where every element is there.  Else compressed, and the outermost dense where, in
    any order of the modes, that takes no more room than the elements do.

    Examples
    --------
    >>> for name, levels in suitable_levels(occupancies({"A": np.eye(3)})).items():
    ...     print(name, *(level.value for level in levels))
    A dense compressed
    """
    found = {}
    for name, tensor in held.items():
        rank = len(tensor.shape)
        kinds = [LevelFormat.DENSE if tensor.full else LevelFormat.COMPRESSED] * rank
        if rank > 1 and max(tensor.shape) <= tensor.count(set(range(rank))):
            kinds[0] = LevelFormat.DENSE
        found[name] = tuple(kinds)
    return found


def occupancies(data: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, Occupancy]:
    """Those of dense arrays' elements that are not 0; full arrays are told as such.

    Examples
    --------
    >>> found = occupancies({"A": np.eye(3), "B": np.ones((3, 2))})
    >>> found["A"].count({0, 1}), found["B"].full
    (3, True)
    """
    found = {}
    for name, array in data.items():
        there = np.argwhere(array)
        full = len(there) == array.size
        found[name] = Occupancy.dense(array.shape) if full else Occupancy(there, array.shape)
    return found
