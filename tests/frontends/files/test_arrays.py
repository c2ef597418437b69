"""Graphs given as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    graph_from_arrays,
    read_graph,
)


def test_arrays_as_pyg_keeps_them(tmp_path: Path) -> None:
    ends = np.array([[0, 1, 2], [1, 2, 0]])
    table = np.arange(8.0).reshape(4, 2)
    np.savez(tmp_path / "g.npz", edge_index=ends, edge_attr=np.array([[1.5], [2], [3]]), x=table,
             y=np.array([0, 1, 1, 0]))  # fmt: skip
    graph = read_graph(tmp_path / "g.npz")
    expected = np.zeros((4, 4))
    expected[ends[1], ends[0]] = 1.5, 2, 3
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.features, table)
    assert graph.classes == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge_index": [[0, 1]]}, "edge_index has shape 1x2"),
        ({"edge_index": [[0.5], [1.0]]}, "dtype float64"),
        ({"edge_index": [[], []]}, "has 0 nodes"),
        ({"edge_index": [[0], [5]], "nodes": 3}, "outside 3x3"),
        ({"edge_index": [[0], [-1]], "nodes": 3}, "outside 3x3"),
        ({"edge_index": [[0], [2**40]]}, "nodes"),
        ({"edge_index": [[0], [1]], "edge_attr": [1.0, 2.0]}, "edge_attr has shape 2"),
        ({"edge_index": [[0, 0], [1, 1]], "edge_attr": [1.0, 2.0]}, "given twice"),
        ({"edge_index": [[0], [1]], "edge_attr": [np.nan]}, "not finite"),
        ({"edge_index": [[0], [1]], "x": [[1.0], [np.inf]]}, "feature 0 of node 1"),
        ({"edge_index": [[0], [1]], "x": [1.0, 2.0]}, "1 dimension"),
        ({"edge_index": [[0], [1]], "y": [0, 1, 2]}, "labels of shape"),
        ({"edge_index": [[0], [1]], "y": [0.5, 1]}, "one class"),
    ],
)
def test_faults_of_arrays(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        graph_from_arrays(**arguments)
