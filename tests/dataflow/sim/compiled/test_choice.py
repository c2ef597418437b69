"""Which kernels a graph needs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.compiled import cache, choice
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import SimulationError
from fuseloom.models import load
from fuseloom.program import StoredTensor, parse
from tests.dataflow.sim.compiled.graphs import (
    OURS,
    REF,
    graph,
)


def test_an_unknown_primitive_is_refused() -> None:
    with pytest.raises(SimulationError, match="cannot run"):
        compiled.run(graph([REF], ("no such", (), (0,), {}), ("sink", (0,), (), {})), OURS)


def test_the_kernels_of_a_graph_are_all_it_needs() -> None:
    """A run compiles only the kernels that are prepared beforehand, with a progress line."""
    model, _ = load("gcn", "karate")
    regions = [r.graph for r in compile_program(model.program, model.presets["full"]).regions]
    assert {node.op for made in regions for node in made.nodes} >= {"reduce", "spacc1"}
    for made in regions:
        names = choice.kernels_of(made, Machine.default())
        assert names >= {"scheduler", "guided_reduce"}
        assert "memory" not in names
        assert "memory" in choice.kernels_of(made, Machine.preset("hbm2"))
        assert names <= set(cache.KERNELS)
        assert {choice.kernel_of(node, Machine.default()).name for node in made.nodes} <= names


def test_what_is_wide_needs_no_table() -> None:
    """Three coordinates of 2**31 - 1 are summed in no more memory than three of ten."""
    wide = 2**31 - 1
    program = parse(f"A: 4x{wide} dcsr\nB: 4 compressed\ny[j] = A[i,j] * B[i]\n")
    compiled = compile_program(program, "order y: i,j")
    graph = compiled.regions[0].graph
    assert "spacc1" in {node.op for node in graph.nodes}
    assert {"spacc"} <= choice.kernels_of(graph, Machine.default())
    assert "spacc1" not in choice.kernels_of(graph, Machine.default())
    at = np.array([[0, wide - 1], [2, 5], [3, wide - 1]])
    a = StoredTensor.from_coo(program.tensor("A"), at, [1.0, 2.0, 4.0])
    data = {"A": a, "B": np.ones(4)}
    tracemalloc.start()
    runs = [simulate(compiled, data, engine=engine) for engine in ("compiled", "interpreter")]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert runs[0].cycles == runs[1].cycles
    for run in runs:
        coords, values = run.outputs["y"].to_coo()
        assert coords.tolist() == [[5], [wide - 1]]
        assert values.tolist() == [2.0, 5.0]
    assert peak < 2**28
