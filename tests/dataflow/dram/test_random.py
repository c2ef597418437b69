"""Random memories under random traffic keep every rule and match the obvious controller."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.dram import Dram, DramTiming, Mapping, build, ddr4_3200, hbm2, trace
from fuseloom.dataflow.dram.config import FIELDS
from fuseloom.dataflow.dram.state import SPAN
from tests.dataflow.dram import protocol, reference
from tests.dataflow.dram.driving import fast, plain, run

ORDERS = [" ".join(order) for order in permutations(FIELDS)]
SPLIT = ["row bank column channel column:1", "row:2 bank bankgroup column channel row"]


def random_timing(rng: random.Random) -> DramTiming:
    def some(least: int, most: int) -> int:
        return rng.randint(least, most)

    bl = some(1, 4)
    ccd_s = bl + some(0, 2)
    rrd_s, wtr_s, cl, cwl = some(1, 5), some(0, 5), some(1, 15), some(1, 15)
    ras, rp, rfc = some(1, 40), some(1, 15), some(1, 80)
    return DramTiming(
        cl=cl, cwl=cwl, rcd=some(1, 15), rp=rp, ras=ras, bl=bl, ccd_s=ccd_s,
        ccd_l=ccd_s + some(0, 4), rrd_s=rrd_s, rrd_l=rrd_s + some(0, 4), faw=some(0, 40),
        wr=some(0, 18), rtp=some(0, 10), wtr_s=wtr_s, wtr_l=wtr_s + some(0, 5),
        refi=rfc + 400 + some(0, 600), rfc=rfc, rc=rng.choice([0, ras + rp + some(0, 9)]),
        rtw=rng.choice([0, max(1, cl + bl - cwl + some(0, 5))]),
    )  # fmt: skip


def random_dram(rng: random.Random) -> Dram:
    write_queue = rng.randint(2, 12)
    high = rng.randint(1, write_queue)
    return Dram(
        "random",
        channels=rng.choice([1, 2]),
        pseudo_channels=rng.choice([1, 2]),
        bank_groups=rng.choice([1, 2, 4]),
        banks=rng.choice([1, 2, 4]),
        rows=rng.choice([4, 16]),
        row_bytes=rng.choice([64, 256]),
        access_bytes=16,
        tck_ps=rng.choice([400, 625, 1000, 1250]),
        timing=random_timing(rng),
        policy=rng.choice(["open", "open", "closed"]),
        mapping=rng.choice(ORDERS),
        read_queue=rng.randint(1, 12),
        write_queue=write_queue,
        write_high=high,
        write_low=rng.randint(0, high - 1),
        write_patience=rng.choice([1, 10, 100]),
        row_hit_cap=rng.choice([1, 3, 16]),
        controller_latency=rng.randint(0, 9),
        refresh=rng.random() < 0.7,
    )


def random_requests(rng: random.Random, config: Dram, ports: int, count: int) -> np.ndarray:
    """Mixed patterns: runs of addresses, few rows, anywhere; bursts and pauses."""
    requests = np.zeros((ports, count, 4), np.int64)
    writes = rng.choice([0, 0.2, 0.5, 1])
    pause = rng.choice([0, 1, 5, 60])
    most = rng.choice([1, 1, 16, 200])
    pattern = rng.choice(["run", "few", "any"])
    span = min(config.capacity, 1 << 10) if pattern == "few" else config.capacity
    for port in range(ports):
        time, address = rng.randint(0, 20), rng.randrange(config.capacity)
        for k in range(count):
            time += rng.randint(0, pause)
            address = address + 16 if pattern == "run" else rng.randrange(span)
            requests[port, k] = time, address, rng.randint(1, most), rng.random() < writes
    return requests


def more(first: int, end: int) -> list[Any]:
    """Seeds that ``pytest -m fuzz`` tries."""
    return [pytest.param(seed, marks=pytest.mark.fuzz) for seed in range(first, end)]


@pytest.mark.parametrize("seed", [*range(25), *more(25, 60)])
def test_protocol(seed: int) -> None:
    """The trace keeps every rule and serves exactly what was asked for."""
    rng = random.Random(seed)
    config = random_dram(rng)
    requests = random_requests(rng, config, rng.choice([1, 3, 8]), 200)
    outstanding = rng.choice([1, 4, 64])
    clock = rng.choice([1e9, 0.7e9, 1.6e9])
    m, answers = run(
        config, requests, outstanding=outstanding, clock_hz=clock, trace=100_000, drive=fast
    )
    commands = trace(m)
    assert len(commands) < 100_000
    protocol.check(config, commands)
    wanted: Counter[tuple[int, ...]] = Counter()
    mapping = Mapping.of(config)
    for _, address, size, write in requests.reshape(-1, 4).tolist():
        for a in range(address // 16, (address + size - 1) // 16 + 1):
            place = mapping.place(a * 16)
            wanted[place.channel, place.bankgroup, place.bank, place.row, write] += 1
    served = Counter(
        (c.channel, c.bankgroup, c.bank, c.row, int(c.name in protocol.WRITES))
        for c in commands
        if c.name in protocol.COLUMNS
    )
    assert served == wanted
    assert len(answers.reshape(-1, 3)) == requests.shape[0] * requests.shape[1]


@pytest.mark.parametrize("seed", [*range(25), *more(25, 60)])
def test_same_as_the_obvious_controller(seed: int) -> None:
    """Every command at the same clock, every answer at the same cycle."""
    rng = random.Random(1000 + seed)
    config = random_dram(rng)
    requests = random_requests(rng, config, 1, 60)
    m, answers = run(config, requests, trace=100_000, drive=plain)
    front = config.controller_latency - config.controller_latency // 2
    asked = [
        (-(-(int(time) + front) * 1000 // config.tck_ps), address, size, write)
        for time, (_, address, size, write) in zip(
            answers[0, :, 0].tolist(), requests[0].tolist(), strict=True
        )
    ]
    order = sorted(range(len(asked)), key=lambda k: (answers[0, k, 0], asked[k][3], k))
    commands, ends = reference.serve(config, [asked[k] for k in order])
    got = sorted(trace(m), key=lambda c: (c.channel, c.time))
    busy = {c.channel: c.time for c in commands if c.name in protocol.COLUMNS}
    assert [c for c in got if c.time <= busy.get(c.channel, -1)] == [
        c for c in commands if c.time <= busy.get(c.channel, -1)
    ]
    back = config.controller_latency // 2
    for k, end in zip(order, ends, strict=True):
        assert answers[0, k, 1] == -(-end * config.tck_ps // 1000) + back


@pytest.mark.parametrize("seed", range(15))
def test_machine_code_is_the_same(seed: int) -> None:
    """The whole state, word by word."""
    rng = random.Random(2000 + seed)
    config = random_dram(rng)
    requests = random_requests(rng, config, rng.choice([1, 4]), 100)
    outstanding = rng.choice([1, 5, 100])
    slow_m, slow = run(config, requests, outstanding=outstanding, trace=1000, drive=plain)
    fast_m, quick = run(config, requests, outstanding=outstanding, trace=1000, drive=fast)
    np.testing.assert_array_equal(slow, quick)
    np.testing.assert_array_equal(slow_m, fast_m)


@pytest.mark.parametrize("seed", [*range(8), *more(8, 20)])
@pytest.mark.parametrize("drive", [plain, fast])
def test_nothing_depends_on_when_it_happens(seed: int, drive: Any) -> None:
    """The same requests later: the same commands and answers, as much later.

    Candidates count their clocks from a base that follows the channel's clock; the shifts put the
    traffic on both sides of where it moves.
    """
    rng = random.Random(3000 + seed)
    config = replace(random_dram(rng), refresh=False, tck_ps=1000)
    requests = random_requests(rng, config, 2, 60)
    m, answers = run(config, requests, trace=10_000, drive=drive)
    commands = sorted(trace(m), key=lambda c: (c.channel, c.time))
    end = int(answers[:, :, 1].max())
    for shift in (SPAN - end // 2, SPAN - 5, SPAN, 3 * SPAN - end // 3, 1 << 40):
        later = requests + np.array([shift, 0, 0, 0])
        m, moved = run(config, later, trace=10_000, drive=drive)
        np.testing.assert_array_equal(moved[:, :, :2], answers[:, :, :2] + shift)
        same = [c._replace(time=c.time + shift) for c in commands]
        assert sorted(trace(m), key=lambda c: (c.channel, c.time)) == same


def test_long_traffic_keeps_every_rule() -> None:
    """Over several moves of that base without a pause, or a refresh that moves it, too."""
    timing = replace(ddr4_3200().timing, rcd=900, rp=900, ras=2500, refi=20_000, rfc=560)
    config = replace(ddr4_3200(), timing=timing, refresh=False, read_queue=4)
    rng = random.Random(6)
    requests = [(0, rng.randrange(config.capacity), 64, rng.randint(0, 1)) for _ in range(9000)]
    m, answers = run(config, requests, outstanding=16, trace=40_000)
    assert answers[:, :, 1].max() > 2 * SPAN
    protocol.check(config, trace(m))


@pytest.mark.parametrize("config", [hbm2(), ddr4_3200()], ids=lambda c: c.name)
def test_presets_keep_every_rule(config: Dram) -> None:
    rng = random.Random(5)
    requests = random_requests(rng, config, 32, 400)
    m, _ = run(config, requests, outstanding=16, trace=300_000)
    protocol.check(config, trace(m))


def test_the_order_of_pushes_does_not_matter() -> None:
    """Requests of one cycle are ranked by kind, port and, within a port, order of pushes."""
    config = hbm2()
    rng = random.Random(3)
    requests = [
        (rng.randint(0, 50), port, rng.randrange(1 << 20), 32, rng.randint(0, 1), port)
        for port in range(200)
    ]

    def answers(order: list[tuple[int, ...]]) -> dict[int, int]:
        from fuseloom.dataflow.dram import controller

        m = build(config, 1e9, 200, 1)
        for request in order:
            controller.push(m, *request)
        times: dict[int, int] = {}
        while count := controller.advance(m):
            for k in range(count):
                times[int(controller.answer_tag(m, k))] = int(controller.answer_time(m, k))
        return times

    first = answers(requests)
    for _ in range(5):
        rng.shuffle(requests)
        assert answers(requests) == first
