"""Planetoid's files: every protocol of pickles, old names, several graphs, and the real Cora."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    read_graph,
    read_planetoid,
)
from tests.frontends.files import REAL, Citation, damaged
from tests.frontends.files.harm import CASES, checked, little_memory


@pytest.mark.parametrize("protocol", range(6))
def test_planetoid_in_every_protocol(tmp_path: Path, protocol: int) -> None:
    """Old files name modules of old libraries; Python writes the present names."""
    made = Citation(protocol)
    graph = read_graph(made.write(tmp_path, protocol=protocol))
    np.testing.assert_array_equal(graph.adjacency.toarray(), made.adjacency)
    np.testing.assert_array_equal(graph.features.toarray(), made.table)
    np.testing.assert_array_equal(graph.labels, made.labels)
    assert (graph.name, graph.classes, graph.standin) == ("tiny", 3, False)
    degrees = made.adjacency.sum(axis=1)
    assert graph.two_hop_paths == (degrees**2).sum()


def old_names(content: bytes) -> bytes:
    """A pickle of protocol 2 with the names that libraries had when the data were published."""
    for new, old in [
        (b"numpy._core.multiarray", b"numpy.core.multiarray"),
        (b"scipy.sparse._csr", b"scipy.sparse.csr"),
        (b"builtins", b"__builtin__"),
    ]:
        content = content.replace(new, old)
    return content


def test_planetoid_with_old_names_and_a_defaultdict(tmp_path: Path) -> None:
    from collections import defaultdict

    made = Citation(7)
    made.write(tmp_path)
    graph = defaultdict(list, {np.int64(k): v for k, v in made.graph.items()})
    (tmp_path / "ind.tiny.graph").write_bytes(pickle.dumps(graph, 2))
    for path in tmp_path.iterdir():
        path.write_bytes(old_names(path.read_bytes()))
    assert b"numpy.core.multiarray" in (tmp_path / "ind.tiny.allx").read_bytes()
    read = read_planetoid(tmp_path, "tiny")
    np.testing.assert_array_equal(read.adjacency.toarray(), made.adjacency)
    np.testing.assert_array_equal(read.features.toarray(), made.table)


def test_several_graphs_in_a_folder(tmp_path: Path) -> None:
    Citation(0).write(tmp_path, "one")
    Citation(1).write(tmp_path, "two")
    with pytest.raises(DataError, match=r"several graphs.*one, two"):
        read_graph(tmp_path)
    assert read_graph(tmp_path, "two").name == "two"


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("tx", scipy.sparse.csr_matrix((2, 5)), "different graphs"),
        ("tx", scipy.sparse.csr_matrix((3, 4)), "different graphs"),
        ("tx", np.zeros((3, 5)), "does not hold a csr matrix"),
        ("allx", [1, 2], "does not hold a csr matrix"),
        ("ally", np.ones((6, 3)), "one class per node"),
        ("ally", np.zeros((5, 3)), "6 and 3|5 and 3"),
        ("ally", np.array([["a"]]), "array of real numbers"),
        ("graph", {0: [99]}, "an edge from 0 to 99 in a graph of 9 nodes"),
        ("graph", {0: [-1]}, "an edge from 0 to -1"),
        ("graph", {0: ["a"]}, "integer"),
        ("graph", {"a": [0]}, "integer"),
        ("graph", {0: 3}, "lists no neighbours"),
        ("graph", {0: [2**80]}, "integer"),
        ("graph", [1], "lists no neighbours"),
    ],
)
def test_faults_of_planetoid(tmp_path: Path, part: str, value: Any, message: str) -> None:
    Citation().write(tmp_path)
    (tmp_path / f"ind.tiny.{part}").write_bytes(pickle.dumps(value, 2))
    with pytest.raises(DataError, match=message):
        read_graph(tmp_path)


@pytest.mark.parametrize("text", ["", "6\n6\n7\n", "5\n6\n7\n", "a\n", "999999999\n6\n7\n"])
def test_faults_of_test_nodes(tmp_path: Path, text: str) -> None:
    Citation().write(tmp_path)
    (tmp_path / "ind.tiny.test.index").write_text(text)
    with pytest.raises(DataError):
        read_graph(tmp_path)


@pytest.mark.skipif(REAL is None, reason="there is no folder with real data beside the checkout")
def test_the_real_cora() -> None:
    assert REAL is not None
    if not (REAL / "planetoid" / "ind.cora.graph").exists():
        pytest.skip(f"{REAL} does not hold Cora")
    graph = read_graph(REAL / "planetoid", "cora")
    assert (graph.nodes, graph.edges, graph.features.nnz, graph.classes) == (2708, 10556, 49216, 7)
    assert graph.two_hop_paths == 115_158
    degrees = np.diff(graph.adjacency.indptr)
    assert (degrees.min(), degrees.max()) == (1, 168)
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert graph.features.shape == (2708, 1433)
    # Published with the data set: papers per class.
    assert sorted(np.bincount(graph.labels).tolist()) == [180, 217, 298, 351, 418, 426, 818]


@pytest.mark.parametrize("part", ["allx", "tx", "ally", "ty", "graph", "test.index"])
def test_damaged_planetoid(tmp_path: Path, part: str) -> None:
    Citation().write(tmp_path)
    path = tmp_path / f"ind.tiny.{part}"
    whole = path.read_bytes()
    with little_memory():
        for seed in range(CASES):
            path.write_bytes(damaged(whole, seed))
            checked(lambda: read_graph(tmp_path))
