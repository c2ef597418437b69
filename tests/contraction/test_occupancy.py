"""Counts of different coordinates."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from fuseloom.contraction.occupancy import Occupancy, occupancies


@pytest.mark.parametrize("shape", [(5,), (4, 6), (3, 4, 5), (2**20, 2**21, 2**22)])
def test_counts_are_those_of_sets(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    points = np.stack([rng.integers(0, n, 60) for n in shape], axis=1)
    found = Occupancy(points, shape)
    axes = range(len(shape))
    for modes in chain.from_iterable(combinations(axes, n) for n in range(1, len(shape) + 1)):
        assert found.count(set(modes)) == len({tuple(p) for p in points[:, modes].tolist()})


def test_a_full_tensor_is_not_listed() -> None:
    found = Occupancy.dense((1_000_000, 1_000_000))
    assert found.full
    assert found.count({0, 1}) == 10**12
    assert found.share({0}) == 1.0


def test_nothing_stored() -> None:
    found = occupancies({"A": np.zeros((3, 4)), "B": np.zeros((0, 2))})
    assert (found["A"].count({0}), found["A"].share({0, 1}), found["A"].full) == (0, 0.0, False)
    assert found["B"].share({0}) == 0.0
