"""The waits of nodes between their actions."""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.steps import Doing, Moment, RecordingLimits, record, story


def told(bound: BoundGraph, node: int, machine: Machine | None = None) -> list[Moment]:
    return list(story(record(bound, machine or Machine.default()), node))


def test_waits_name_the_input_and_who_feeds_it() -> None:
    bound = bench_graph("binary", "2@1 S0@2 D@3", "3@5 S0@6 D@7", params={"fn": "mul"})
    moments = told(bound, 0)
    waits = "waits: no token on its {} input, from source {}"
    assert moments[0] == Moment(0, Doing.WAITS, waits.format("first", 0))
    assert moments[1] == Moment(1, Doing.ACTS, "took value 2 on its first input")
    assert moments[2] == Moment(2, Doing.WAITS, waits.format("second", 1))
    assert moments[3].cycle == 5
    assert moments[-1] == Moment(8, Doing.ENDED, "ended in cycle 7")


def test_waits_for_room_name_the_reader() -> None:
    bound = bench_graph("repsig", "1@1 2@2 3@3 S0@4 D@5", capacity=1)
    source = next(node.id for node in bound.graph.nodes if node.op == "source")
    rooms = [m.text for m in told(bound, source) if m.doing is Doing.WAITS]
    assert "waits: the one place is taken on its output, until repsig takes a token" in rooms


def test_a_node_that_needs_several_cycles_works() -> None:
    bound = bench_graph("array", "0 1 D", arrays={"vals": [1, 2]}, params={"tensor": "A", "ii": 4})
    moments = told(bound, 0)
    assert Moment(2, Doing.WORKS, "works until cycle 5") in moments


def test_what_is_cut_off_has_no_end() -> None:
    bound = bench_graph("repsig", "1@1 2@50 S0@90 D@91")
    recording = record(bound, Machine.default(), RecordingLimits(cycles=20))
    moments = list(story(recording, 0))
    assert moments[-1].doing is Doing.WAITS
    assert moments[-1].cycle == 2
