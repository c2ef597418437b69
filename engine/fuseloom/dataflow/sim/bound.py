"""A graph with the arrays its nodes read: all that a simulation needs besides a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.graph import Graph

Arrays = Mapping[str, npt.NDArray[Any]]
_NONE: dict[str, npt.NDArray[Any]] = {}


@dataclass(frozen=True)
class BoundGraph:
    """A graph and, per node id, the arrays the node reads.

    Attributes
    ----------
    arrays : mapping
        ``scan``: ``seg`` and ``crd`` (int64).  ``array``: ``vals`` (float32).  ``source``:
        ``tokens`` (:data:`fuseloom.dataflow.sim.tokens.TOKEN_DTYPE`) and ``times`` (int64, the
        earliest timestamp of each; without it the source ticks once per token).  Nodes that read
        nothing have no entry.
    """

    graph: Graph
    arrays: Mapping[int, Arrays] = field(default_factory=dict)

    def of(self, node: int) -> Arrays:
        """The arrays of that node, maybe none."""
        return self.arrays.get(node, _NONE)


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
