"""Phases of one loop: those that store and read the same elements, and no others."""

from __future__ import annotations

from fuseloom.stitch.c.phase_groups import MOST_TOGETHER, phase_groups
from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.phases import phases_of
from fuseloom.stitch.stitched_program import StitchedProgram, relative_error

from ..stitched_modules import GraphMaker

ONE = FusionSettings(enough_blocks=1, call_layers=False, give_up=False)


def groups(graph: GraphMaker) -> list[list[str]]:
    """Opcodes of the phases of each loop of the kernel, which must compute what it means."""
    module = graph.module()
    fusion = fuse(module.main, ProductFusion.ALL, settings=ONE)
    program = StitchedProgram(module, fusion)
    assert relative_error(program, random_inputs(module.main)) < 1e-6
    (kernel,) = fusion.kernels
    plan = memory_of(fusion.computation, kernel)
    made = phase_groups(phases_of(module, fusion.computation, kernel, plan))
    return [[phase.operation.opcode for phase in group] for group in made]


def test_results_that_have_much_in_common_are_computed_in_one_loop() -> None:
    graph = GraphMaker()
    x = graph.parameter(64)
    e = graph.add("exponential", (64,), x)
    graph.add("negate", (64,), e)
    graph.add("tanh", (64,), e)
    assert groups(graph) == [["exponential", "negate", "tanh"]]


def test_what_is_read_at_another_place_is_stored_before() -> None:
    graph = GraphMaker()
    x = graph.parameter(64)
    e = graph.add("exponential", (64,), x)
    graph.add("add", (64,), graph.add("reverse", (64,), e, dimensions=(0,)), e)
    made = groups(graph)
    assert made == [["exponential"], ["add"]] or made == [["add"]]


def test_a_reduction_has_loops_of_its_own() -> None:
    graph = GraphMaker()
    x, zero = graph.parameter(64, 32), graph.parameter()
    e = graph.add("exponential", (64, 32), x)
    s = graph.add("reduce", (64,), e, zero, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (64, 32), s, dimensions=(0,))
    graph.add("divide", (64, 32), e, wide)
    assert groups(graph) == [["exponential"], ["reduce"], ["divide"]]


def test_other_loops_stay_apart() -> None:
    graph = GraphMaker()
    x = graph.parameter(8, 16)
    e = graph.add("exponential", (8, 16), x)
    turned = graph.add("transpose", (16, 8), e, dimensions=(1, 0))
    graph.add("negate", (8, 16), e)
    graph.add("abs", (16, 8), turned)
    module = graph.module()
    fusion = fuse(module.main, ProductFusion.ALL, settings=ONE)
    program = StitchedProgram(module, fusion)
    assert relative_error(program, random_inputs(module.main)) < 1e-6


def test_a_loop_has_a_limit() -> None:
    graph = GraphMaker()
    x = graph.parameter(64)
    for _ in range(MOST_TOGETHER + 4):
        graph.add("negate", (64,), x)
    made = groups(graph)
    assert [len(one) for one in made] == [MOST_TOGETHER, 4]
