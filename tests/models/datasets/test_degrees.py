"""Degrees that keep a sum and limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuseloom.errors import DataError
from fuseloom.models.datasets.degrees import directed_degrees, spread, undirected_degrees
from fuseloom.models.datasets.wiring import undirected_graph


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.integers(0, 3), st.data())
def test_spread_keeps_sum_and_limits(weights: list[float], least: int, data: st.DataObject) -> None:
    most = data.draw(st.integers(least, least + 20))
    total = data.draw(st.integers(len(weights) * least, len(weights) * most))
    made = spread(np.array(weights), total, least, most)
    assert made.sum() == total
    assert made.min() >= least
    assert made.max() <= most


def test_contradictions_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="no degrees give"):
        undirected_degrees(rng, 100, 400, 400, None)
    with pytest.raises(DataError, match="every node has one"):
        undirected_degrees(rng, 100, 50, 400, None)
    with pytest.raises(DataError, match="no degrees give"):
        directed_degrees(rng, 100, 400, 10**9)
    with pytest.raises(DataError, match="no graph of 3 nodes"):
        undirected_graph(rng, np.array([4, 1, 1]))
