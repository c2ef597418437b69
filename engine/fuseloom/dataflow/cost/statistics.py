"""Statistics of tensors: how many coordinates a traversal meets, given where it enters.

A traversal is described by weights: how often each position of a level is expected to be
entered.  For stored tensors the answer is exact; for tensors that a region has yet to compute
it follows from the coordinates expected per level.  Rules: ``docs/spec/estimate.md`` §6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.cost.exact.patterns import FullLevel, Levels
from fuseloom.program.levels import CompressedLevel, stored_shape
from fuseloom.program.statistics import TensorStatistics
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Entered:
    """One level as a traversal meets it.

    Attributes
    ----------
    counts : array, one per coordinate of the index
        How often each coordinate is expected.
    weights : array, one per position of the level
        How often each position is expected.
    """

    counts: Floats
    weights: Floats


class Statistics(Protocol):
    """The statistics of a tensor that the estimate uses."""

    def enter(self, level: int, parents: Floats) -> Entered:
        """Traverse a level, whose parent positions are entered ``parents`` times each."""

    def coordinates(self, level: int) -> npt.NDArray[Any]:
        """The coordinate stored at each position of a level."""


class MeasuredStatistics:
    """Statistics of a stored tensor, read off its levels."""

    def __init__(self, tensor: StoredTensor) -> None:
        self.levels = TensorStatistics.of(tensor).levels

    def enter(self, level: int, parents: Floats) -> Entered:
        stored = self.levels[level]
        if not isinstance(stored.level, CompressedLevel):
            everywhere = np.full(stored.size, float(parents.sum()))
            return Entered(everywhere, np.repeat(parents, stored.size))
        weights = np.repeat(parents, stored.lengths)
        counts = np.bincount(stored.level.crd, weights, minlength=stored.size)
        return Entered(counts.astype(np.float64), weights)

    def coordinates(self, level: int) -> npt.NDArray[Any]:
        stored = self.levels[level]
        if not isinstance(stored.level, CompressedLevel):
            return np.tile(np.arange(stored.size), stored.fibers)
        return stored.level.crd


@dataclass(frozen=True)
class ExpectedStatistics:
    """Statistics of a tensor that a region is expected to write.

    Levels are taken as independent given their counts, so a position is a coordinate.

    Attributes
    ----------
    counts : tuple of arrays
        Per level, how often each coordinate is expected in the whole tensor.
    """

    counts: tuple[Floats, ...]

    @classmethod
    def uniform(cls, tensor: Tensor, total: float) -> ExpectedStatistics:
        """So many elements spread evenly over a tensor's places (``docs/spec/estimate.md`` §6).

        A block is stored where it has an element.
        """
        sizes = stored_shape(tensor)
        block = prod(tensor.format.tile)
        density = min(1.0, total / max(prod(tensor.shape), 1))
        counts = []
        for level in range(len(sizes)):
            inside = prod(sizes[level + 1 :]) * block
            kept = 1.0 if density == 1.0 else -float(np.expm1(inside * np.log1p(-density)))
            stored = prod(sizes[: level + 1]) * kept
            counts.append(np.full(sizes[level], stored / sizes[level]))
        return cls(tuple(counts))

    @classmethod
    def counted(cls, levels: Levels, sizes: Sequence[int]) -> ExpectedStatistics:
        """Return the statistics of known levels, without a list of those that are full.

        Parameters
        ----------
        sizes : sequence of int
            Coordinates that there are, per level.
        """
        counts = []
        for level, size in zip(levels, sizes, strict=True):
            if isinstance(level, FullLevel):
                counts.append(np.full(size, float(level.fibers)))
            else:
                counts.append(np.bincount(level[1], minlength=size).astype(np.float64))
        return cls(tuple(counts))

    def permuted(self, levels: Sequence[int]) -> ExpectedStatistics:
        """The same elements with the levels in another order.

        How often a coordinate begins a fiber depends on what is outside it, so the counts are made
        anew, from how the elements spread over the coordinates of each level.
        """
        total, outside = self.total, 1.0
        counts: list[Floats] = []
        for k in levels:
            share = self.counts[k] / max(float(self.counts[k].sum()), 1e-300)
            inside = total / max(outside, 1e-300)  # elements under each place so far
            counts.append(outside * -np.expm1(-inside * share))
            outside = float(counts[-1].sum())
        if counts:  # the innermost level has every element
            counts[-1] *= total / max(outside, 1e-300)
        return ExpectedStatistics(tuple(counts))

    @property
    def total(self) -> float:
        """Positions (elements, or blocks) expected in the whole tensor."""
        return float(self.counts[-1].sum()) if self.counts else 1.0

    def enter(self, level: int, parents: Floats) -> Entered:
        above = 1.0 if level == 0 else float(self.counts[level - 1].sum())
        share = float(parents.sum()) / above if above else 0.0
        counts = self.counts[level] * share
        return Entered(counts, counts)

    def coordinates(self, level: int) -> npt.NDArray[Any]:
        return np.arange(len(self.counts[level]))
