"""Guard bands: copies of parts, and what is seen of what was done to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fuseloom.calls.guard_bands import BAND, GuardedPart, poison, same

DTYPES = ("f8", "f4", "c16", "i8", "u1", "i2", "?")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_part_is_copied_and_surrounded(dtype: str) -> None:
    values = np.arange(12).reshape(3, 4).astype(dtype)
    guarded = GuardedPart(values)
    assert np.array_equal(guarded.value, values)
    assert not np.shares_memory(guarded.value, values)
    buffer = guarded.value.base
    assert buffer.shape == (3 + 2 * BAND, 4 + 2 * BAND)
    assert np.array_equal(buffer[0, 0], poison(np.dtype(dtype)), equal_nan=True)
    assert guarded.is_unchanged()


@pytest.mark.parametrize("place", [(BAND - 1, BAND), (BAND, BAND + 4), (0, 0), (-1, -1)])
def test_every_write_beside_the_part_is_seen(place: tuple[int, int]) -> None:
    guarded = GuardedPart(np.zeros((3, 4)), fill=1.0)
    assert (guarded.value == 1.0).all()
    guarded.value[...] = 7.0
    assert guarded.has_intact_bands()
    assert not guarded.is_unchanged()
    guarded.value.base[place] = 7.0
    assert not guarded.has_intact_bands()


def test_writing_what_was_there_changes_nothing() -> None:
    guarded = GuardedPart(np.array([1.0, np.nan]))
    guarded.value[...] = [1.0, np.nan]
    assert guarded.is_unchanged()
    guarded.value[0] = np.nan
    assert not guarded.is_unchanged()


def test_lists_and_sparse_matrices_are_copied() -> None:
    values = [[1], [2]]
    guarded = GuardedPart(values)
    guarded.value[0].append(3)
    assert values == [[1], [2]]
    assert not guarded.is_unchanged()
    assert guarded.has_intact_bands()
    guarded.value.append(4)
    assert not guarded.has_intact_bands()
    sparse = GuardedPart(scipy.sparse.eye(3, format="csr"))
    assert sparse.is_unchanged()
    sparse.value.data[1] = 5
    assert not sparse.is_unchanged()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_two_values_of_outputs_differ(dtype: str) -> None:
    first, second = (np.full(1, poison(np.dtype(dtype), x), dtype) for x in (False, True))
    assert not same(first, second)


@pytest.mark.parametrize(
    ("left", "right", "tolerance", "equal"),
    [
        (np.array([1.0, np.inf]), np.array([1.0, np.inf]), 0.0, True),
        (np.array([1.0, np.inf]), np.array([1.0, -np.inf]), 1.0, False),
        (np.array([np.inf, 1.0]), np.array([2.0, 1.0]), 1e-3, False),
        (np.array([np.nan]), np.array([0.0]), 1e-3, False),
        (np.array([100.0, 1.0]), np.array([100.0, 1.0 + 5e-9]), 1e-10, True),
        (np.array([100.0, 1.0]), np.array([100.0, 1.0 + 5e-8]), 1e-10, False),
        (np.array([1.0]), np.array([1.0], np.float32), 0.0, False),
        (np.zeros(2), np.zeros((2, 1)), 0.0, False),
        (np.array([1 + 2j]), np.array([1 + 3j]), 0.0, False),
        (np.array([1 + 2j]), np.array([1 + 2j]), 0.0, True),
        (np.array([3, 4]), np.array([3, 5]), 0.5, False),
        (["a", np.zeros(2)], ["a", np.zeros(2)], 0.0, True),
        (["a"], ["a", "b"], 0.0, False),
        ([1.0], [1.0 + 1e-12], 1e-9, True),
        ("a", "b", 0.0, False),
    ],
)
def test_results_that_are_equal(left: Any, right: Any, tolerance: float, equal: bool) -> None:
    assert same(left, right, tolerance) is equal


def test_sparse_matrices_are_equal_by_what_they_store() -> None:
    eye = scipy.sparse.eye(3, format="csr")
    other = eye.copy()
    assert same(eye, other)
    other.indices[0] = 2
    assert not same(eye, other)
    assert not same(eye, scipy.sparse.eye(4, format="csr"))
