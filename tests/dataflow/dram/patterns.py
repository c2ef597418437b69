"""Patterns of addresses, and what reaching them takes."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.dram import Dram, MemoryStats
from fuseloom.dataflow.dram.state import LAST
from tests.dataflow.dram.driving import run


def stats(config: Dram, addresses: np.ndarray, outstanding: int, write: int = 0) -> MemoryStats:
    """After accesses to addresses (ports, count), one each."""
    requests = np.zeros((*addresses.shape, 4), np.int64)
    requests[:, :, 1], requests[:, :, 2] = addresses, config.access_bytes
    requests[:, :, 3] = write
    m, _ = run(config, requests, outstanding=outstanding)
    return MemoryStats.of(m, config, int(m[LAST]))
