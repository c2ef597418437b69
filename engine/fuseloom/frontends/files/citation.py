"""CitationFull graphs (Cora_ML, DBLP, ...) as graph2gauss published them, in ``.npz`` files.

Source: A. Bojchevski and S. Günnemann, "Deep Gaussian Embedding of Graphs", ICLR 2018.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files.graph import GraphData, as_csr, graph_of, undirected
from fuseloom.frontends.files.npz import arrays_of, compressed, matrix_shape
from fuseloom.frontends.files.npz_parts import Arrays, whole
from fuseloom.frontends.files.tensor import CoordinateTensor

PARTS = ("data", "indices", "indptr", "shape")


def is_citation(arrays: Arrays) -> bool:
    """Return whether the arrays of a file are those of such a graph."""
    return all(f"adj_{part}" in arrays for part in PARTS)


def read_citation(path: str | Path, name: str | None = None) -> GraphData:
    """A graph, made undirected and without self-loops, as PyTorch Geometric does.

    Raises
    ------
    DataError
        If an array is missing, or the arrays do not fit together.
    """
    return citation_graph(arrays_of(path), str(path), name or Path(path).stem)


def citation_graph(arrays: Arrays, origin: str, name: str) -> GraphData:
    """The graph of a file's arrays; see :func:`read_citation`."""
    adjacency = _matrix(arrays, "adj_", origin)
    if adjacency.shape[0] != adjacency.shape[1]:
        raise DataError(f"{origin}: the adjacency matrix is not square", hint="one row per node")
    features = None
    if any(f"attr_{part}" in arrays for part in PARTS):
        features = as_csr(_matrix(arrays, "attr_", origin).to_scipy())
    labels = whole(arrays, "labels", origin) if "labels" in arrays else None
    both = undirected(adjacency.to_scipy())
    coords = np.stack(both.tocoo().coords, axis=1).astype(np.int64)
    symmetric = CoordinateTensor.of(coords, np.ones(len(coords)), adjacency.shape, origin)
    return graph_of(name, symmetric, features=features, labels=labels)


def _matrix(arrays: Arrays, prefix: str, origin: str) -> CoordinateTensor:
    shape = matrix_shape(arrays, f"{prefix}shape", origin)
    return compressed(arrays, prefix, shape, origin)
