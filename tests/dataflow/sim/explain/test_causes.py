"""The last wait before a cycle: as the golden models noted it, and as the log lets one infer it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.explain.causes import LoggedCauses, Via
from fuseloom.dataflow.sim.observe import Events, Observe, Observed, StreamLog, Wait
from fuseloom.dataflow.sim.tokens import encode, parse_tokens
from tests.property.noted_causes import NotedCauses

LOGGED = Observe(log=True)


def observed(op: str, *inputs: str, **how: object) -> tuple[Graph, Observed]:
    bound = bench_graph(op, *inputs, **how)
    result = run_graph(bound, Machine.default(), "interpreter", observe=LOGGED)
    assert result.observed is not None
    return bound.graph, result.observed


def unary() -> tuple[Graph, Observed]:
    return observed("unary", "1@4 2@9 S0@10 D@30", params={"fn": "exp"})


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "logged"])
def test_the_last_wait_is_for_the_token_that_came(noted: bool) -> None:
    graph, seen = unary()
    causes = (NotedCauses if noted else LoggedCauses)(graph, seen)
    for clock, until, token in ((4, 4, 0), (8, 4, 0), (9, 9, 1), (29, 10, 2), (30, 30, 3)):
        wait = causes.last_wait(0, clock)
        assert wait is not None
        if not noted or until != 10:  # the stop came just in time, which golden models do not note
            assert (wait.until, wait.room, wait.stream, wait.token) == (until, False, 0, token)
    assert causes.last_wait(0, 3) is None
    assert causes.known_from == -1
    assert [causes.take_clock(0, k) for k in range(4)] == [4, 9, 10, 30]
    assert causes.origin(1, 0) == 4


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "logged"])
def test_waits_for_room_name_the_output(noted: bool) -> None:
    """Behind a slow reader: its source gives the second operand every ten cycles."""
    streams = tuple(Stream(k, StreamKind.VAL, 0, capacity=1 if k == 1 else None) for k in range(4))
    nodes = (
        Node(0, "source", (), (0,), {"kind": "val"}),
        Node(1, "unary", (0,), (1,), {"fn": "exp"}),
        Node(2, "source", (), (2,), {"kind": "val"}),
        Node(3, "binary", (1, 2), (3,), {"fn": "add"}),
        Node(4, "sink", (3,), (), {}),
    )
    tokens = encode(parse_tokens("1 2 3 S0 D", StreamKind.VAL))
    slow = {"tokens": tokens, "times": np.arange(10, 60, 10)}
    bound = BoundGraph(Graph("room", nodes, streams), {0: {"tokens": tokens}, 2: slow})
    seen = run_graph(bound, Machine.default(), "interpreter", observe=LOGGED).observed
    assert seen is not None
    causes = (NotedCauses if noted else LoggedCauses)(bound.graph, seen)
    wait = causes.last_wait(1, 15)
    assert wait is not None
    # the second value is taken when the first sum is done, at 11: its slot is free at 12
    assert (wait.until, wait.room, wait.stream, wait.token) == (12, True, 1, 2)


def handmade(takes: list[list[int]], puts: list[list[int]], op: str) -> LoggedCauses:
    """A node whose inputs come when they are taken; ``puts`` are clocks of its outputs."""
    count = len(takes) + len(puts)
    node = Node(0, op, tuple(range(len(takes))), tuple(range(len(takes), count)), {"fn": "add"})
    streams = tuple(Stream(k, StreamKind.VAL, 0) for k in range(count))
    logs = [
        StreamLog(Events.of(t), Events.of(t), np.zeros(len(t), bool), 1, None, False)
        for t in takes
    ] + [
        StreamLog(Events.of([c + 1 for c in p]), Events.of([]), np.zeros(len(p), bool), 1, None,
                  False)
        for p in puts
    ]  # fmt: skip
    empty = np.zeros(0, np.int64)
    return LoggedCauses(
        Graph("one", (node,), streams), Observed(1, np.zeros((1, 5, 2), np.int64), empty,
                                                 log=tuple(logs))
    )  # fmt: skip


def test_what_comes_after_a_take_in_a_step_is_no_cause_of_it() -> None:
    """An ALU takes its operands in order: the second one, in the same cycle, comes after."""
    causes = handmade([[7], [7]], [[7]], "binary")
    assert causes.last_wait(0, 7) == Wait(-1, 7, False, 0, 0)
    assert causes.last_wait(0, 7, Via(1, 0, True)) == Wait(-1, 7, False, 0, 0)
    by_first = causes.last_wait(0, 7, Via(0, 0, True))
    assert by_first == Wait(-1, 7, False, 0, 0)  # its own arrival, not the other operand's


def test_what_the_log_forgot_is_said() -> None:
    graph, seen = unary()
    assert LoggedCauses(graph, replace(seen, forgotten=12)).known_from == 12
