"""Coordinates for a tensor of which only statistics are known."""

from __future__ import annotations

import zlib
from math import prod

import numpy as np

from fuseloom.dataflow.cost.exact.fiber_levels import Floats, Ints
from fuseloom.dataflow.cost.exact.patterns import Levels, UnknownError, all_of, levels_of
from fuseloom.dataflow.cost.statistics import ExpectedStatistics
from fuseloom.program.distinct import distinct

MOST = 2e7
"""Elements that are made up, at most."""
NEARLY = 0.999
"""A tensor of which so much is expected is taken as complete."""


def made_up(expected: ExpectedStatistics, name: str) -> Levels:
    """Levels with about the coordinates expected per level; a tensor's are the same every time.

    Levels are taken as independent, but for a tensor of which nearly everything is expected.

    Raises
    ------
    UnknownError
        If there would be too many.
    """
    sizes = [len(counts) for counts in expected.counts]
    total, places = expected.total, prod(sizes)
    if places and total >= NEARLY * places:
        return all_of(sizes)
    if total > MOST:
        raise UnknownError(name)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    # Coordinates that are drawn twice count once, so some more are drawn.
    drawn = total if total < 0.05 * places else -places * np.log1p(-total / places)
    if places >= 2**62:
        raise UnknownError(name)
    columns = tuple(_drawn(counts, round(drawn), random) for counts in expected.counts)
    keys = distinct(np.ravel_multi_index(columns, sizes))
    return levels_of([np.asarray(c) for c in np.unravel_index(keys, sizes)])


def _drawn(counts: Floats, number: int, random: np.random.Generator) -> Ints:
    """So many coordinates, each as often as is expected of it."""
    reached = np.cumsum(counts)
    if not len(reached) or reached[-1] <= 0:
        return np.zeros(number, dtype=np.int64)
    found = np.searchsorted(reached, random.random(number) * reached[-1], side="right")
    return np.asarray(np.minimum(found, len(counts) - 1), dtype=np.int64)
