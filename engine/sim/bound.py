"""A graph with the arrays its nodes read: all that a simulation needs besides a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.program.storage import StoredTensor
from engine.program.stored_views import resolve_view
from engine.samml.graph import Graph
from engine.sim.primitives import implementation

Arrays = Mapping[str, npt.NDArray[Any]]
_NONE: dict[str, npt.NDArray[Any]] = {}


@dataclass(frozen=True)
class BoundGraph:
    """A graph and, per node id, the arrays the node reads.

    Attributes
    ----------
    arrays : mapping
        ``scan``: ``seg`` and ``crd`` (int64).  ``array``: ``vals`` (float32).  ``source``:
        ``tokens`` (:data:`engine.sim.tokens.TOKEN_DTYPE`) and ``times`` (int64, the earliest
        timestamp of each; without it the source ticks once per token).  Nodes that read
        nothing have no entry.
    """

    graph: Graph
    arrays: Mapping[int, Arrays] = field(default_factory=dict)

    def of(self, node: int) -> Arrays:
        """The arrays of that node, maybe none."""
        return self.arrays.get(node, _NONE)


def bind(graph: Graph, data: Mapping[str, StoredTensor]) -> BoundGraph:
    """Look up the arrays of every node that reads a tensor.

    Parameters
    ----------
    data : mapping
        Tensors by name; a node's parameter ``tensor`` is a view key of one
        (``engine.program.stored_views.view_key``).

    Raises
    ------
    DataError
        If a tensor is missing.
    SimulationError
        If its storage is not what the node reads.
    """
    views: dict[str, StoredTensor] = {}
    arrays: dict[int, Arrays] = {}
    for node in graph.nodes:
        reads = implementation(node.op).reads
        if reads is None:
            continue
        key = str(node.params["tensor"])
        if key not in views:
            views[key] = resolve_view(data, key)
        arrays[node.id] = canonical(reads(node, views[key]))
    return BoundGraph(graph, arrays)


def canonical(arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """The same arrays, contiguous and in the machine's types (int64; values float32)."""
    types: dict[str, npt.DTypeLike] = {
        "seg": np.int64,
        "crd": np.int64,
        "times": np.int64,
        "vals": np.float32,
    }
    return {
        name: np.ascontiguousarray(array, dtype=types.get(name, array.dtype))
        for name, array in arrays.items()
    }
