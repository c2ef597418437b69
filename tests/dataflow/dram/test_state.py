"""The array a memory lives in: parts that do not overlap, free lists that hold all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from fuseloom.dataflow.dram import Config, Ideal, Queues, build, ddr4_3200, hbm2
from fuseloom.dataflow.dram.state import (
    AT_ANSWERS,
    AT_CHANNELS,
    AT_EVENTS,
    AT_TRACE,
    BANKS,
    C_BANKS,
    C_HEAD,
    C_TAIL,
    CHANNELS,
    COMMANDS,
    EARLIEST,
    FOREVER,
    FREE_NODE,
    FREE_SLOT,
    HEADER,
    HISTOGRAM,
    MAX_BANKS,
    N_NEXT,
    NODE,
    RFC,
    S_NEXT,
    SLOT,
    STRIDE,
    TRACE,
    TRACED,
    trace,
)
from fuseloom.errors import SimulationError

MEMORIES = [Ideal(), Queues(), hbm2(), ddr4_3200()]
PORTS, OUTSTANDING = 3, 5


def chain(m: np.ndarray, first: int, link: int) -> list[int]:
    found = []
    while first:
        found.append(int(first))
        first = m[first + link]
    return found


@pytest.mark.parametrize("config", MEMORIES, ids=lambda c: c.name)
def test_the_parts_lie_one_behind_another(config: Config) -> None:
    m = build(config, 1e9, PORTS, OUTSTANDING, trace=11)
    slots = chain(m, m[FREE_SLOT], S_NEXT)
    nodes = chain(m, m[FREE_NODE], N_NEXT)
    assert len(slots) == PORTS * OUTSTANDING
    assert len(nodes) >= m[CHANNELS] * len(slots)
    parts = [(0, HEADER)]
    parts += [(s, SLOT) for s in sorted(slots)]
    parts += [(n, NODE) for n in sorted(nodes)]
    parts += [(int(m[AT_ANSWERS]), 2 * len(slots)), (int(m[AT_TRACE]), 11 * TRACE)]
    parts += [(int(m[AT_EVENTS]), int(m[CHANNELS]))]
    channels = range(int(m[AT_CHANNELS]), len(m), int(m[STRIDE]))
    assert len(channels) == m[CHANNELS]
    parts += [(at, int(m[STRIDE])) for at in channels]
    assert all(a + size <= b for (a, size), (b, _) in pairwise(parts))
    assert parts[-1][0] + parts[-1][1] == len(m)


@pytest.mark.parametrize("config", MEMORIES, ids=lambda c: c.name)
def test_at_rest_nothing_waits(config: Config) -> None:
    m = build(config, 1e9, PORTS, OUTSTANDING)
    assert m[EARLIEST] == FOREVER
    for k in range(int(m[CHANNELS])):
        at = m[AT_CHANNELS] + k * m[STRIDE]
        assert (m[at + C_HEAD], m[at + C_TAIL]) == (at, at)
        assert m[m[AT_EVENTS] + k] == FOREVER
    assert trace(m) == []


def test_the_header_ends_before_the_histogram() -> None:
    assert RFC < HISTOGRAM
    assert C_BANKS - MAX_BANKS > 0
    assert build(hbm2(), 1e9, 1, 1)[BANKS] == 16


def test_recorded_commands_are_read_back() -> None:
    m = build(hbm2(), 1e9, 1, 1, trace=4)
    at = int(m[AT_TRACE])
    m[at : at + 2 * TRACE] = [5, 1, 0, 2, 3, 77, 9, 1, 7, -1, -1, -1]
    m[TRACED] = 2
    first, second = trace(m)
    assert first == (5, 1, "ACT", 2, 3, 77)
    assert second.name == COMMANDS[7] == "REF"
    m[TRACED] = 9  # more were issued than there was room for
    assert len(trace(m)) == 4


@pytest.mark.parametrize(
    ("clock_hz", "ports", "outstanding", "reason"),
    [
        (1e9, 0, 1, "0 ports with 1 request"),
        (1e9, 1, 0, "1 port with 0 requests"),
        (1e9, (1 << 16) + 1, 1, "65,537 ports"),
        (1e13, 1, 1, "a machine clock of 1e\\+13 Hz"),
        (1.0, 1, 1, "a machine clock of 1 Hz"),
        (0.0, 1, 1, "a machine clock of 0 Hz"),
    ],
)
def test_numbers_out_of_range_are_refused(
    clock_hz: float, ports: int, outstanding: int, reason: str
) -> None:
    with pytest.raises(SimulationError, match=reason):
        build(Ideal(), clock_hz, ports, outstanding)
