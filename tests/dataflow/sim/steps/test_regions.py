"""Regions of programs: the same cycles as the ordinary run, what comes before them included."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.steps import RecordingLimits, bound_region, record_graph, record_region
from fuseloom.errors import SimulationError
from fuseloom.models import load
from fuseloom.program import parse


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("schedule", ["fuse T1..H; fuse T5..Y", "fuse x..Y"])
def test_regions_of_the_graph_network(schedule: str) -> None:
    model, data = load("gcn", "karate")
    compiled = compile_program(model.program, schedule)
    run = simulate(compiled, data)
    wanted = range(len(compiled.regions))
    for number in wanted if len(wanted) < 3 else (len(wanted) // 2, len(wanted) - 1):
        recording = record_region(compiled, number, data, kept=RecordingLimits(12_000, 400_000))
        ordinary = run.regions[number]
        assert recording.complete
        assert recording.cycles == ordinary.cycles
        assert recording.tokens == ordinary.result.total_tokens
        for node, arrays in ordinary.result.outputs.items():
            for name, array in arrays.items():
                np.testing.assert_array_equal(recording.outputs[node][name], array)


def test_a_graph_with_its_data() -> None:
    compiled = compile_program(parse("A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]"))
    rng = np.random.default_rng(1)
    data = {"A": rng.random((4, 4)) * (rng.random((4, 4)) < 0.5), "x": rng.random(4)}
    run = simulate(compiled, data)
    recording = record_graph(compiled.regions[0].graph, run.data, Machine.default())
    assert recording.cycles == run.cycles


def test_there_is_no_such_region() -> None:
    compiled = compile_program(parse("x: 4 dense\ny[i] = x[i] + x[i]"))
    assert bound_region(compiled, 0, {"x": np.ones(4)}).graph is compiled.regions[0].graph
    with pytest.raises(SimulationError, match="there is no region 1"):
        record_region(compiled, 1, {"x": np.ones(4)})
