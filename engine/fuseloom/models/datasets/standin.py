"""Stand-ins: graphs made at random that cost what the real ones cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from fuseloom.frontends.files import GraphData
from fuseloom.models.datasets.degrees import directed_degrees, undirected_degrees
from fuseloom.models.datasets.facts import Facts
from fuseloom.models.datasets.wiring import directed_graph, undirected_graph


def standin(facts: Facts, seed: int = 0) -> GraphData:
    """A graph with exactly the nodes, edges and features of a data set.

    Two-hop paths agree within 1 %, the largest degree exactly where it is known, and every node
    has an edge, but those of other types.  Who is whose neighbour is random: communities, and so
    the locality of memory accesses, are not imitated.  There are no labels.

    Parameters
    ----------
    seed : int
        Equal seeds give equal graphs.

    Raises
    ------
    DataError
        If no graph has these numbers.
    """
    rng = np.random.default_rng(seed)
    linked = facts.nodes - facts.others
    if facts.directed:
        into, out = directed_degrees(rng, linked, facts.edges, facts.two_hop_paths)
        adjacency = directed_graph(rng, into, out)
    else:
        degrees = undirected_degrees(rng, linked, facts.edges, facts.two_hop_paths, facts.largest)
        adjacency = undirected_graph(rng, degrees)
    return GraphData(
        facts.title,
        enlarged(adjacency, facts.nodes),
        _features(rng, facts),
        None,
        facts.classes,
        f"made at random, seed {seed}",
        standin=True,
        seed=seed,
    )


def enlarged(adjacency: Any, nodes: int) -> Any:
    """A ``csr_array`` with more nodes, which come last and have no edges."""
    if nodes == adjacency.shape[0]:
        return adjacency
    made = adjacency.copy()
    made.resize((nodes, nodes))
    return made


def _features(rng: np.random.Generator, facts: Facts) -> Any:
    """A bag of words with exactly so many words, or normal numbers."""
    shape = (facts.nodes, facts.features)
    if facts.words is None:
        return rng.standard_normal(shape, dtype=np.float32)
    at = np.sort(rng.choice(shape[0] * shape[1], facts.words, replace=False, shuffle=False))
    ones = np.ones(len(at), dtype=np.float32)
    return scipy.sparse.csr_array((ones, (at // shape[1], at % shape[1])), shape=shape)
