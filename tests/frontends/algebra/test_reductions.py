"""Products of all elements along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.frontends.algebra.reductions import MOST_FACTORS, product


@pytest.mark.parametrize("count", [1, 2, 7, MOST_FACTORS, MOST_FACTORS + 1, 3 * MOST_FACTORS + 5])
def test_each_element_is_a_factor_once(count: int) -> None:
    statements = 0

    def part(held: Any, start: int, length: int) -> Any:
        assert 0 <= start <= start + length <= held.shape[1], "inside"
        return held[:, start] if length == 1 else held[:, start : start + length]

    def times(one: Any, other: Any) -> Any:
        nonlocal statements
        assert one.shape == other.shape
        statements += 1
        return one * other

    given = np.random.default_rng(count).uniform(0.5, 1.5, (3, count))
    made = product(given, count, part, times)
    np.testing.assert_allclose(made, given.prod(1), rtol=1e-12)
    assert statements < min(count, 2 * MOST_FACTORS + 4), "no more than one for each factor"
