"""The golden functions of one operand."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.sim.compiled.functions import UNARY
from fuseloom.dataflow.sim.golden.functions import WITH_CONSTANT, unary_function
from fuseloom.program.functions import FUNCTIONS

f32 = np.float32


def test_they_are_those_of_the_table_and_those_with_a_constant() -> None:
    assert set(UNARY) == {*WITH_CONSTANT, *(op.value for op in FUNCTIONS)}
    with pytest.raises(ValueError, match="twofold"):
        unary_function("twofold")


@pytest.mark.parametrize("name", UNARY)
def test_of_an_array_it_is_that_of_each_number(name: str) -> None:
    function, c = unary_function(name), f32(2.5)
    x = np.array([0.0, -0.0, 1.0, -1.5, 0.3, 7.25, -30.0, 1e-20, np.inf, np.nan], f32)
    with np.errstate(all="ignore"):
        whole = np.asarray(function(x, c)).astype(f32)
        each = np.array([f32(function(value, c)) for value in x])
    np.testing.assert_array_equal(whole, each)
    np.testing.assert_array_equal(np.signbit(whole), np.signbit(each))
