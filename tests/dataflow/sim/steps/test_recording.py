"""The contents of channels, the moves of tokens, and the waits of nodes."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.observe import Wait
from fuseloom.dataflow.sim.steps import NEVER, Recording, StreamRecord, record


def spmv_row(capacity: int | None = None) -> Recording:
    bound = bench_graph(
        "reduce", "1@1 2@2 S0@3 3@9 S1@10 D@11", params={"fn": "add"}, capacity=capacity
    )
    return record(bound, Machine.default())


def test_a_channel_from_cycle_to_cycle() -> None:
    stream = StreamRecord(
        tokens=(3, 7, 9),
        put=np.array([1, 2, 5]),
        visible=np.array([2, 4, 6]),
        taken=np.array([4, 4, NEVER]),
        capacity=2,
    )
    assert [list(stream.held(cycle)) for cycle in range(6)] == [[], [0], [0, 1], [0, 1], [], [2]]
    assert [stream.head(cycle) for cycle in (1, 2, 3, 5, 6)] == [None, 3, 3, None, 9]
    assert list(stream.put_in(2)) == [1]
    assert list(stream.taken_in(4)) == [0, 1]
    assert list(stream.put_in(3)) == []


def test_nodes_act_when_they_take_or_put() -> None:
    recording = spmv_row()
    assert recording.acts(0).tolist() == [1, 2, 3, 9, 10, 11]
    assert recording.cycles == 11
    assert recording.last == 14, "a source's end and a sink's count, though not for the cycles"
    assert recording.ends[0] == 11


def test_a_node_waits_for_tokens() -> None:
    recording = spmv_row()
    assert recording.waiting(0, 3) is None
    wait = recording.waiting(0, 4)
    assert wait == Wait(4, 9, False, 0, 3)
    assert recording.waiting(0, 8) == wait
    assert recording.next_wait(0, 1) == 4
    assert recording.next_wait(0, 9) == NEVER


def test_a_node_waits_for_room() -> None:
    recording = spmv_row(capacity=1)
    source = next(n.id for n in recording.graph.nodes if n.label == "source 0")
    rooms = [w for w in recording.waits[source] if w.room and w.until > w.since]
    assert rooms
    assert all(recording.waiting(source, w.since) == w for w in rooms)
