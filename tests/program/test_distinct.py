"""Distinct integers, whatever the order they come in."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program.distinct import distinct


@pytest.mark.parametrize(
    "given", [[], [3], [1, 2, 9], [2, 1], [5, 5, 5], [[4, 0], [0, 7]], [-1, 2**40, -1]]
)
def test_sorted_and_each_once(given: list[int]) -> None:
    array = np.array(given, dtype=np.int64)
    assert distinct(array).tolist() == np.unique(array).tolist()


def test_what_is_given_stays_as_it_is() -> None:
    array = np.array([1, 2, 3])
    distinct(array)[0] = 9
    assert array.tolist() == [1, 2, 3]


def test_random_numbers() -> None:
    rng = np.random.default_rng(0)
    for size in (10, 1_000):
        array = rng.integers(-size, size, size).astype(np.int32)
        np.testing.assert_array_equal(distinct(array), np.unique(array))
