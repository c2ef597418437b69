"""Graphs with given degrees: stubs are joined at random, and what is joined twice again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.wording import counted

Ints = npt.NDArray[np.int64]

ROUNDS = 2_000


def undirected_graph(rng: np.random.Generator, degrees: Ints) -> Any:
    """A symmetric ``csr_array`` of ones with exactly these degrees, without loops.

    Source: the configuration model (B. Bollobás, 1980), made simple by exchanging the ends of
    loops and of repeated edges with those of others.

    Raises
    ------
    DataError
        If there seems to be no such graph.
    """
    stubs = rng.permutation(np.repeat(np.arange(len(degrees)), degrees))
    half = len(stubs) // 2
    a, b = _joined(rng, stubs[:half], stubs[half:], len(degrees), directed=False)
    return _matrix(np.concatenate([a, b]), np.concatenate([b, a]), len(degrees))


def directed_graph(rng: np.random.Generator, into: Ints, out: Ints) -> Any:
    """A ``csr_array`` of ones with exactly these in- and out-degrees, without loops.

    Raises
    ------
    DataError
        If there seems to be no such graph.
    """
    nodes = np.arange(len(into))
    sources, targets = np.repeat(nodes, out), rng.permutation(np.repeat(nodes, into))
    return _matrix(*_joined(rng, sources, targets, len(into), directed=True), len(into))


def _matrix(rows: Ints, columns: Ints, nodes: int) -> Any:
    ones = np.ones(len(rows), dtype=np.float32)
    made = scipy.sparse.csr_array((ones, (rows, columns)), shape=(nodes, nodes))
    made.sort_indices()
    return made


def _joined(
    rng: np.random.Generator, a: Ints, b: Ints, nodes: int, *, directed: bool
) -> tuple[Ints, Ints]:
    """Exchange ends until no edge is a loop or there twice; ``a`` keeps its order."""
    a, b = a.copy(), b.copy()
    keys = _keys(a, b, nodes, directed)
    for _ in range(ROUNDS):
        bad = _faulty(keys, a, b)
        if not len(bad):
            return a, b
        others = rng.integers(0, len(a), len(bad))
        moved = np.union1d(bad, others)
        b[moved] = b[rng.permutation(moved)]
        if not directed:  # either end may move
            turned = moved[rng.random(len(moved)) < 0.5]
            a[turned], b[turned] = b[turned], a[turned]
        keys[moved] = _keys(a[moved], b[moved], nodes, directed)
    raise DataError(
        f"no graph of {counted(nodes, 'node')} with these degrees was found",
        hint="fewer edges, or a smaller largest degree",
    )


def _keys(a: Ints, b: Ints, nodes: int, directed: bool) -> Ints:
    """One number per edge, equal for equal edges."""
    if directed:
        return a * nodes + b
    return np.minimum(a, b) * nodes + np.maximum(a, b)


def _faulty(keys: Ints, a: Ints, b: Ints) -> Ints:
    """Loops, and all but the first of equal edges."""
    order = np.argsort(keys, kind="stable")
    again = keys[order[1:]] == keys[order[:-1]]
    return np.union1d(order[1:][again], np.flatnonzero(a == b))
