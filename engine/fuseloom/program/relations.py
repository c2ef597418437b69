"""The relation between the indices of a made tensor: ``j = 2*i + k - 1``, or ``j = p[i]``.

A tensor that is made holds ones where its relation holds, and nothing elsewhere: its data follow
from its declaration.  A product with it reads another tensor at an affine index, a diagonal, or at
the entries of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from fuseloom.errors import ProgramError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.limits import MAX_DIMENSION, MAX_REFERENCE_ELEMENTS
from fuseloom.wording import counted

Ints = npt.NDArray[np.int64]
MAX_NUMBER = MAX_DIMENSION
"""The largest coefficient or offset: coordinates are 32-bit."""
MOST = MAX_REFERENCE_ELEMENTS // 8
"""Coordinates of a made tensor."""


@dataclass(frozen=True)
class Relation:
    """Which coordinate of one dimension goes with the coordinates of the others.

    Attributes
    ----------
    target : int
        The dimension that follows.
    terms : tuple of (int, int)
        A dimension and its coefficient, each dimension once, in order.
    offset : int
        What is added.
    entries : tuple of int, optional
        A list that the sum numbers; its entry is the coordinate.

    Where the sum leaves the list, or the dimension, there is no coordinate.

    Examples
    --------
    >>> Relation(1, ((0, 2),), -1).coordinates((3, 4))
    array([[1, 1],
           [2, 3]])
    >>> Relation(1, ((0, 1),), 0, (3, 0)).coordinates((2, 4))
    array([[0, 3],
           [1, 0]])
    """

    target: int
    terms: tuple[tuple[int, int], ...]
    offset: int = 0
    entries: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, coefficients: Sequence[int], offset: int = 0, entries: tuple[int, ...] | None = None
    ) -> Relation:
        """The last coordinate is a sum of those before it, times coefficients, and an offset.

        >>> Relation.of((2, 1), -1).text(("o", "k", "i"))
        'i = 2*o + k - 1'
        """
        return cls(len(coefficients), tuple(enumerate(coefficients)), offset, entries)

    def total(self, shape: tuple[int, ...]) -> bool:
        """Return whether there is a coordinate everywhere."""
        low, high = bounds([(c, shape[d]) for d, c in self.terms], self.offset)
        return low >= 0 and high < (shape[self.target] if self.entries is None else self.length)

    def format(self, shape: Sequence[int | None]) -> Format:
        """The format that a made tensor has unless its declaration says another.

        Where the last coordinate follows from the others everywhere, those are dense levels: fewer
        words are read.  Otherwise none is: the empty fibers of a dense one take cycles.

        Parameters
        ----------
        shape : sequence of int or None
            None for sizes that are not known yet, where there will be a coordinate everywhere.

        Examples
        --------
        >>> from fuseloom.program.formats import format_text
        >>> windows = Relation(2, ((0, 1), (1, 1)))
        >>> format_text(windows.format((3, 2, 4))), format_text(windows.format((4, 2, 4)))
        ('[dense, dense, compressed]', 'csf')
        """
        rank, sizes = len(shape), tuple(n for n in shape if n is not None)
        if self.target != rank - 1 or (len(sizes) == rank and not self.total(sizes)):
            return Format.compressed(rank)
        levels = (*(LevelFormat.DENSE,) * (rank - 1), LevelFormat.COMPRESSED)
        return Format(levels, tuple(range(rank)))

    @property
    def length(self) -> int:
        return len(self.entries or ())

    def elements(self, shape: tuple[int, ...]) -> int:
        """Return the most coordinates that there can be."""
        return prod(size for d, size in enumerate(shape) if d != self.target)

    def coordinates(self, shape: tuple[int, ...]) -> Ints:
        """All coordinates of a made tensor, shape (n, rank), in row-major order of the others."""
        others = [d for d in range(len(shape)) if d != self.target]
        sizes = [shape[d] for d in others]
        grid = np.indices(sizes, dtype=np.int64).reshape(len(others), prod(sizes))
        along = np.full(grid.shape[1], self.offset, dtype=np.int64)
        for d, coefficient in self.terms:
            along += coefficient * grid[others.index(d)]
        kept = along >= 0
        if self.entries is not None:
            kept &= along < self.length
            along = np.asarray(self.entries, dtype=np.int64)[np.where(kept, along, 0)]
        kept &= along < shape[self.target]
        found = np.insert(grid, self.target, along, axis=0)
        return np.ascontiguousarray(found[:, kept].T)

    def text(self, names: tuple[str, ...]) -> str:
        """``j = 2*i + k - 1`` with these names of its dimensions."""
        return f"{names[self.target]} = {self.right(names)}"

    def right(self, names: tuple[str, ...]) -> str:
        """Return the formula of the coordinate, with these names of dimensions."""
        made = affine_text([(c, names[d]) for d, c in self.terms], self.offset)
        if self.entries is None:
            return made
        return f"({', '.join(map(str, self.entries))})[{made}]"


def bounds(terms: list[tuple[int, int]], offset: int) -> tuple[int, int]:
    """The smallest and largest value of a sum of coefficients times indices of given sizes.

    >>> bounds([(2, 4), (-1, 3)], 5)
    (3, 11)
    """
    low = high = offset
    for coefficient, size in terms:
        reach = coefficient * (size - 1)
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high


def affine_text(terms: list[tuple[int, str]], offset: int) -> str:
    """A sum as the text language writes it.

    >>> affine_text([(1, "i"), (-2, "k")], -1)
    'i - 2*k - 1'
    """
    parts = [(c, name if abs(c) == 1 else f"{abs(c)}*{name}") for c, name in terms]
    if offset or not parts:
        parts.append((offset, str(abs(offset))))
    (sign, first), *rest = parts
    shown = ("-" if sign < 0 else "") + first
    return shown + "".join(f" {'-' if sign < 0 else '+'} {part}" for sign, part in rest)


def check_relation(name: str, relation: Relation, shape: tuple[int, ...]) -> None:
    """Refuse a relation that does not fit its tensor.

    Raises
    ------
    ProgramError
        A dimension that the tensor lacks or that is named twice, a number out of range, or an entry
        of the list outside the dimension.
    """
    named = [relation.target, *(d for d, _ in relation.terms)]
    if len(set(named)) < len(named) or not all(0 <= d < len(shape) for d in named):
        raise ProgramError(
            f"the dimensions {', '.join(map(str, named))} in what {name} holds are not different "
            f"ones of its {len(shape)}",
            hint="the index that follows is one, and the others say where it lies",
        )
    if relation.elements(shape) > MOST:
        raise ProgramError(
            f"{name} says where an index lies over "
            f"{counted(relation.elements(shape), 'coordinate')} of "
            f"others; the limit is {MOST:,}",
            hint="read the tensor in smaller parts",
        )
    numbers = [relation.offset, *(c for _, c in relation.terms)]
    if any(abs(n) > MAX_NUMBER for n in numbers) or not all(c for _, c in relation.terms):
        raise ProgramError(
            f"a number in what {name} holds is 0 or larger than {MAX_NUMBER:,}",
            hint="coordinates are 32-bit",
        )
    if relation.entries is None:
        return
    if not relation.entries:
        raise ProgramError(f"the list in what {name} holds is empty", hint="list at least one")
    size = shape[relation.target]
    for k, entry in enumerate(relation.entries):
        if not 0 <= entry < size:
            raise ProgramError(
                f"entry {k} of the list is {entry}, and the dimension that it numbers has {size:,}",
                hint=f"entries count from 0 to {size - 1:,}",
            )
