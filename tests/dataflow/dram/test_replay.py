"""Replays of requests, on traces small enough to follow by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuseloom.dataflow.dram import Ideal, build, replay

LATENCY = 10


def trace(
    ports: list[list[tuple[int, int]]], needs: Sequence[tuple[int, int]] = (), outstanding: int = 64
) -> list[int]:
    """A trace of reads: of each port when each token arrives, and its place."""
    n = len(ports)
    requests = replay.HEADER + n * replay.PORT + n * n * replay.PAIR
    made = [n, requests, outstanding, 0]
    begin = 0
    for p, port in enumerate(ports):
        made += [begin, begin + len(port), begin, begin, 0, 0, 0, p]
        begin += len(port)
    begins = np.cumsum([0] + [len(port) for port in ports])
    for p in range(n):
        for q in range(n):
            made += [int((p, q) in needs), 0, int(begins[q]), int(begins[q])]
    for port in ports:
        for k, (arrival, place) in enumerate(port):
            made += [32 * k, 32, arrival, 1, 1, place, -1, 0, 0, 0]
    return made


def replayed(made: list[int], ports: int, outstanding: int = 64) -> int:
    model = build(Ideal(LATENCY), 1e9, ports, outstanding)
    return int(replay.replay_requests(model.tolist(), made))


def test_a_request_takes_the_latency() -> None:
    assert replayed(trace([[(5, 0)]]), 1) == 5 + LATENCY


def test_requests_follow_each_other_by_a_cycle() -> None:
    assert replayed(trace([[(0, k) for k in range(8)]]), 1) == 8 + LATENCY


def test_a_port_waits_for_its_oldest_request() -> None:
    made = trace([[(0, k) for k in range(3)]], outstanding=1)
    assert replayed(made, 1, 1) == 1 + 3 * LATENCY


def test_what_stands_behind_waits_for_what_stands_before() -> None:
    both = [[(0, 0), (0, 1)], [(0, 0), (0, 1)]]
    apart = replayed(trace(both), 2)
    assert replayed(trace(both, needs=[(1, 0)]), 2) == apart + LATENCY
