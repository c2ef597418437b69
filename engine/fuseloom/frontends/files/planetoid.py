"""Planetoid's graphs (Cora, CiteSeer, PubMed): eight files ``ind.<name>.*``.

Source: Z. Yang, W. Cohen and R. Salakhutdinov, "Revisiting Semi-Supervised Learning with Graph
Embeddings", ICML 2016.  The files are pickles of Python 2; :mod:`~fuseloom.frontends.files.pickles`
reads them without executing anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.graph import GraphData, as_csr, graph_of, undirected
from fuseloom.frontends.files.limits import MAX_ENTRIES, MAX_NODES
from fuseloom.frontends.files.lines import blocks
from fuseloom.frontends.files.npz import compressed, matrix_shape
from fuseloom.frontends.files.pickled_arrays import array_of, csr_parts, integer_of
from fuseloom.frontends.files.pickles import read_pickle
from fuseloom.frontends.files.table import read_rows
from fuseloom.frontends.files.tensor import CoordinateTensor
from fuseloom.program.levels import Ints
from fuseloom.wording import counted


def planetoid_names(folder: Path) -> list[str]:
    """Names of the graphs in a folder."""
    found = [path.name.split(".") for path in folder.glob("ind.*.graph")]
    return sorted(parts[1] for parts in found if len(parts) == 3)


def read_planetoid(folder: str | Path, name: str = "cora") -> GraphData:
    """A graph, undirected and without self-loops, its features and labels.

    The features of training and test nodes lie in two files, and those of test nodes in the
    order of ``test.index``.  A node that no file describes has no features and the label -1.

    Raises
    ------
    DataError
        If a file is missing or damaged, or they do not fit together.
    """
    stem = Path(folder) / f"ind.{name}"
    test = _test_nodes(Path(f"{stem}.test.index"))
    known, tested = (_features(f"{stem}.{part}") for part in ("allx", "tx"))
    first = known.shape[0]
    nodes = max(first, int(test.max()) + 1)
    if tested.shape != (len(test), known.shape[1]) or test.min() < first or nodes > MAX_NODES:
        raise DataError(
            f"{stem}: {counted(first, 'node')} with {counted(known.shape[1], 'feature')}, then "
            f"{tested.shape[0]:,} with {tested.shape[1]:,}; {len(test):,} test nodes from "
            f"{test.min():,} to {test.max():,}",
            hint="the files belong to different graphs, or are damaged",
        )
    coords = np.concatenate([known.coords, _moved(tested.coords, test)])
    values = np.concatenate([known.values, tested.values])
    table = CoordinateTensor.of(coords, values, (nodes, known.shape[1]), str(stem))
    labels, classes = _labels(stem, first, test, nodes)
    origin = f"{stem}.graph"
    pattern = _edges(origin, nodes).to_scipy()
    both = undirected(pattern)
    ends = np.stack(both.tocoo().coords, axis=1).astype(np.int64)
    adjacency = CoordinateTensor.of(ends, np.ones(len(ends)), (nodes, nodes), origin)
    features = as_csr(table.to_scipy())
    return graph_of(
        name, adjacency, features=features, labels=labels, origin=str(stem), classes=classes
    )


def _moved(coords: Ints, rows: Ints) -> Ints:
    return np.stack([rows[coords[:, 0]], coords[:, 1]], axis=1)


def _test_nodes(path: Path) -> Ints:
    rows = read_rows(path, blocks(path), columns=1, limit=MAX_NODES)
    test = rows.integers(0, "a node", 0, MAX_NODES - 1)
    if not len(test) or len(np.unique(test)) < len(test):
        raise DataError(f"{path} lists no test nodes, or one twice", hint="one node per line")
    return test


def _features(path: str) -> CoordinateTensor:
    parts = csr_parts(read_pickle(path), path)
    return compressed(parts, "", matrix_shape(parts, "shape", path), path)


def _labels(stem: Path, first: int, test: Ints, nodes: int) -> tuple[Ints, int]:
    """Classes of the nodes, from rows with a single 1, and how many there are."""
    known, tested = (
        _one_hot(array_of(read_pickle(f"{stem}.{part}"), f"{stem}.{part}"), f"{stem}.{part}")
        for part in ("ally", "ty")
    )
    if len(known) != first or len(tested) != len(test) or known.shape[1] != tested.shape[1]:
        raise DataError(
            f"{stem}: {len(known):,} and {counted(len(tested), 'label')} for {first:,} and "
            f"{counted(len(test), 'node')}",
            hint="the files belong to different graphs, or are damaged",
        )
    labels = np.full(nodes, -1, dtype=np.int64)
    labels[:first] = np.where(known.any(axis=1), known.argmax(axis=1), -1)
    labels[test] = np.where(tested.any(axis=1), tested.argmax(axis=1), -1)
    return labels, known.shape[1]


def _one_hot(table: npt.NDArray[Any], origin: str) -> npt.NDArray[Any]:
    if table.ndim != 2 or not table.shape[1] or ((table != 0).sum(axis=1) > 1).any():
        raise DataError(
            f"{origin} does not hold one class per node", hint="rows with a single 1 are expected"
        )
    return table


def _edges(path: str, nodes: int) -> CoordinateTensor:
    """Pattern of the neighbours of every node; what is listed twice counts once."""
    graph = read_pickle(path)
    if not isinstance(graph, dict) or not all(isinstance(n, list) for n in graph.values()):
        raise DataError(f"{path} lists no neighbours", hint="a dictionary of lists is expected")
    total = sum(map(len, graph.values()))
    if total > MAX_ENTRIES:
        raise DataError(
            f"{path} lists {counted(total, 'edge')}", hint=f"the limit is {MAX_ENTRIES:,}"
        )
    sources = np.array([integer_of(node, path) for node in graph], dtype=np.int64)
    lengths = [len(neighbours) for neighbours in graph.values()]
    flat = [integer_of(k, path) for neighbours in graph.values() for k in neighbours]
    targets = np.array(flat, dtype=np.int64)
    ends = np.stack([np.repeat(sources, lengths), targets], axis=1)
    outside = np.flatnonzero(((ends < 0) | (ends >= nodes)).any(axis=1))
    if len(outside):
        a, b = ends[outside[0]].tolist()
        raise DataError(
            f"{path}: an edge from {a} to {b} in a graph of {counted(nodes, 'node')}",
            hint="the files belong to different graphs, or are damaged",
        )
    unique = np.unique(ends, axis=0)
    return CoordinateTensor.of(unique, np.ones(len(unique)), (nodes, nodes), path)
