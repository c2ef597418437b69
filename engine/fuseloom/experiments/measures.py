"""Measurements that are no runs: what data are, and what a CPU makes of a GCN."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.models.data import bigbird
from fuseloom.models.datasets import load_graph

Report = Callable[[float, str], bool]
Floats = npt.NDArray[np.float32]
_TRIES = 3


def describe(request: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Rows, stored elements and sparsity, in per cent, of a graph or of a mask.

    Raises
    ------
    DataError
        If there is no such graph, or blocks do not divide the mask.
    """
    if "mask" in request:
        block, tokens = int(request["mask"]), int(request["tokens"])
        kept = bigbird(tokens, block)
        label, origin = f"BigBird, blocks of {block}", "drawn by its recipe"
        rows, stored = tokens, int(kept.sum())
    else:
        graph = load_graph(request["graph"])
        label, rows, stored = graph.label, graph.nodes, graph.adjacency.nnz
        origin = "made at random" if graph.standin else "the data set's own files"
    sparsity = 100.0 * (1.0 - stored / rows**2)
    return {
        "label": label, "origin": origin, "rows": int(rows), "stored": int(stored),
        "sparsity": sparsity,
    }  # fmt: skip


def roofline(request: Mapping[str, Any], report: Report) -> dict[str, float]:
    """Rates of a three-layer GCN on a graph, and the peaks of the core it runs on.

    Times are CPU time of this process, the least of some tries, so that other work counts little.
    Bytes are those that products must move: every operand once.

    Returns
    -------
    dict
        ``seconds``, ``rate`` and ``peak`` (FLOP/s), ``bandwidth`` (bytes/s), ``intensity``
        (FLOP per byte), and shares: ``arithmetic_share`` and ``sparse_share`` of the peak,
        ``memory_share`` of the bandwidth, ``roof_share`` of what the roofline allows.
    """
    graph = load_graph(request["graph"])
    rng = np.random.default_rng(0)
    adjacency = graph.adjacency.tocsr().astype(np.float32)
    stored = graph.features
    dense = stored if isinstance(stored, np.ndarray) else stored.toarray()
    features: Floats = np.asarray(dense, dtype=np.float32)
    widths = [features.shape[1], *[int(request["hidden"])] * 2, max(graph.classes, 2)]
    weights = [rng.standard_normal(pair).astype(np.float32) for pair in pairwise(widths)]
    peak, bandwidth = _peak(int(request["edge"]), report), _bandwidth(int(request["elements"]))
    total = _FastestOf()
    report(0.6, "the model")
    for _ in range(_TRIES):
        total.keep(_forward(adjacency, features, weights))
    best = total.best
    seconds = best["sparse_seconds"] + best["dense_seconds"]
    flops = best["sparse_flops"] + best["dense_flops"]
    rate, intensity = flops / seconds, flops / best["bytes"]
    return {
        "seconds": seconds,
        "rate": rate,
        "peak": peak,
        "bandwidth": bandwidth,
        "intensity": intensity,
        "arithmetic_share": rate / peak,
        "sparse_share": best["sparse_flops"] / best["sparse_seconds"] / peak,
        "memory_share": best["bytes"] / seconds / bandwidth,
        "roof_share": rate / min(peak, intensity * bandwidth),
    }


class _FastestOf:
    """The fastest of several tries."""

    def __init__(self) -> None:
        self.best: dict[str, float] = {}

    def keep(self, found: dict[str, float]) -> None:
        if not self.best or _seconds(found) < _seconds(self.best):
            self.best = found


def _seconds(found: Mapping[str, float]) -> float:
    return found["sparse_seconds"] + found["dense_seconds"]


def _forward(adjacency: Any, features: Floats, weights: list[Floats]) -> dict[str, float]:
    """Three layers ``relu(A (X W))``; what they took."""
    found = dict.fromkeys(
        ("sparse_seconds", "dense_seconds", "sparse_flops", "dense_flops", "bytes"), 0.0
    )
    hidden = features
    for matrix in weights:
        started = time.process_time()
        product = hidden @ matrix
        between = time.process_time()
        gathered = np.maximum(adjacency @ product, 0)
        found["dense_seconds"] += max(between - started, 1e-9)
        found["sparse_seconds"] += max(time.process_time() - between, 1e-9)
        found["dense_flops"] += 2.0 * hidden.shape[0] * matrix.size
        found["sparse_flops"] += 2.0 * adjacency.nnz * matrix.shape[1]
        moved = hidden.size + matrix.size + 2 * product.size + 2 * adjacency.nnz + gathered.size
        found["bytes"] += 4.0 * moved
        hidden = gathered
    return found


def _peak(edge: int, report: Report) -> float:
    """FLOP/s of a product of dense matrices, by CPU time: of one core."""
    report(0.2, "peak of the arithmetic")
    left = np.random.default_rng(0).standard_normal((edge, edge)).astype(np.float32)
    least = min(_timed(lambda: left @ left) for _ in range(_TRIES))
    return 2.0 * edge**3 / least


def _bandwidth(elements: int) -> float:
    """Bytes/s of ``a = b + c`` on arrays beyond the caches."""
    b, c = np.ones(elements, np.float32), np.ones(elements, np.float32)
    a = np.empty_like(b)
    least = min(_timed(lambda: np.add(b, c, out=a)) for _ in range(_TRIES))
    return 12.0 * elements / least


def _timed(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return max(time.process_time() - started, 1e-9)
