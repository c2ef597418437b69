"""Grids, listed elements, and numbers for tuples of coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program.rounded.tensors import (
    Grid,
    Listed,
    keys,
    member,
    numbered,
    positions,
    same_axis,
)


def test_numbers_of_tuples_are_equal_and_ordered_as_the_tuples() -> None:
    rng = np.random.default_rng(1)
    for top in (3, 2**31 - 1):
        one, two = rng.integers(0, top, (4, 50)), rng.integers(0, top, (4, 60))
        two[:, :10] = one[:, :10]
        first, second = keys(one, two)
        assert np.array_equal(first[:10], second[:10])
        order = sorted(range(50), key=lambda k: tuple(one[:, k]))
        assert np.array_equal(first[order], np.sort(first))


def test_too_many_combinations_are_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(OverflowError, match="too many combinations"):
        keys(rng.integers(0, 2**31 - 1, (9, 200)))


def test_small_numbers_for_a_few_large_tuples() -> None:
    (some,), count = numbered(np.array([[7, 10**9, 7], [1, 2, 1]]))
    assert count <= 4 * 3 + 1024
    assert some[0] == some[2] != some[1]


def test_tuples_without_dimensions() -> None:
    (key,) = keys(np.zeros((0, 3), np.int64))
    assert key.tolist() == [0, 0, 0]


@pytest.mark.parametrize("top", [10, 10**9])
def test_membership(top: int) -> None:
    only = np.array([1, 5, top])
    assert member(np.array([0, 1, 5, 6, top, top + 1]), only).tolist() == [
        False, True, True, False, True, False,
    ]  # fmt: skip
    assert not member(np.array([0, 1]), only[:0]).any()


def test_positions_in_axes() -> None:
    coords = np.array([[0, 2, 2, 7], [1, 1, 3, 1]])
    at, here = positions(coords, [np.array([0, 2, 5]), np.arange(3)])
    assert here.tolist() == [True, True, False, False]
    assert at[here].tolist() == [1, 4]


def test_same_axes() -> None:
    axis = np.array([1, 4])
    assert same_axis(axis, np.array([1, 4]))
    assert not same_axis(axis, np.array([1, 5]))
    assert not same_axis(axis, np.array([1]))


def test_bounds_go_along() -> None:
    grid = Grid((np.arange(2), np.arange(2)), np.ones((2, 2)), np.array([[1.0, 2], [3, 4]]))
    assert grid.transposed([1, 0]).listed().bounds.tolist() == [1, 3, 2, 4]
    half = grid.restricted((np.array([1]), None))
    assert isinstance(half, Grid)
    assert half.bounds is not None
    assert half.bounds.tolist() == [[3, 4]]
    taken = Listed(np.array([[0, 1]]), np.ones(2), np.array([5.0, 6])).restricted((np.array([1]),))
    assert taken.bounds is not None
    assert taken.bounds.tolist() == [6]
