"""Patterns of given sparsity, for studies of how sparsity and its shape change the cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import GraphData
from fuseloom.models.drawing import PIECE, largest, normal
from fuseloom.wording import counted

Bools = npt.NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int, int], Bools]

NODES, FEATURES, SPARSITY = 500, 128, 0.95
LARGEST = 2**13
"""Nodes of the largest pattern: every place of the matrix gets a random number."""

POWER = 0.5
"""Node ``k`` is drawn in proportion to ``k ** -POWER``, as row and as column: degrees then follow
a power law with the exponent 1 + 1 / POWER = 3, that of Barabási and Albert's graphs."""


def _chosen(rng: np.random.Generator, weights: npt.NDArray[np.float64], count: int) -> Bools:
    """So many places without replacement, in proportion to weights.

    Source: P. Efraimidis and P. Spirakis, "Weighted random sampling with a reservoir", 2006.
    """
    with np.errstate(divide="ignore"):
        waiting = np.where(weights > 0, rng.exponential(size=weights.shape) / weights, np.inf)
    chosen = np.zeros(weights.size, dtype=bool)
    if count:
        chosen[np.argpartition(waiting, count - 1, axis=None)[:count]] = True
    return chosen.reshape(weights.shape)


def _uniform(rng: np.random.Generator, nodes: int, count: int) -> Bools:
    return _chosen(rng, np.ones((nodes, nodes)), count)


def _power_law(rng: np.random.Generator, nodes: int, count: int) -> Bools:
    weight = np.arange(1.0, nodes + 1.0) ** -POWER
    return _chosen(rng, np.outer(rng.permutation(weight), rng.permutation(weight)), count)


def _block_diagonal(rng: np.random.Generator, nodes: int, count: int) -> Bools:
    """As many equal communities as can hold the elements, so they are nearly full."""
    communities = max(1, min(nodes, nodes * nodes // max(count, 1)))
    while True:
        member = np.arange(nodes) * communities // nodes
        inside = np.equal.outer(member, member)
        if inside.sum() >= count:
            return _chosen(rng, inside.astype(np.float64), count)
        communities -= 1


PATTERNS: Mapping[str, Draw] = MappingProxyType(
    {"uniform": _uniform, "power-law": _power_law, "block-diagonal": _block_diagonal}
)


def pattern(kind: str, nodes: int = NODES, sparsity: float = SPARSITY, seed: int = 0) -> Bools:
    """A square matrix with exactly ``round((1 - sparsity) * nodes²)`` places that are true.

    Parameters
    ----------
    kind : str
        ``uniform``: every place alike; ``power-law``: few rows and columns have most;
        ``block-diagonal``: communities that are nearly complete, and nothing between them.
    sparsity : float
        Share of the places that are empty, 0 to 1.

    Raises
    ------
    DataError
        An unknown kind, or numbers out of range.

    Examples
    --------
    >>> int(pattern("block-diagonal", 10, 0.8).sum())
    20
    """
    if kind not in PATTERNS:
        raise DataError(f"no pattern is called {kind!r}", hint=f"known: {', '.join(PATTERNS)}")
    if not 1 <= nodes <= LARGEST or not 0.0 <= sparsity <= 1.0:
        raise DataError(
            f"a pattern of {counted(nodes, 'node')} with sparsity {sparsity:g}",
            hint=f"1 to {LARGEST:,} nodes, and a sparsity from 0 to 1",
        )
    count = round((1.0 - sparsity) * nodes * nodes)
    return PATTERNS[kind](np.random.default_rng(seed), nodes, count)


def synthetic(
    kind: str,
    nodes: int = NODES,
    features: int = FEATURES,
    sparsity: float = SPARSITY,
    seed: int = 0,
) -> GraphData:
    """A graph whose adjacency has a pattern, with normal features and four classes.

    The defaults are the sizes of the paper's study of sparsity (Fig. 15), at its largest.

    Raises
    ------
    DataError
        As :func:`pattern`.
    """
    places = pattern(kind, nodes, sparsity, seed)
    table = np.random.default_rng(seed).standard_normal((nodes, features), dtype=np.float32)
    return GraphData(
        f"{kind}, {counted(nodes, 'node')}, {sparsity:.4g} sparse, seed {seed}",
        scipy.sparse.csr_array(places.astype(np.float32)),
        table,
        None,
        4,
        "made at random",
        seed=seed,
    )


def pruned(
    shape: tuple[int, ...], density: float, seed: int | np.random.Generator = 0
) -> npt.NDArray[Any]:
    """Normal weights of which the largest magnitudes remain: exactly ``round(density * size)``.

    Source: S. Han et al., "Learning both weights and connections for efficient neural networks",
    2015.

    Raises
    ------
    DataError
        A density outside 0 to 1.
    """
    if not 0.0 <= density <= 1.0:
        raise DataError(f"a density of {density:g}", hint="from 0 to 1")
    rng = np.random.default_rng(seed)
    if prod(shape) > PIECE:  # in float32, for less memory
        large = normal(shape, rng)
        largest(large, round(density * large.size))
        return large
    weights = rng.standard_normal(shape)
    dropped = weights.size - round(density * weights.size)
    if dropped:
        smallest = np.argpartition(np.abs(weights), dropped - 1, axis=None)[:dropped]
        weights.reshape(-1)[smallest] = 0.0
    return weights
