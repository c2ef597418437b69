"""Operands and partial products: what is summed, grouped and added."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program.rounded.budget import EvaluationBudget
from fuseloom.program.rounded.tensors import Grid, Listed
from fuseloom.program.rounded.terms import Factor, by_counting, groups, multiplied, plus, summed

ROOM = EvaluationBudget(1e9, 1e9)


def grid(values: np.ndarray) -> Grid:
    return Grid(tuple(map(np.arange, values.shape)), values)


def test_groups_of_no_dimension_are_one_or_none() -> None:
    for count in (0, 3):
        coords, which, made = groups(np.zeros((0, count), np.int64), False)
        assert coords.shape == (0, min(count, 1))
        assert which.tolist() == [0] * count
        assert made == min(count, 1)


def test_a_grid_and_a_list_are_summed_alike() -> None:
    values = np.arange(12.0).reshape(3, 4) - 5
    whole = summed(Factor(("i", "j"), grid(values)), {"i"}, ROOM)
    listed = summed(Factor(("i", "j"), grid(values)).listed(), {"i"}, ROOM)
    assert whole.indices == listed.indices == ("i",)
    assert whole.elements.values.tolist() == listed.elements.values.tolist()
    assert whole.magnitude.tolist() == listed.magnitude.tolist() == np.abs(values).sum(1).tolist()


def test_partial_sums_with_other_elements_are_united() -> None:
    a = Factor(("i",), Listed(np.array([[0, 2]]), np.array([1.0, 2.0])))
    b = Factor(("i",), Listed(np.array([[2, 3]]), np.array([-2.0, 5.0]), np.array([0.5, 0.25])))
    both = plus(a, b, ROOM)
    made = both.elements.listed()
    assert made.coords.tolist() == [[0, 2, 3]]
    assert made.values.tolist() == [1.0, 0.0, 5.0]
    assert both.magnitude.tolist() == [1.0, 4.0, 5.0]
    assert made.bounds is not None
    assert made.bounds.tolist() == [0.0, 0.5, 0.25]


def test_products_of_grids_and_lists_agree() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
    left, right = Factor(("i", "k"), grid(x)), Factor(("k", "j"), grid(y))
    for a in (left, left.listed()):
        for b in (right, right.listed()):
            made = multiplied(a, b, {"i", "j"}, ROOM).ordered(("i", "j")).listed()
            dense = np.zeros((3, 5))
            dense[tuple(made.elements.listed().coords)] = made.elements.values
            assert np.allclose(dense, x @ y)


@pytest.mark.parametrize("top", [5, 10**9])
def test_groups_are_the_distinct_tuples(top: int) -> None:
    rng = np.random.default_rng(top)
    coords = rng.integers(0, top, (2, 1))[:, [0, 0, 0]] - np.array([[0, 1, 0], [0, 0, 0]])
    coords = np.concatenate([np.abs(coords), rng.integers(0, 5, (2, 60))], axis=1)
    names, which, count = groups(coords, True)
    assert sorted(map(tuple, names.T.tolist())) == sorted(set(map(tuple, coords.T.tolist())))
    assert count == names.shape[1]
    assert (names[:, which] == coords).all()


def test_counting_sorts_stably() -> None:
    numbers = np.random.default_rng(1).integers(0, 7, 100)
    assert by_counting(numbers, 9).tolist() == np.argsort(numbers, kind="stable").tolist()


@pytest.mark.parametrize("order", ["rows", "columns", "none"])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_list_in_any_order_times_a_grid_with_gaps(order: str, gaps: bool) -> None:
    rng = np.random.default_rng(2)
    x = np.where(rng.random((6, 5)) < 0.6, rng.normal(size=(6, 5)), 0.0)
    axis = np.array([1, 2, 4]) if gaps else np.array([1, 2, 3])
    y = rng.normal(size=(3, 2))
    at = np.stack(np.nonzero(x))
    by = {
        "rows": np.lexsort(at[::-1]),
        "columns": np.lexsort(at),
        "none": rng.permutation(at.shape[1]),
    }
    at = at[:, by[order]]
    left = Factor(("i", "k"), Listed(at, x[tuple(at)]))
    made = multiplied(left, Factor(("k", "j"), Grid((axis, np.arange(2)), y)), {"i", "j"}, ROOM)
    dense = np.zeros((6, 2))
    listed = made.ordered(("i", "j")).listed().elements
    assert isinstance(listed, Listed)
    dense[tuple(listed.coords)] = listed.values
    assert np.allclose(dense, x[:, axis] @ y)
