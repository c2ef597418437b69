"""Folders of the Open Graph Benchmark as they unpack: ``raw/edge.csv.gz`` and its neighbours.

Source: W. Hu et al., "Open Graph Benchmark", NeurIPS 2020.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files.edge_list import read_edges
from fuseloom.frontends.files.graph import Features, GraphData, dense_features, graph_of
from fuseloom.frontends.files.limits import MAX_NODES
from fuseloom.frontends.files.lines import blocks
from fuseloom.frontends.files.table import read_rows
from fuseloom.program import regular_files

CITES = Path("relations/paper___cites___paper/edge.csv.gz")
PAPERS = Path("node-feat/paper/node-feat.csv.gz")


def raw_folder(folder: Path) -> Path | None:
    """The folder ``raw`` with the tables, or the given one if it holds them; else None."""
    for raw in (folder / "raw", folder):
        if (raw / "edge.csv.gz").is_file() or (raw / CITES).is_file():
            return raw
    return None


def read_ogb(folder: str | Path, name: str | None = None, *, symmetric: bool = False) -> GraphData:
    """A graph; of a heterogeneous one (ogbn-mag) the papers that cite papers.

    Edges listed twice collapse, and weights and years are left out.

    Parameters
    ----------
    symmetric : bool
        Add the opposite of every edge: undirected graphs list each edge once.

    Raises
    ------
    DataError
        If a table is missing, or the tables do not fit together.
    """
    raw = raw_folder(Path(folder))
    if raw is None:
        raise DataError(
            f"{folder} holds no raw/edge.csv.gz", hint="unpack the benchmark's archive there"
        )
    papers = (raw / CITES).is_file()
    edges, features = (raw / CITES, raw / PAPERS) if papers else (
        raw / "edge.csv.gz", raw / "node-feat.csv.gz"
    )  # fmt: skip
    table = _features(features) if regular_files.is_file(features) else None
    nodes = None if papers else _nodes(raw / "num-node-list.csv.gz")
    if nodes is None and table is not None:
        nodes = len(table)
    adjacency = read_edges(edges, nodes, symmetric=symmetric, weighted=False, base=0, named=False)
    return graph_of(name or Path(folder).name, adjacency, features=table, origin=str(raw))


def _nodes(path: Path) -> int:
    """Nodes of the one graph of a folder."""
    rows = read_rows(path, blocks(path), columns=1, delimiter=b",", limit=2)
    if len(rows) != 1:
        raise DataError(
            f"{path} lists {'no' if not len(rows) else 'several'} graphs",
            hint="node and link properties have one graph",
        )
    return int(rows.integers(0, "a number of nodes", 1, MAX_NODES)[0])


def _features(path: Path) -> Features:
    rows = read_rows(path, blocks(path), delimiter=b",", limit=MAX_NODES)
    if not len(rows):
        raise DataError(f"{path} is empty", hint="one row of features per node")
    return dense_features(np.asarray(rows.values), str(path))
