"""A graph with features and labels, whatever file or generator it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_DENSE, MAX_NODES
from fuseloom.frontends.files.tensor import CoordinateTensor
from fuseloom.program.levels import Ints
from fuseloom.wording import counted

Features = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class GraphData:
    """A graph and what its nodes carry.

    Attributes
    ----------
    name : str
        For display, e.g. ``Cora``.
    adjacency : csr_array of float32, shape (nodes, nodes)
        Row ``i`` holds the nodes that ``i`` takes messages from; sorted, nothing twice.
    features : csr_array or ndarray of float32, shape (nodes, features), or None
    labels : (nodes,) array of int64, or None
        Classes from 0; -1 is unknown.
    classes : int
        How many classes there are; 0 where nothing is known of them.
    origin : str
        The file it came from, or how it was made.
    standin : bool
        Whether it only resembles the data set of its name.
    seed : int or None
        Of what was made at random.
    notes : tuple of str
        What became of the file on the way; a sentence each.
    """

    name: str
    adjacency: Any
    features: Any
    labels: Ints | None
    classes: int
    origin: str
    standin: bool = False
    seed: int | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        nodes = self.nodes
        if self.adjacency.shape != (nodes, nodes):
            shape = "x".join(map(str, self.adjacency.shape))
            raise DataError(
                f"the adjacency matrix of {self.name} is {shape}",
                hint="one row per node; a tensor of a program may have any shape: "
                "--tensors NAME=FILE",
            )
        if not 1 <= nodes <= MAX_NODES:
            raise DataError(
                f"{self.name} has {counted(nodes, 'node')}", hint=f"1..{MAX_NODES:,} are held"
            )
        if self.features is not None and self.features.shape[0] != nodes:
            raise DataError(
                f"{self.name} has {counted(nodes, 'node')}, but features of "
                f"{self.features.shape[0]:,}",
                hint="one row of features per node",
            )
        if self.labels is not None and self.labels.shape != (nodes,):
            raise DataError(
                f"{self.name} has {counted(nodes, 'node')}, but labels of shape "
                f"{self.labels.shape}",
                hint="one label per node",
            )

    @property
    def nodes(self) -> int:
        return int(self.adjacency.shape[0])

    @property
    def edges(self) -> int:
        """Stored elements of the adjacency matrix: an undirected edge counts twice."""
        return int(self.adjacency.nnz)

    @property
    def label(self) -> str:
        """Name, and a warning if it is not the real thing: ``Cora (stand-in, seed 0)``."""
        return f"{self.name} (stand-in, seed {self.seed})" if self.standin else self.name

    @property
    def two_hop_paths(self) -> int:
        """Paths of two edges, ``sum over k of in(k) * out(k)``; undirected, ``sum of deg²``.

        Times the features they are what a fully fused GCN multiplies.
        """
        into = np.bincount(self.adjacency.indices, minlength=self.nodes).astype(np.int64)
        return int(into @ np.diff(self.adjacency.indptr).astype(np.int64))


def graph_of(
    name: str,
    adjacency: CoordinateTensor,
    *,
    features: Any = None,
    labels: Ints | None = None,
    origin: str | None = None,
    classes: int | None = None,
) -> GraphData:
    """A graph of what a loader read.

    Parameters
    ----------
    classes : int, optional
        By default one more than the largest label.

    Raises
    ------
    DataError
        If the parts do not fit together.
    """
    if classes is None:
        classes = 0 if labels is None or not len(labels) else max(int(labels.max()) + 1, 0)
    return GraphData(
        name,
        as_csr(adjacency.to_scipy()),
        features,
        labels,
        classes,
        adjacency.origin if origin is None else origin,
        notes=adjacency.notes,
    )


def as_csr(matrix: Any) -> Any:
    """A ``csr_array`` of float32 with sorted rows.

    Raises
    ------
    DataError
        If a value is not finite, or too large for float32.
    """
    with np.errstate(over="ignore"):
        made = scipy.sparse.csr_array(matrix).astype(np.float32)
    if not np.isfinite(matrix.data).all():
        raise DataError("a value is not finite", hint="remove NaN and infinite values")
    if not np.isfinite(made.data).all():
        raise DataError("a value is too large for float32", hint="scale the values")
    made.sum_duplicates()
    return made


def undirected(matrix: Any) -> Any:
    """The pattern of a matrix and its transpose, with ones, and no self-loops."""
    pattern = scipy.sparse.coo_array(matrix)
    row, column = pattern.coords
    keep = row != column
    ends = np.concatenate([row[keep], column[keep]]), np.concatenate([column[keep], row[keep]])
    both = scipy.sparse.csr_array(
        (np.ones(len(ends[0]), dtype=np.float32), ends), shape=pattern.shape
    )
    both.sum_duplicates()
    both.data[:] = 1.0
    return both


def dense_features(table: npt.NDArray[Any], what: str) -> Features:
    """A table of features in float32.

    Raises
    ------
    DataError
        Not two-dimensional, not real numbers, too large, or a number that is not finite.
    """
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise DataError(
            f"{what} has {counted(table.ndim, 'dimension')} and dtype {table.dtype}",
            hint="a table of real numbers is needed, a row per node",
        )
    if table.size > MAX_DENSE:
        raise DataError(
            f"{what} has {counted(table.size, 'number')}", hint=f"the limit is {MAX_DENSE:,}"
        )
    with np.errstate(over="ignore"):
        made = table.astype(np.float32)
    bad = np.argwhere(~np.isfinite(made))
    if len(bad):
        raise DataError(
            f"{what}: feature {bad[0][1]} of node {bad[0][0]} is not finite in float32",
            hint="remove NaN and infinite values",
        )
    return made
