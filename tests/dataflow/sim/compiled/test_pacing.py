"""Streams said to bring one token a cycle at most: no run of the golden models shows two."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.compiled.pacing import paced_streams
from fuseloom.dataflow.sim.explain.moments import StreamCauses
from fuseloom.dataflow.sim.golden.interpreter import run as interpret
from fuseloom.dataflow.sim.observe import Observe
from tests.dataflow.sim.compiled.graphs import REF, VAL, graph, softmax, tokens

FREE = Machine.default()
SLOW = replace(FREE, alu_latency=4)


@pytest.mark.parametrize("machine", [FREE, SLOW], ids=["fast", "slow"])
@pytest.mark.parametrize("capacity", [None, 8])
def test_what_is_said_holds_in_a_run(machine: Machine, capacity: int | None) -> None:
    machine = replace(machine, channel_capacity=capacity)
    bound = softmax(4, 5)
    paced, at_times = paced_streams(bound.graph, machine)
    result = interpret(bound, machine, observe=Observe(log=True))
    assert paced  # else this says nothing
    for stream in paced:
        puts = Counter(StreamCauses(result.observed.log[stream]).puts.expanded().tolist())
        assert max(puts.values()) == 1, f"stream {stream}"
    for node, stream in at_times.items():
        assert stream in paced
        assert stream in bound.graph.nodes[node].inputs


def test_a_slow_alu_lets_values_and_stops_arrive_together() -> None:
    """A broadcast of what it makes puts one a cycle only at times; of what is fast, always."""
    bound = graph(
        [REF, VAL, VAL, VAL, VAL],
        ("source", (), (0,), {"kind": "ref"}),
        ("array", (0,), (1,), {"tensor": "A"}),
        ("unary", (1,), (2,), {"fn": "exp"}),
        ("broadcast", (2,), (3, 4), {}),
        ("valwrite", (3,), (), {"tensor": "X"}),
        ("valwrite", (4,), (), {"tensor": "Y"}),
        n0=tokens("0 1 S0 D", REF),
    )
    fast, at_times = paced_streams(bound.graph, FREE)
    assert {3, 4} <= fast
    assert at_times == {}
    slow, _ = paced_streams(bound.graph, SLOW)
    assert 2 in slow
    assert not {3, 4} & slow


def test_a_clock_that_stands_still_paces_nothing() -> None:
    bound = graph(
        [VAL, VAL],
        ("source", (), (0,), {"kind": "val"}),
        ("unary", (0,), (1,), {"fn": "exp", "ii": 0}),
        ("valwrite", (1,), (), {"tensor": "X"}),
        n0=tokens("1 S0 D", VAL),
    )
    paced, _ = paced_streams(bound.graph, FREE)
    assert 1 not in paced
