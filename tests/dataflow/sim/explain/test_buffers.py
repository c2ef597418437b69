"""Capacities measured in a run keep its cycles, and are the least that keep every put on time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.explain.buffers import measured_buffers
from fuseloom.errors import DeadlockError, SimulationError
from fuseloom.models import gcn, random_data
from fuseloom.program.inputs import check_data

OURS = Machine.default()


def layer() -> BoundGraph:
    model = gcn(8, 6, 5, 3)
    compiled = compile_program(model.program, model.presets["partial"])
    data = check_data(model.program, random_data(model, 1))
    return bind(compiled.regions[0].graph, data)


@pytest.mark.parametrize("machine", [OURS, Machine.default(3), Machine("slow", alu_latency=5)])
def test_the_run_keeps_its_cycles(machine: Machine) -> None:
    bound = layer()
    measured = replace(bound, graph=measured_buffers(bound, machine))
    free = run_graph(bound, replace(machine, channel_capacity=None), "interpreter")
    for engine in ("interpreter", "compiled"):
        again = run_graph(measured, machine, engine)
        assert np.array_equal(again.clocks, free.clocks)
        assert not again.stall_output.any()


def test_no_channel_could_be_smaller() -> None:
    bound = layer()
    graph = measured_buffers(bound, OURS)
    assert any(s.capacity is not None and s.capacity > 4 for s in graph.streams)
    for stream in graph.streams:
        assert stream.capacity is not None
        if stream.capacity == 1:
            continue
        streams = list(graph.streams)
        streams[stream.id] = replace(stream, capacity=stream.capacity - 1)
        less = replace(bound, graph=replace(graph, streams=tuple(streams)))
        assert _waits(less), stream


def _waits(bound: BoundGraph) -> bool:
    try:
        return bool(run_graph(bound, OURS, "compiled").stall_output.any())
    except DeadlockError:
        return True


def test_both_engines_measure_the_same() -> None:
    bound = layer()
    graphs = [measured_buffers(bound, OURS, engine=e) for e in ("interpreter", "compiled")]
    assert graphs[0] == graphs[1]


def test_the_limit_holds() -> None:
    with pytest.raises(SimulationError, match="more than 20 tokens"):
        measured_buffers(layer(), OURS, limit=20)
