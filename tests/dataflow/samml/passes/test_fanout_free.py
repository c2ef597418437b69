"""A graph with its fan-out undone, and levels that tell fibers apart."""

from __future__ import annotations

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.passes.fanout_free import unwoven, woven
from fuseloom.dataflow.samml.passes.structure import structure
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.models import gcn, random_data
from fuseloom.program import parse
from tests.dataflow.samml.passes import (
    passed,
)
from tests.dataflow.samml.passes.dealt import ALIGNED, graph_of, ops


def test_levels_tell_fibers_apart() -> None:
    """Operands of an intersection differ from its result; what is loaded from it does not."""
    graph = graph_of("A: 4x4 csr\nB: 4x4 csr\nT[i,j] = A[i,j] * B[i,j]")
    fanout_free = unwoven(graph)
    levels = structure(fanout_free)
    joiner = next(
        n for n in fanout_free.nodes if n.op == "intersect" and len(levels.of[n.inputs[0]]) == 2
    )
    crd, first, second = (levels.of[s] for s in joiner.outputs if s is not None)
    assert crd == first == second
    assert len({levels.of[joiner.inputs[0]], levels.of[joiner.inputs[2]], crd}) == 3
    product = next(n for n in fanout_free.nodes if n.op == "binary")
    assert {levels.of[s] for s in (*product.inputs, *product.outputs) if s is not None} == {crd}


def test_a_graph_survives_its_web() -> None:
    model = gcn(8, 6, 5, 3)
    for preset in model.presets.values():
        compilation = compile_program(model.program, preset)
        again = passed(compilation, lambda g: woven(unwoven(g)))
        for old, new in zip(compilation.regions, again.regions, strict=True):
            assert ops(old.graph) == ops(new.graph)
        assert simulate(again, random_data(model, 1), engine="interpreter").check().ok


def test_streams_aligned_to_a_joined_level_nest_alike() -> None:
    (region,) = compile_program(parse(ALIGNED), "fuse T..Y").regions
    fanout_free = unwoven(region.graph)
    levels = structure(fanout_free)
    aligned = [levels.of[n.outputs[0] or 0] for n in fanout_free.nodes if n.op == "fiber_align"]
    joiner = next(n for n in fanout_free.nodes if n.op == "intersect" and n.label == "I_j")
    assert len(aligned) == 2
    assert aligned[0] == aligned[1]
    assert aligned[0][:1] == levels.of[joiner.outputs[0] or 0]
