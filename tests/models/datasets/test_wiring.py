"""Wiring keeps every degree."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.models.datasets.degrees import directed_degrees, undirected_degrees
from fuseloom.models.datasets.wiring import directed_graph, undirected_graph


@pytest.mark.parametrize("seed", range(6))
def test_wiring_keeps_every_degree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    degrees = undirected_degrees(rng, 60, 400, 4_000, None)
    graph = undirected_graph(rng, degrees)
    np.testing.assert_array_equal(np.diff(graph.indptr), degrees)
    np.testing.assert_array_equal(graph.toarray(), graph.toarray().T)
    assert set(np.unique(graph.toarray())) == {0.0, 1.0}
    assert not graph.diagonal().any()
    into, out = directed_degrees(rng, 60, 300, 2_500)
    arrows = directed_graph(rng, into, out).toarray()
    np.testing.assert_array_equal(arrows.sum(axis=0), into)
    np.testing.assert_array_equal(arrows.sum(axis=1), out)
    assert set(np.unique(arrows)) == {0.0, 1.0}
    assert not np.diag(arrows).any()
