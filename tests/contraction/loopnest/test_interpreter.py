"""Nests step by step."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.contraction.loopnest.interpreter import count_steps, interpret
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.errors import DataError

NEST = parse_nest(
    "forall(i, where(y(i) += t() * t2(), where(t2() += b(i), forall(j, t() += A(i,j)))))"
)


def test_a_workspace_is_empty_each_time() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.array([2.0, 10.0])
    result = interpret(NEST, {"i": 2, "j": 3}, {"A": a, "b": b})
    np.testing.assert_allclose(result, a.sum(axis=1) * b)


def test_steps_are_counted_and_bounded() -> None:
    assert count_steps(NEST, {"i": 10, "j": 7}) == 10 * (7 + 1 + 1)
    with pytest.raises(DataError, match="which is more than the 5 that are interpreted"):
        interpret(NEST, {"i": 2, "j": 3}, {}, most=5)


@pytest.mark.parametrize("given", [{}, {"A": np.ones((3, 2)), "b": np.ones(2)}])
def test_arrays_that_do_not_fit(given: dict[str, np.ndarray]) -> None:
    with pytest.raises(DataError, match="A must be an array of shape"):
        interpret(NEST, {"i": 2, "j": 3}, given)
