"""The golden functions of one operand, and the maximum: NaN wins, the first of equals stays."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from fuseloom.dataflow.sim.compiled.functions import UNARY
from fuseloom.dataflow.sim.golden.functions import WITH_CONSTANT, larger, largest, unary_function
from fuseloom.program.functions import FUNCTIONS

F32 = np.float32


def test_they_are_those_of_the_table_and_those_with_a_constant() -> None:
    assert set(UNARY) == {*WITH_CONSTANT, *(op.value for op in FUNCTIONS)}
    with pytest.raises(ValueError, match="twofold"):
        unary_function("twofold")


@pytest.mark.parametrize("name", UNARY)
def test_of_an_array_it_is_that_of_each_number(name: str) -> None:
    function, c = unary_function(name), F32(2.5)
    x = np.array([0.0, -0.0, 1.0, -1.5, 0.3, 7.25, -30.0, 1e-20, np.inf, np.nan], F32)
    with np.errstate(all="ignore"):
        whole = np.asarray(function(x, c)).astype(F32)
        each = np.array([F32(function(value, c)) for value in x])
    np.testing.assert_array_equal(whole, each)
    np.testing.assert_array_equal(np.signbit(whole), np.signbit(each))


VALUES = (F32(-1), F32(0), F32(-0.0), F32(2), F32(np.inf), F32(-np.inf), F32(np.nan))


def alike(a: object, b: object) -> bool:
    one, other = np.asarray(a), np.asarray(b)
    same = np.array_equal(one, other, equal_nan=True)
    return same and bool((np.signbit(one) == np.signbit(other)).all())


@pytest.mark.parametrize("a", VALUES)
@pytest.mark.parametrize("b", VALUES)
def test_numbers_and_tiles_agree(a: F32, b: F32) -> None:
    one = larger(a, b)
    assert np.isnan(one) == (np.isnan(a) or np.isnan(b))
    tiles = larger(np.full((2, 2), a), np.full((2, 2), b))
    assert tiles.dtype == F32
    assert alike(tiles, np.full((2, 2), one))
    assert alike(larger(np.full(2, a), b), np.full(2, one))


def test_a_fold_of_axes_is_a_walk_over_them() -> None:
    for order in permutations((F32(0), F32(-0.0), F32(np.nan), F32(-3))):
        for size in (2, 3, 4):
            walked = order[0]
            for x in order[1:size]:
                walked = larger(walked, x)
            row = np.array(order[:size])
            assert alike(largest(row, (0,)), walked)
            assert alike(largest(np.stack([row, row]), (1,)), np.array([walked, walked]))
            assert alike(largest(np.stack([row, row], axis=1), (0,)), np.array([walked, walked]))
    assert largest(np.arange(8, dtype=F32).reshape(2, 2, 2), (0, 2)).tolist() == [5, 7]
