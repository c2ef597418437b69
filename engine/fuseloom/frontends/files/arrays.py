"""Graphs given as the arrays that PyTorch Geometric keeps, in memory or in ``.npz`` files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.graph import GraphData, dense_features, graph_of
from fuseloom.frontends.files.limits import MAX_NODES
from fuseloom.frontends.files.npz import arrays_of
from fuseloom.frontends.files.npz_parts import Arrays
from fuseloom.frontends.files.tensor import CoordinateTensor, Duplicates
from fuseloom.wording import counted


def graph_from_arrays(
    edge_index: npt.ArrayLike,
    *,
    edge_attr: npt.ArrayLike | None = None,
    x: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    nodes: int | None = None,
    name: str = "graph",
    origin: str = "arrays",
) -> GraphData:
    """A graph of tensors in coordinate form.

    Parameters
    ----------
    edge_index : (2, edges) array of int
        Sources, then targets.  Messages flow from source to target, so target ``i`` and source
        ``k`` make the element ``A[i,k]``.
    edge_attr : (edges,) or (edges, 1) array, optional
        Weights; by default 1.  Edges given twice collapse without weights, and are refused
        with.
    x : (nodes, features) array, optional
    y : (nodes,) array of int, optional
    nodes : int, optional
        By default the rows of ``x``, or one more than the largest node.

    Raises
    ------
    DataError
        If the arrays do not fit together.

    Examples
    --------
    >>> graph_from_arrays([[0, 1], [2, 2]], nodes=3).adjacency.toarray()[2]
    array([1., 1., 0.], dtype=float32)
    """
    ends = np.asarray(edge_index)
    if ends.ndim != 2 or ends.shape[0] != 2 or (ends.size and ends.dtype.kind not in "iu"):
        raise DataError(
            f"{origin}: edge_index has shape {'x'.join(map(str, ends.shape))} and "
            f"dtype {ends.dtype}",
            hint="two rows of integers: sources and targets",
        )
    features = None if x is None else dense_features(np.asarray(x), f"{origin}: x")
    if nodes is None:
        known = 0 if features is None else len(features)
        nodes = known or (int(ends.max()) + 1 if ends.size else 0)
    if not 1 <= nodes <= MAX_NODES:
        raise DataError(f"{origin} has {counted(nodes, 'node')}", hint=f"1..{MAX_NODES:,} are held")
    labels = None if y is None else _labels(np.asarray(y), origin)
    adjacency = CoordinateTensor.of(
        ends[::-1].T.astype(np.int64),
        _weights(edge_attr, ends.shape[1], origin),
        (nodes, nodes),
        origin,
        duplicates=Duplicates.FIRST if edge_attr is None else Duplicates.REFUSE,
        called="edge",
    )
    return graph_of(name, adjacency, features=features, labels=labels)


def read_arrays(path: str | Path, name: str | None = None) -> GraphData:
    """A graph of an ``.npz`` file with ``edge_index`` and maybe ``edge_attr``, ``x``, ``y``.

    Raises
    ------
    DataError
        If ``edge_index`` is missing, or the arrays do not fit together.
    """
    return arrays_graph(arrays_of(path), str(path), name or Path(path).stem)


def arrays_graph(arrays: Arrays, origin: str, name: str) -> GraphData:
    """The graph of a file's arrays; see :func:`read_arrays`."""
    if "edge_index" not in arrays:
        raise DataError(f"{origin} has no array 'edge_index'", hint="sources and targets of edges")
    return graph_from_arrays(
        arrays["edge_index"],
        edge_attr=arrays.get("edge_attr"),
        x=arrays.get("x"),
        y=arrays.get("y"),
        name=name,
        origin=origin,
    )


def _weights(given: Any, edges: int, origin: str) -> npt.NDArray[np.float64]:
    if given is None:
        return np.ones(edges)
    weights = np.asarray(given)
    if weights.shape not in ((edges,), (edges, 1)) or weights.dtype.kind not in "biuf":
        raise DataError(
            f"{origin}: edge_attr has shape {'x'.join(map(str, weights.shape))} and "
            f"dtype {weights.dtype}, for {counted(edges, 'edge')}",
            hint="one real weight per edge",
        )
    return weights.reshape(-1).astype(np.float64)


def _labels(given: npt.NDArray[Any], origin: str) -> npt.NDArray[np.int64]:
    flat = given.reshape(-1)
    if given.ndim > 2 or (given.size and given.dtype.kind not in "iu"):
        raise DataError(
            f"{origin}: y has {counted(given.ndim, 'dimension')} and dtype {given.dtype}",
            hint="one class, an integer, per node",
        )
    return flat.astype(np.int64)
