"""What patterns of addresses reach, against the arithmetic of the timing constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.dataflow.sim.dram import Dram, Mapping, MemoryStats, Place, ddr4_3200, hbm2
from engine.dataflow.sim.dram.state import LAST
from tests.dataflow.sim.dram.driving import run

PRESETS = [hbm2(), ddr4_3200(), ddr4_3200(name="two channels", channels=2)]


def stats(config: Dram, addresses: np.ndarray, outstanding: int, write: int = 0) -> MemoryStats:
    """After accesses to addresses (ports, count), one each."""
    requests = np.zeros((*addresses.shape, 4), np.int64)
    requests[:, :, 1], requests[:, :, 2] = addresses, config.access_bytes
    requests[:, :, 3] = write
    m, _ = run(config, requests, outstanding=outstanding)
    return MemoryStats.of(m, config, int(m[LAST]))


def stream(config: Dram, ports: int, count: int) -> np.ndarray:
    """One sequential stream that ports read in turns."""
    return np.arange(count * ports).reshape(count, ports).T * config.access_bytes


@pytest.mark.parametrize("config", PRESETS, ids=lambda c: c.name)
@pytest.mark.parametrize("write", [0, 1])
def test_streams_reach_nine_tenths_of_the_peak(config: Dram, write: int) -> None:
    # The rest is mostly refreshes: tRFC / tREFI is 6.7 % of HBM2's time, 4.5 % of DDR4's.
    got = stats(config, stream(config, 16, 8_000), 64, write)
    assert 0.9 < got.share < 1 - config.timing.rfc / config.timing.refi


def test_a_stream_within_one_bank_group_is_held_by_ccd_l() -> None:
    # tBL / tCCD_L of the peak: every other burst is empty.
    config = hbm2(mapping="bankgroup row bank column channel", refresh=False)
    got = stats(config, stream(config, 16, 4_000), 64)
    assert 0.95 * 2 / 4 < got.share <= 2 / 4


def bound(config: Dram) -> float:
    """Accesses per clock and channel, each with an activate: tRRD_S and tFAW."""
    return min(1 / config.timing.rrd_s, 4 / max(config.timing.faw, 1))


@pytest.mark.parametrize("faw", [16, 30])
def test_random_accesses_are_held_by_activates(faw: int) -> None:
    # tFAW 16: 4 / 16 = 1 / tRRD_S = 1 / 4 access per clock, so half the peak at tBL 2.  The
    # banks would allow 16 / tRC = 16 / 48 = 1 / 3 if requests were spread evenly.
    # tFAW 30: 4 / 30 per clock, 27 % of the peak.
    config = hbm2(refresh=False)
    config = replace(config, timing=replace(config.timing, faw=faw))
    rng = np.random.default_rng(0)
    addresses = rng.integers(0, config.capacity // 32, (64, 1500)) * 32
    got = stats(config, addresses, 64)
    assert got.hit_rate < 0.01
    most = bound(config) * config.timing.bl
    assert 0.85 * most < got.share <= most


@pytest.mark.parametrize("faw", [16, 30])
def test_a_new_row_of_the_next_bank_each_time_reaches_that_bound(faw: int) -> None:
    config = hbm2(refresh=False, mapping="column row bank bankgroup channel")
    config = replace(config, timing=replace(config.timing, faw=faw))
    got = stats(config, stream(config, 16, 4_000), 64)
    most = bound(config) * config.timing.bl
    assert 0.97 * most < got.share <= most * 1.001


def test_one_bank_is_held_by_its_row_cycle() -> None:
    # A new row of the same bank each time: one access per tRC of 48 clocks.
    config = hbm2(refresh=False)
    place = Mapping.of(config).address
    addresses = np.array([[place(Place(0, 0, 0, row, 0)) for row in range(1000)]])
    got = stats(config, addresses, 64)
    assert got.cycles == pytest.approx(1000 * 48, rel=0.01)
    assert got.channels[0].conflicts == 999


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
