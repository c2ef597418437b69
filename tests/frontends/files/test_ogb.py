"""OGB's folders of packed tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    read_graph,
    read_ogb,
)
from tests.frontends.files import damaged, pieces, repack
from tests.frontends.files.harm import CASES, checked, little_memory


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
        ("num-node-list.csv.gz", "3\n", "line 4.*node 3 is not in 0..2"),
        ("num-node-list.csv.gz", "9\n", "9 nodes, but features of 5"),
        ("node-feat.csv.gz", "1,2\n3\n", "line 2.*1 field"),
        ("node-feat.csv.gz", "", "is empty"),
        ("node-feat.csv.gz", "1e39,1\n" * 5, "feature 0 of node 0 is not finite in float32"),
        ("edge.csv.gz", "0,1,2,3,4\n", "5 fields"),
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


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("part", ["edge.csv.gz", "num-node-list.csv.gz", "node-feat.csv.gz"])
def test_damaged_ogb(tmp_path: Path, part: str) -> None:
    folder = ogb_folder(tmp_path)
    path = folder / "raw" / part
    whole, inner = path.read_bytes(), dict(pieces(path))["gz"]
    with little_memory():
        for seed in range(CASES):
            path.write_bytes(whole)
            if seed % 2:
                repack(path, "gz", damaged(inner, seed // 2))
            else:
                path.write_bytes(damaged(whole, seed // 2))
            checked(lambda: read_graph(folder))
