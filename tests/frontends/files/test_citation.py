"""CitationFull's archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    read_citation,
    read_graph,
)
from tests.frontends.files import damaged, pieces, repack
from tests.frontends.files.harm import CASES, checked, little_memory


def citation_file(folder: Path, **changes: Any) -> Path:
    rng = np.random.default_rng(3)
    adjacency = scipy.sparse.csr_array((rng.random((8, 8)) < 0.3).astype(np.float32))
    words = scipy.sparse.csr_array((rng.random((8, 5)) < 0.4).astype(np.float32))
    parts = {
        f"{prefix}_{part}": np.asarray(getattr(matrix, part))
        for prefix, matrix in (("adj", adjacency), ("attr", words))
        for part in ("data", "indices", "indptr", "shape")
    }
    arrays = {**parts, "labels": np.arange(8) % 3, **changes}
    np.savez(folder / "g.npz", **{k: v for k, v in arrays.items() if v is not None})
    return folder / "g.npz"


def test_citation_full(tmp_path: Path) -> None:
    path = citation_file(tmp_path)
    with np.load(path) as arrays:
        pattern, words = (
            scipy.sparse.csr_array(
                (arrays[f"{p}_data"], arrays[f"{p}_indices"], arrays[f"{p}_indptr"]),
                shape=tuple(arrays[f"{p}_shape"]),
            ).toarray()
            for p in ("adj", "attr")
        )
    graph = read_graph(path, "G")
    both = ((pattern + pattern.T) > 0) & ~np.eye(8, dtype=bool)
    np.testing.assert_array_equal(graph.adjacency.toarray(), both)
    np.testing.assert_array_equal(graph.features.toarray(), words)
    assert (graph.name, graph.classes) == ("G", 3)
    assert set(graph.adjacency.data) == {1.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adj_indices": None}, "no array 'adj_indices'"),
        ({"adj_shape": np.array([8, 9])}, "not square"),
        ({"adj_shape": np.array([10**15, 10**15])}, "every size is"),
        ({"attr_shape": np.array([7, 5])}, "indptr has 9 entries"),
        ({"labels": np.arange(5)}, "labels of shape"),
        ({"labels": np.ones((8, 2))}, "2 dimensions"),
    ],
)
def test_faults_of_citation_full(tmp_path: Path, changes: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_citation(citation_file(tmp_path, **changes))


def test_citation_full_unpickles_nothing(tmp_path: Path) -> None:
    labels = np.array([{"a": 1}] * 8, dtype=object)
    with pytest.raises(DataError, match="cannot read tensors"):
        read_citation(citation_file(tmp_path, labels=labels))


@pytest.mark.deep  # takes seconds
def test_damaged_citation_full(tmp_path: Path) -> None:
    path = citation_file(tmp_path)
    whole, inner = path.read_bytes(), dict(pieces(path))
    with little_memory():
        for seed in range(CASES):
            part = sorted(inner)[seed % len(inner)]
            path.write_bytes(whole)
            repack(path, part, damaged(inner[part], seed))
            checked(lambda: read_graph(path))
