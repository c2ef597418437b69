"""Tensors of float64 values, each with a bound on what rounding to float32 may have changed.

A tensor is held as a :class:`Grid` where its elements are all combinations of some coordinates per
dimension (dense tensors, products with dense matrices), and as a :class:`Listed` otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.program.distinct import distinct

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Box: TypeAlias = tuple[Ints | None, ...]
"""Per dimension the sorted coordinates that are wanted; None for all of them."""

KEYS = 2**62
TABLE = 2**24
"""Coordinates below this are looked up in a table, others by search."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Every combination of the coordinates of each dimension is stored.

    Attributes
    ----------
    axes : tuple of (n_d,) arrays
        Sorted coordinates per dimension.
    values, bounds : arrays, shape (n_0, n_1, ...)
        ``bounds`` is None where the values are exact.
    """

    axes: tuple[Ints, ...]
    values: Floats
    bounds: Floats | None = None

    @property
    def size(self) -> int:
        return int(self.values.size)

    def listed(self) -> Listed:
        """The same elements one by one."""
        mesh = np.meshgrid(*self.axes, indexing="ij")
        coords = np.stack([m.ravel() for m in mesh]) if mesh else np.zeros((0, 1), np.int64)
        bounds = None if self.bounds is None else self.bounds.ravel()
        return Listed(coords, self.values.ravel(), bounds)

    def transposed(self, order: Sequence[int]) -> Grid:
        """The dimensions in another order."""
        bounds = None if self.bounds is None else self.bounds.transpose(order)
        return Grid(tuple(self.axes[k] for k in order), self.values.transpose(order), bounds)

    def restricted(self, box: Box) -> Grid:
        """Return the elements in a box."""
        at = [inside(axis, only) for axis, only in zip(self.axes, box, strict=True)]
        if all(a is None for a in at):
            return self
        pick = np.ix_(
            *(np.arange(len(x)) if a is None else a for x, a in zip(self.axes, at, strict=True))
        )
        axes = tuple(x if a is None else x[a] for x, a in zip(self.axes, at, strict=True))
        return Grid(axes, self.values[pick], None if self.bounds is None else self.bounds[pick])


@dataclass(frozen=True, eq=False)
class Listed:
    """Elements one by one, in any order, each once.

    Attributes
    ----------
    coords : (rank, n) array
    values, bounds : (n,) arrays
        ``bounds`` is None where the values are exact.
    """

    coords: Ints
    values: Floats
    bounds: Floats | None = None

    @property
    def size(self) -> int:
        return len(self.values)

    def listed(self) -> Listed:
        return self

    def transposed(self, order: Sequence[int]) -> Listed:
        """The dimensions in another order."""
        return Listed(self.coords[list(order)], self.values, self.bounds)

    def restricted(self, box: Box) -> Listed:
        """Return the elements in a box."""
        keep: Bools | None = None
        for at, only in zip(self.coords, box, strict=True):
            if only is not None:
                here = member(at, only)
                keep = here if keep is None else keep & here
        return self if keep is None else self.taken(keep)

    def taken(self, which: Bools | Ints) -> Listed:
        """Some of the elements."""
        bounds = None if self.bounds is None else self.bounds[which]
        return Listed(self.coords[:, which], self.values[which], bounds)


Elements: TypeAlias = Grid | Listed


def member(at: Ints, only: Ints) -> Bools:
    """Which coordinates are among sorted ones."""
    if not len(only):
        return np.zeros(len(at), dtype=bool)
    top = int(only[-1]) + 1
    if top <= max(TABLE, 4 * len(at)):
        table = np.zeros(top + 1, dtype=bool)
        table[only] = True
        return table[np.minimum(at, top)]
    found: Bools = only[np.minimum(np.searchsorted(only, at), len(only) - 1)] == at
    return found


def inside(axis: Ints, only: Ints | None) -> Ints | None:
    """Positions of the wanted coordinates in an axis; None if that is all of it."""
    if only is None:
        return None
    keep = member(axis, only)
    return None if keep.all() else np.flatnonzero(keep)


def same_axis(a: Ints, b: Ints) -> bool:
    """Return whether two dimensions hold the same coordinates."""
    return a is b or (len(a) == len(b) and bool(np.array_equal(a, b)))


def expanded(begin: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Of runs that begin at ``begin``: the run that each element is of, and where it is."""
    run = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts)
    return run, np.repeat(begin, counts) + number


def positions(coords: Ints, axes: Sequence[Ints]) -> tuple[Ints, Bools]:
    """Return the positions of coordinates in a product of axes, and which are there at all."""
    at = np.zeros(coords.shape[1], dtype=np.int64)
    here = np.ones(coords.shape[1], dtype=bool)
    for column, axis in zip(coords, axes, strict=True):
        if len(axis) and axis[-1] - axis[0] == len(axis) - 1:  # without gaps
            place = column - axis[0] if axis[0] else column
            inside = (place >= 0) & (place < len(axis))
        else:
            place = np.searchsorted(axis, column)
            inside = place < len(axis)
            inside[inside] = axis[place[inside]] == column[inside]
        at *= len(axis)
        if inside.all():
            at += place
        else:
            here &= inside
            at += np.where(inside, place, 0)
    return at, here


def keys(*several: Ints) -> list[Ints]:
    """One number per coordinate tuple, equal for equal tuples of any of the (rank, n) arrays.

    Numbers are in the order of the tuples.
    """
    rank = len(several[0])
    if not rank:
        return [np.zeros(c.shape[1], dtype=np.int64) for c in several]
    tops = [
        max((int(c[d].max()) + 1 for c in several if c.shape[1]), default=1) for d in range(rank)
    ]
    columns: list[list[Any]] = [[c[d] for c in several] for d in range(rank)]
    if prod(tops) >= KEYS:
        for d in range(rank):
            names = distinct(np.concatenate(columns[d]))
            columns[d] = [np.searchsorted(names, c) for c in columns[d]]
            tops[d] = len(names) or 1
        if prod(tops) >= KEYS:
            raise OverflowError("too many combinations of coordinates to number them")
    made = []
    for n in range(len(several)):
        key = columns[0][n].astype(np.int64)
        for d in range(1, rank):
            key *= tops[d]
            key += columns[d][n]
        made.append(key)
    return made


def numbered(*several: Ints) -> tuple[list[Ints], int]:
    """A small number per coordinate tuple (see :func:`keys`), and how many numbers there are."""
    made = keys(*several)
    count = sum(len(k) for k in made)
    top = max((int(k.max()) + 1 for k in made if len(k)), default=0)
    if top <= 4 * count + 1024:
        return made, top
    names = distinct(np.concatenate(made))
    return [np.searchsorted(names, k) for k in made], len(names)
