"""The bandwidth of patterns of addresses, against the arithmetic of timing constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.dram import Dram, DramAddress, Mapping, ddr4_3200, hbm2
from tests.dataflow.dram.patterns import stats

PRESETS = [hbm2(), ddr4_3200(), ddr4_3200(name="two channels", channels=2)]


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
    addresses = np.array([[place(DramAddress(0, 0, 0, row, 0)) for row in range(1000)]])
    got = stats(config, addresses, 64)
    assert got.cycles == pytest.approx(1000 * 48, rel=0.01)
    assert got.channels[0].conflicts == 999
