"""Statistics of stored tensors: how long their fibers are, and where their coordinates lie.

What a traversal costs depends on more than the number of elements: entering every neighbour of
every node meets ``sum of deg²`` elements, not ``nnz * mean degree``.  Rules:
``docs/spec/program.md`` §8.

Tensors stored alike share their statistics, whatever their names and values: they are kept by a
hash of the levels, those used last up to a size.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.program.levels import CompressedLevel, Ints, Level, stored_shape
from fuseloom.program.storage import StoredTensor
from fuseloom.wording import counted, described

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LevelStatistics:
    """One level as scanners walk it.

    Attributes
    ----------
    size : int
        Coordinates that there can be.
    fibers : int
        One per position of the level outside.
    level : DenseLevel or CompressedLevel
        What the figures are read off, when first asked for.
    """

    size: int
    fibers: int
    level: Level

    @cached_property
    def lengths(self) -> Ints:
        """Coordinates stored in each fiber, shape (fibers,)."""
        if isinstance(self.level, CompressedLevel):
            return np.diff(self.level.seg)
        return np.broadcast_to(np.int64(self.size), (self.fibers,))

    @cached_property
    def histogram(self) -> Ints:
        """Fibers that hold each coordinate, shape (size,)."""
        if isinstance(self.level, CompressedLevel):
            return np.bincount(self.level.crd, minlength=self.size).astype(np.int64)
        return np.full(self.size, self.fibers, dtype=np.int64)

    @property
    def positions(self) -> int:
        """Coordinates stored in the level."""
        if isinstance(self.level, CompressedLevel):
            return len(self.level.crd)
        return self.size * self.fibers

    @property
    def mean(self) -> float:
        """Coordinates per fiber."""
        return self.positions / max(self.fibers, 1)

    @property
    def second_moment(self) -> float:
        """Mean of the squared lengths of fibers."""
        lengths = self.lengths.astype(np.float64)
        return float(lengths @ lengths) / max(self.fibers, 1)

    @property
    def longest(self) -> int:
        """Coordinates of the longest fiber."""
        return int(self.lengths.max()) if self.fibers else 0

    @property
    def empty(self) -> int:
        """Fibers without a coordinate."""
        return int(np.count_nonzero(self.lengths == 0))

    def summary(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "size": self.size,
            "fibers": self.fibers,
            "positions": self.positions,
            "mean": self.mean,
            "second_moment": self.second_moment,
            "longest": self.longest,
            "empty": self.empty,
        }


@dataclass(frozen=True, eq=False)
class TensorStatistics:
    """Statistics of every level of a stored tensor, outermost first.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> tensor = parse("A: 3x4 csr\\ny[i] = A[i,j]").tensor("A")
    >>> stored = StoredTensor.from_dense(tensor, [[1, 0, 1, 1], [0, 0, 0, 0], [0, 0, 2, 0]])
    >>> TensorStatistics.of(stored).levels[1].summary()["second_moment"]
    3.3333333333333335
    """

    levels: tuple[LevelStatistics, ...]

    def __repr__(self) -> str:
        return described(self, f"{counted(len(self.levels), 'level')}")

    @classmethod
    def of(cls, stored: StoredTensor) -> TensorStatistics:
        """Statistics of a tensor; each figure is computed when it is first asked for."""
        return KEPT.of(stored)

    @classmethod
    def _new(cls, stored: StoredTensor) -> TensorStatistics:
        made: list[LevelStatistics] = []
        fibers = 1
        for level, size in zip(stored.scanned, stored_shape(stored.tensor), strict=True):
            made.append(LevelStatistics(size, fibers, level))
            fibers = made[-1].positions
        return cls(tuple(made))


def content_hash(stored: StoredTensor) -> bytes:
    """Hash of which coordinates a tensor stores and how; its name and values do not count."""
    made = hashlib.blake2b(digest_size=16)
    for level, size in zip(stored.scanned, stored_shape(stored.tensor), strict=True):
        made.update(f"{type(level).__name__} {size};".encode())
        if isinstance(level, CompressedLevel):
            for array in (level.seg, level.crd):
                made.update(f"{array.dtype} {array.size}:".encode())
                made.update(np.ascontiguousarray(array).data)
    return made.digest()


class StatisticsCache:
    """Statistics by content, those used last up to so many bytes of levels."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.entries: OrderedDict[bytes, TensorStatistics] = OrderedDict()
        self.lock = threading.Lock()

    def of(self, stored: StoredTensor) -> TensorStatistics:
        key = content_hash(stored)
        with self.lock:
            if key in self.entries:
                self.entries.move_to_end(key)
                return self.entries[key]
            made = TensorStatistics._new(stored)
            self.entries[key] = made
            self.held += _bytes(made)
            while self.held > self.limit:
                _, gone = self.entries.popitem(last=False)
                self.held -= _bytes(gone)
            return made


def _bytes(statistics: TensorStatistics) -> int:
    """Return the approximate bytes of a tensor's levels and their figures."""
    return sum(16 * level.positions + 32 * level.fibers for level in statistics.levels) + 1000


KEPT = StatisticsCache(256 << 20)


def join_rate(a: LevelStatistics, b: LevelStatistics) -> float:
    """Share of the coordinates of fibers of ``a`` that a fiber of ``b`` has too, on average.

    Fibers are taken as independent given the coordinate, so hubs that both tensors share count.

    Raises
    ------
    ValueError
        If the levels are of different sizes, and so not of one index.
    """
    if a.size != b.size:
        raise ValueError(f"levels of sizes {a.size} and {b.size} are not of one index")
    if not a.positions or not b.fibers:
        return 0.0
    met = float(a.histogram.astype(np.float64) @ b.histogram.astype(np.float64))
    return met / (a.positions * b.fibers)


def visits(a: LevelStatistics, b: TensorStatistics) -> int:
    """Elements met where every coordinate of ``a`` enters the outer fiber of a matrix of its name.

    With ``a`` the inner level of a graph and ``b`` the same graph these are the paths of two
    edges: the work of a fully fused GCN per feature.

    Raises
    ------
    ValueError
        If ``b`` is no matrix, or its rows are not the coordinates of ``a``.
    """
    if len(b.levels) != 2 or b.levels[0].size != a.size:
        raise ValueError("the coordinates do not name rows of a matrix")
    outer, inner = b.levels
    lengths = np.zeros(a.size, dtype=np.int64)
    if isinstance(outer.level, CompressedLevel):
        lengths[outer.level.crd] = inner.lengths
    else:
        lengths[:] = inner.lengths
    return int(a.histogram @ lengths)
