"""Stores of waits that tests make up, and what they hold cycle by cycle."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from fuseloom.dataflow.sim.events.spool import WaitSpool
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.observe import BUSY, IDLE, Int64


def random_store(
    seed: int, path: Path, nodes: int = 4, cycles: int = 700, parts: int = 5
) -> tuple[EventStore, Int64]:
    """A store of random waits, handed over in several parts, and each node's activity per cycle."""
    rng = np.random.default_rng(seed)
    activity = np.full((nodes, cycles), IDLE)
    clocks = rng.integers(0, cycles + 1, nodes)
    clocks[0] = cycles
    spool = WaitSpool(path, nodes)
    waits: list[list[tuple[int, int, int]]] = []
    for node in range(nodes):
        activity[node, : clocks[node]] = BUSY
        cuts = np.unique(rng.integers(0, clocks[node] + 1, rng.integers(0, 160)))
        own = []
        for since, until in pairwise(cuts.tolist()):
            reason = int(rng.integers(0, 4))
            if reason:
                activity[node, since:until] = reason
                own.append((reason, since, until))
        waits.append(own)
    for part in range(parts):
        rows = [
            (node, *wait)
            for node, own in enumerate(waits)
            for wait in own[len(own) * part // parts : len(own) * (part + 1) // parts]
        ]
        # Waits of nodes come in turns, those of one node in order.
        rows.sort(key=lambda row: row[2])
        spool.add(*np.array(rows, np.int64).reshape(-1, 4).T)
    tokens = rng.integers(0, 16, (nodes, -(-cycles // 16)))
    return EventStore(spool.finish(clocks, cycles, tokens, 16)), activity
