"""Schedules for processors: every kernel has one that fits, and none computes more than before."""

from __future__ import annotations

import random

import pytest

from fuseloom.stitch.cpu_schedules import cpu_fusion
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.stitched_program import StitchedProgram, relative_error

from .figure3 import figure3
from .random_graphs import random_module
from .stitched_modules import GraphMaker


def chosen(dims: tuple[int, ...], opcode: str = "exponential") -> tuple[str, int]:
    graph = GraphMaker()
    graph.add(opcode, dims, graph.parameter(*dims))
    (kernel,) = cpu_fusion(fuse(graph.module().main)).kernels
    assert kernel.schedule is not None
    return str(kernel.schedule), kernel.schedule.blocks(dims)


def test_blocks_are_rows() -> None:
    assert chosen((512, 256)) == ("row 0/64", 64)
    assert chosen((4096, 2048)) == ("row 0/4096", 4096)
    assert chosen((64, 32)) == ("row 0/1", 1)
    assert chosen((1 << 20,)) == ("row 0/512", 512)
    assert chosen(()) == ("row 0/1", 1)


def test_figure_3_keeps_its_schedule() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    before, after = made.kernels, cpu_fusion(made).kernels
    assert [str(one.schedule) for one in before] == [str(one.schedule) for one in after]
    assert [one.parts for one in before] == [one.parts for one in after]


def test_rows_whose_buffers_do_not_fit_are_computed_one_by_one() -> None:
    graph = GraphMaker()
    x, zero = graph.parameter(1024, 4000), graph.parameter()
    powers = graph.add("exponential", (1024, 4000), x)
    sums = graph.add("reduce", (1024,), powers, zero, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (1024, 4000), sums, dimensions=(0,))
    graph.add("divide", (1024, 4000), powers, wide)
    made = fuse(graph.module().main)
    (kernel,) = cpu_fusion(made).kernels
    assert str(kernel.schedule) == "row 0/1024"
    assert memory_of(made.computation, kernel).recomputed == ()


def test_all_schedules_that_fusion_found_are_possible() -> None:
    for name in ("logistic_regression", "word2vec"):
        fusion = fuse_module(read_example(name)).frames[0].fusion
        for kernel in fusion.kernels:
            for schedule in kernel.satisfiable:
                with_schedule(fusion.computation, kernel, schedule)
            if kernel.schedule is not None:
                same = with_schedule(fusion.computation, kernel, kernel.schedule)
                assert same == kernel


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed: int) -> None:
    module = random_module(random.Random(seed))
    fusion = cpu_fusion(fuse(module.main, ProductFusion.ALL))
    program = StitchedProgram(module, fusion)
    assert relative_error(program, random_inputs(module.main, seed), least=1.0) < 1e-5


@pytest.mark.deep
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fuzz] * (name == "birnn"))  # twice the layers of rnn
        for name in EXAMPLES
    ],
)
def test_examples(name: str) -> None:
    made = fuse_module(read_example(name))
    program = StitchedProgram(made.module, cpu_fusion(made.frames[0].fusion))
    assert relative_error(program, example_inputs(name)) < 1e-5
