"""Planetoid, CitationFull, OGB and arrays: small ones written here, and the real Cora."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from engine.errors import DataError
from engine.frontends.files import (
    GraphData,
    graph_from_arrays,
    read_citation,
    read_graph,
    read_ogb,
    read_planetoid,
)
from tests.frontends.files import REAL, Citation


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
        ("graph", {0: ["a"]}, "whole number"),
        ("graph", {"a": [0]}, "whole number"),
        ("graph", {0: 3}, "lists no neighbours"),
        ("graph", {0: [2**80]}, "whole number"),
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


def pack(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def ogb_folder(folder: Path) -> Path:
    raw = folder / "ogbl_tiny" / "raw"
    pack(raw / "edge.csv.gz", "0,1\n1,2\n0,1\n3,1\n")
    pack(raw / "num-node-list.csv.gz", "5\n")
    pack(raw / "node-feat.csv.gz", "".join(f"{k},{-k / 2},0.5\n" for k in range(5)))
    return raw.parent


def test_ogb(tmp_path: Path) -> None:
    folder = ogb_folder(tmp_path)
    expected = np.zeros((5, 5))
    expected[[0, 1, 3], [1, 2, 1]] = 1
    graph = read_graph(folder)
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.features[3], np.float32([3, -1.5, 0.5]))
    assert graph.name == "ogbl_tiny"
    both = read_ogb(folder / "raw", symmetric=True)
    np.testing.assert_array_equal(both.adjacency.toarray(), expected + expected.T)


def test_ogb_papers_that_cite_papers(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    pack(raw / "relations/paper___cites___paper/edge.csv.gz", "0,2\n1,0\n")
    pack(raw / "node-feat/paper/node-feat.csv.gz", "1,2\n3,4\n5,6\n7,8\n")
    graph = read_ogb(tmp_path, "MAG")
    assert (graph.nodes, graph.edges, graph.two_hop_paths) == (4, 2, 1)
    assert graph.adjacency[0, 2] == 1


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("num-node-list.csv.gz", "5\n6\n", "several graphs"),
        ("num-node-list.csv.gz", "", "no graphs"),
        ("num-node-list.csv.gz", "99999999999\n", "line 1.*field 1"),
        ("num-node-list.csv.gz", "3\n", "line 4.*field 1, a node, is 3"),
        ("num-node-list.csv.gz", "9\n", "9 nodes, but features of 5"),
        ("node-feat.csv.gz", "1,2\n3\n", "line 2.*1 fields"),
        ("node-feat.csv.gz", "", "is empty"),
        ("node-feat.csv.gz", "1e39,1\n" * 5, "feature 0 of node 0 is not finite in float32"),
        ("edge.csv.gz", "0,1,2,3\n", "4 fields"),
    ],
)
def test_faults_of_ogb(tmp_path: Path, file: str, text: str, message: str) -> None:
    folder = ogb_folder(tmp_path)
    pack(folder / "raw" / file, text)
    with pytest.raises(DataError, match=message):
        read_graph(folder)
    (folder / "raw" / "edge.csv.gz").unlink()
    with pytest.raises(DataError, match="no graph that is known"):
        read_graph(folder)


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
        ({"edge_index": [[0], [1]], "x": [1.0, 2.0]}, "1 dimensions"),
        ({"edge_index": [[0], [1]], "y": [0, 1, 2]}, "labels of shape"),
        ({"edge_index": [[0], [1]], "y": [0.5, 1]}, "one class"),
    ],
)
def test_faults_of_arrays(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        graph_from_arrays(**arguments)


def test_the_label_says_what_a_graph_is() -> None:
    one = scipy.sparse.csr_array(np.ones((1, 1), dtype=np.float32))
    real = GraphData("Cora", one, None, None, 0, "somewhere")
    assert real.label == "Cora"
    standin = GraphData("Cora", one, None, None, 0, "", standin=True, seed=3)
    assert standin.label == "Cora (stand-in, seed 3)"
