"""Statistics of a memory: hits, and sums that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.dram import hbm2
from tests.dataflow.dram.patterns import stats


@pytest.mark.parametrize("step", [1, 2, 4, 8, 16])
def test_row_hits_of_strides(step: int) -> None:
    # One channel at a time, 32 columns of a row per bank, all of one row before the next: with
    # every step-th column a row serves 32 / step accesses, the first of which opens it.
    config = hbm2(mapping="row bank bankgroup channel column", refresh=False)
    addresses = np.arange(4096)[None] * step * 32
    got = stats(config, addresses, 32)
    assert got.hit_rate == 1 - step / 32
    closed = stats(replace(config, policy="closed"), addresses, 32)
    assert closed.hit_rate == 0
    assert sum(c.activates for c in closed.channels) == 4096


def test_more_requesters_than_hits() -> None:
    """Streams that share banks but not rows conflict; those in different banks do not."""
    config = hbm2(refresh=False)
    own = config.row_bytes * config.total_channels * config.bank_groups
    steps = np.arange(2048) * 32  # whole rows of one bank per group: 32 accesses each
    apart = np.array([steps + port * own for port in range(4)])
    shared = np.array([steps + port * own * config.banks for port in range(4)])
    assert stats(config, apart, 8).hit_rate == 1 - 1 / 32
    assert stats(config, shared, 8).hit_rate < 0.8


def test_statistics_add_up() -> None:
    config = hbm2()
    rng = np.random.default_rng(1)
    got = stats(config, rng.integers(0, 1 << 22, (8, 500)) * 32, 8)
    accesses = sum(c.reads + c.writes for c in got.channels)
    assert accesses == got.reads == 4000
    assert accesses == sum(c.hits + c.misses + c.conflicts for c in got.channels)
    assert got.bytes == got.requested == 32 * 4000
    assert sum(got.read_histogram) == 4000
    assert got.bandwidth == pytest.approx(got.bytes / (got.cycles * 1e-9))
    assert got.read_latency > 30
    assert sum(c.busy for c in got.channels) == 2 * accesses
    assert got.to_dict()["hit_rate"] == got.hit_rate
    expected = got.cycles // config.timing.refi
    assert all(expected - 1 <= c.refreshes <= expected for c in got.channels)
    assert "GB/s" in str(got)
    assert "4,000 reads" in str(got)
