"""Loops divided where another part of a value begins: nothing is chosen within a part."""

from __future__ import annotations

import pytest

from fuseloom.stitch.c.ranges import MOST_PARTS, phase_parts
from fuseloom.stitch.cpu_schedules import cpu_fusion
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.phase_values import ElementChoice, KernelPhase
from fuseloom.stitch.phases import phases_of
from fuseloom.stitch.stitched_program import StitchedProgram, relative_error

from ..stitched_modules import GraphMaker


def phases(graph: GraphMaker) -> tuple[KernelPhase, ...]:
    """The phases of the kernel of a graph, which must compute what it means."""
    module = graph.module()
    fusion = cpu_fusion(fuse(module.main, ProductFusion.ALL))
    program = StitchedProgram(module, fusion)
    assert program.interpreted == {}
    assert relative_error(program, random_inputs(module.main)) < 1e-6
    (kernel,) = fusion.kernels
    plan = memory_of(fusion.computation, kernel)
    return phases_of(module, fusion.computation, kernel, plan).phases


def choices(phase: KernelPhase) -> int:
    return sum(isinstance(value, ElementChoice) for value in phase.values)


def test_a_concatenation_has_a_part_for_each_operand() -> None:
    graph = GraphMaker()
    x, y = graph.parameter(4, 8), graph.parameter(4, 24)
    parts = [graph.add("exponential", (4, 8), x), graph.add("negate", (4, 24), y), x]
    graph.add("concatenate", (4, 40), *parts, dimensions=(1,))
    (phase,) = phases(graph)
    assert choices(phase) == 2
    made = phase_parts(phase)
    assert [(part.first, part.last) for part in made] == [(0, 8), (8, 32), (32, 40)]
    assert {part.loop for part in made} == {phase.loops[-1].name}
    assert [choices(part.phase) for part in made] == [0, 0, 0]
    assert [len(part.phase.values) for part in made] == [2, 2, 1]


def test_a_pad_has_parts_before_and_behind() -> None:
    graph = GraphMaker()
    x, zero = graph.parameter(16), graph.parameter()
    graph.add("pad", (24,), graph.add("tanh", (16,), x), zero, padding=((3, 5, 0),))
    (phase,) = phases(graph)
    made = phase_parts(phase)
    assert [(part.first, part.last) for part in made] == [(0, 3), (3, 19), (19, 24)]
    assert [choices(part.phase) for part in made] == [0, 0, 0]


def test_a_pad_with_steps_still_asks_for_them() -> None:
    graph = GraphMaker()
    x, zero = graph.parameter(8), graph.parameter()
    graph.add("pad", (19,), graph.add("tanh", (8,), x), zero, padding=((1, 3, 1),))
    (phase,) = phases(graph)
    assert phase_parts(phase) == ()


def test_a_concatenation_of_rows_is_divided_between_rows() -> None:
    graph = GraphMaker()
    x, y = graph.parameter(4, 8), graph.parameter(4, 8)
    parts = [graph.add("negate", (4, 8), x), graph.add("abs", (4, 8), y)]
    graph.add("concatenate", (8, 8), *parts, dimensions=(0,))
    (phase,) = phases(graph)
    made = phase_parts(phase)
    assert all(choices(part.phase) == 0 for part in made)
    assert {part.loop for part in made} <= {loop.name for loop in phase.loops[:-1]}


@pytest.mark.parametrize("count", [MOST_PARTS, MOST_PARTS + 1])
def test_many_parts_stay_one_loop(count: int) -> None:
    graph = GraphMaker()
    x = graph.parameter(4)
    parts = [graph.add("negate", (4,), x) for _ in range(count)]
    graph.add("concatenate", (4 * count,), *parts, dimensions=(0,))
    (phase,) = phases(graph)
    assert len(phase_parts(phase)) == (count if count <= MOST_PARTS else 0)


def test_a_concatenation_within_another() -> None:
    graph = GraphMaker()
    x, y = graph.parameter(3, 8), graph.parameter(3, 4)
    inner = graph.add("concatenate", (3, 12), x, y, dimensions=(1,))
    moved = graph.add("negate", (3, 12), inner)
    graph.add("concatenate", (3, 24), moved, graph.add("abs", (3, 12), inner), dimensions=(1,))
    for phase in phases(graph):
        made = phase_parts(phase)
        assert sum(choices(part.phase) for part in made) < len(made) * choices(phase)


def test_reductions_are_not_divided() -> None:
    graph = GraphMaker()
    x, zero = graph.parameter(8, 4), graph.parameter()
    both = graph.add("concatenate", (8, 8), x, x, dimensions=(1,))
    graph.add("reduce", (8,), both, zero, dimensions=(1,), to_apply="sum")
    (phase,) = phases(graph)
    assert phase_parts(phase) == ()
