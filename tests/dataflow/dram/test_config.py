"""Configurations, presets and mappings."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fuseloom.dataflow.dram import (
    PRESETS,
    Dram,
    Ideal,
    Queues,
    build,
    controller,
    ddr4_3200,
    from_dict,
    hbm2,
    peak_bandwidth,
    preset,
)
from fuseloom.errors import SimulationError


@pytest.mark.parametrize("name", PRESETS)
def test_plain_data_read_back_to_an_equal_memory(name: str) -> None:
    config = preset(name)
    assert from_dict(config.to_dict()) == config
    assert config.name in str(config)


def test_peaks() -> None:
    assert hbm2().peak == 256e9
    assert hbm2().capacity == 4 << 30
    assert ddr4_3200().peak == 25.6e9
    assert ddr4_3200(channels=2).peak == 51.2e9
    assert ddr4_3200().capacity == 8 << 30
    assert hbm2().peak_per_cycle(1e9) == 256
    assert peak_bandwidth(Queues(), 1e9) == 16e9
    assert peak_bandwidth(Ideal(), 1e9) == float("inf")


def timing(**changes: int) -> Callable[[], Dram]:
    return lambda: replace(hbm2(), timing=replace(hbm2().timing, **changes))


def dram(**changes: Any) -> Callable[[], Dram]:
    return lambda: hbm2(**changes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (timing(cl=0), "tCL is 0"),
        (timing(ccd_l=1), "tCCD_S is longer than tCCD_L"),
        (timing(bl=4), "bursts of tBL = 4 overlap at tCCD_S = 2"),
        (timing(rc=40), "tRC = 40 is shorter than tRAS [+] tRP"),
        (timing(rtw=5), "tRTW = 5 lets write data meet read data .hint: at least .* = 12"),
        (timing(refi=400), "tREFI = 400 leave no time for accesses"),
        (dram(channels=3), "channels is 3 .hint: a power of two"),
        (dram(row_bytes=16), "a row of 16 bytes holds no access of 32"),
        (dram(bank_groups=16, banks=8), "more than 64 banks"),
        (dram(channels=512), "more than 256 pseudo channels"),
        (dram(tck_ps=0), "tck_ps is 0"),
        (dram(policy="ajar"), "no page policy is called 'ajar' .hint: open or closed"),
        (dram(read_queue=0), "read_queue is 0"),
        (dram(write_low=24), "watermarks 24 and 24 do not fit a queue of 32 writes"),
        (dram(controller_latency=-1), "controller_latency is -1"),
        (dram(mapping="row bank column rank channel"), "no field is called 'rank'"),
        (dram(mapping="row bank column channel"), "bankgroup appears 0 times"),
        (dram(mapping="row row bank bankgroup column channel"), "row appears 2 times"),
        (dram(mapping="row bank:3 bankgroup column channel bank"), "bank:3 does not fit"),
        (dram(mapping="column:1 column:1 row bank bankgroup column channel"), "two places"),
        (lambda: Ideal(0), "latency is 0"),
        (lambda: Queues(channel_num=0), "channel_num is 0"),
        (lambda: Queues(init_interval=0), "init_interval is 0"),
        (lambda: preset("tape"), "no memory is called 'tape' .hint: known: ideal, queues"),
        (lambda: from_dict({"kind": "tape"}), "no kind of memory is called 'tape'"),
        (lambda: from_dict({"kind": "ideal", "speed": 3}), "a memory of kind ideal has no 'speed'"),
        (lambda: from_dict({"kind": "dram", "name": "x"}), "a memory of kind dram lacks "),
        (lambda: build(hbm2(), 0, 1, 1), "a machine clock of 0 Hz"),
        (lambda: build(hbm2(), 1e9, 0, 1), "0 ports with 1 request each"),
    ],
)
def test_refusals(make: Callable[[], object], message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        make()


@pytest.mark.parametrize("clock_hz", [0.5e9, 1e9, 1.6e9])
@pytest.mark.parametrize("config", [hbm2(), ddr4_3200(), Queues(), Ideal(3)], ids=lambda c: c.name)
def test_no_answer_beats_the_lower_bounds(config: Any, clock_hz: float) -> None:
    m = build(config, clock_hz, 4, 1)
    rng = random.Random(0)
    tau = dict.fromkeys(range(4), 0)
    for port in range(4):
        controller.push(m, 0, port, rng.randrange(1 << 12), 4, 0, port)
    for _ in range(200):
        bound = controller.earliest(m)
        count = controller.advance(m)
        answers = [
            (int(controller.answer_time(m, k)), int(controller.answer_tag(m, k)))
            for k in range(count)
        ]
        assert min(answers)[0] >= bound
        for time, port in answers:
            assert time - tau[port] >= controller.min_latency(m) >= 1
            tau[port] = time + rng.randrange(30)
            controller.push(m, tau[port], port, rng.randrange(1 << 12), 4, 0, port)
