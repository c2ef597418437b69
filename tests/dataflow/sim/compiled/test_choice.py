"""Which kernels a graph needs."""

from __future__ import annotations

import pytest

from engine.dataflow.compiler import compile_program
from engine.dataflow.sim.compiled import cache, choice
from engine.dataflow.sim.compiled import simulation as compiled
from engine.dataflow.sim.machine import Machine
from engine.errors import SimulationError
from engine.models import load
from tests.dataflow.sim.compiled.graphs import (
    OURS,
    REF,
    graph,
)


def test_an_unknown_primitive_is_refused() -> None:
    with pytest.raises(SimulationError, match="cannot run"):
        compiled.run(graph([REF], ("no such", (), (0,), {}), ("sink", (0,), (), {})), OURS)


def test_the_kernels_of_a_graph_are_all_it_needs() -> None:
    """What is prepared beforehand, with a progress line, is all that a run then compiles."""
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
