"""Which channels can be full, and how long nodes wait for a memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.exact.channels import reading_latency, rooms_of
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Memo, execute
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.dram import Ideal
from fuseloom.dataflow.machine import Machine
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

COMPILATION = compile_program(parse("A: 8x8 dcsr\nx: 8 dense\ny[i] = A[i,j] * x[j]"))
DATA = check_data(COMPILATION.program, {"A": np.eye(8), "x": np.ones(8)})
GRAPH = COMPILATION.regions[0].graph
EXECUTED = execute(GRAPH, Patterns(COMPILATION.program, DATA), Memo(), ElementBudget(1e6))


def test_channels_that_hold_all_that_passes_are_never_full() -> None:
    assert rooms_of(EXECUTED, Machine()) == {}
    rooms = rooms_of(EXECUTED, Machine(channel_capacity=4))
    arrivals = {s.id: EXECUTED.streams[s.id].tokens.total for s in GRAPH.streams}
    assert rooms == {stream: 4 for stream, tokens in arrivals.items() if tokens > 4}
    assert 0 < len(rooms) < len(arrivals)
    assert rooms_of(EXECUTED, Machine(channel_capacity=100)) == {}


def test_a_stream_knows_its_own_room() -> None:
    streams = tuple(replace(s, capacity=5) for s in GRAPH.streams)
    own = replace(EXECUTED, graph=replace(GRAPH, streams=streams))
    assert set(rooms_of(own, Machine(channel_capacity=100)).values()) == {5}


def test_reads_that_need_one_another() -> None:
    machine = replace(Machine.default(), memory=Ideal(latency=100))
    trips = {node.op: reading_latency(node, machine) for node in GRAPH.nodes}
    assert (trips["scan"], trips["array"], trips["root"]) == (200, 100, 0)
    assert all(reading_latency(node, Machine()) == 0 for node in GRAPH.nodes)
