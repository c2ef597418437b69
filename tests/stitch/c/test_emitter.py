"""Kernels in C compute what the interpreter does: random graphs, worked cases, all moves."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_memory import memory_check
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.stitched_program import StitchedProgram, compile_programs, relative_error
from tests.tiers import counts

from ..random_graphs import random_module
from ..stitched_modules import FAST, GraphMaker, fused

SETTINGS = (
    None,
    FusionSettings(enough_blocks=4, block_elements=6),
    FusionSettings(enough_blocks=16, block_elements=8, call_layers=False, give_up=False),
)
TOGETHER = 250
"""Programs that are compiled at once."""


def random_program(seed: int) -> StitchedProgram:
    """A program of a random graph, with any limits."""
    draw = random.Random(seed)
    module = random_module(draw, draw.choice((6, 12, 20)))
    products = draw.choice(list(ProductFusion))
    limit = draw.choice((64, 256, 2048, 20_480, 20_480))
    check = memory_check(module.main, products, limit) if draw.random() < 0.5 else None
    made = fuse(module.main, products, settings=draw.choice(SETTINGS), consistent=check)
    return StitchedProgram(module, made, limit=limit, prefix=f"graph{seed}")


@counts(small=60, deep=500, fuzz=2_000)
def test_random_graphs(count: int) -> None:
    for first in range(0, count, TOGETHER):
        seeds = range(first, min(first + TOGETHER, count))
        programs = [random_program(seed) for seed in seeds]
        compile_programs(programs, FAST)
        kernels = sum(bool(step.code) for program in programs for step in program.steps)
        assert kernels > 3 * len(programs)
        for seed, program in zip(seeds, programs, strict=True):
            assert all(
                "library" in why or "shared memory" in why for why in program.interpreted.values()
            ), seed
            inputs = random_inputs(program.module.main, seed)
            assert relative_error(program, inputs, least=1.0) < 1e-5, seed


def moves() -> GraphMaker:
    """Operations that move elements, each of elements that are computed."""
    graph = GraphMaker()
    x = graph.add("negate", (4, 6), graph.parameter(4, 6))
    y = graph.add("tanh", (4, 6), graph.parameter(4, 6))
    zero = graph.parameter()
    graph.add("pad", (7, 17), x, zero, padding=((1, 2, 0), (3, -2, 2)))
    graph.add("pad", (2, 6), x, zero, padding=((-1, -1, 0), (0, 0, 0)))
    graph.add("concatenate", (4, 18), x, y, x, dimensions=(1,))
    graph.add("concatenate", (12, 6), x, y, x, dimensions=(0,))
    graph.add("reverse", (4, 6), x, dimensions=(0, 1))
    graph.add("slice", (2, 2), y, slice=((1, 4, 2), (0, 6, 4)))
    iota = graph.add("iota", (4, 6), iota_dimension=1)
    graph.add("multiply", (4, 6), x, iota)
    graph.add("transpose", (6, 4), y, dimensions=(1, 0))
    starts = [graph.parameter(element="s32") for _ in range(2)]
    graph.add("dynamic-slice", (2, 3), x, *starts, dynamic_slice_sizes=(2, 3))
    part = graph.add("abs", (2, 6), graph.parameter(2, 6))
    graph.add("dynamic-update-slice", (4, 6), y, part, *starts)
    return graph


@pytest.mark.parametrize("together", [True, False])
def test_moves(together: bool) -> None:
    module = moves().module()
    settings = FusionSettings(enough_blocks=1 if together else 10**6)
    program = fused(module, settings=settings, prefix=f"together{together:d}")
    assert program.interpreted == {}
    compile_programs([program], FAST)
    inputs = random_inputs(module.main)
    for first, second in ((0, 0), (1, 2), (-5, 100), (2, 1)):
        numbers = [one.name for one in module.main.parameters if one.array.element == "s32"]
        chosen = dict(zip(numbers, (np.int32(first), np.int32(second)), strict=True))
        assert relative_error(program, inputs | chosen) < 1e-6


def test_gathers_read_where_indices_say_within_the_array() -> None:
    graph = GraphMaker()
    x, y = graph.parameter(9, 7, 4), graph.parameter(9, 7, 4)
    at = graph.parameter(2, 5, element="s32")
    both = graph.add("add", (9, 7, 4), x, y)
    graph.add(
        "gather", (5, 3, 4), both, at, offset_dims=(1, 2), collapsed_slice_dims=(0,),
        start_index_map=(1, 0), index_vector_dim=0, slice_sizes=(1, 3, 4),
    )  # fmt: skip
    rows = graph.parameter(6, element="u64")
    made = graph.add(
        "gather", (7, 4, 6), x, rows, offset_dims=(0, 1), collapsed_slice_dims=(0,),
        start_index_map=(0,), index_vector_dim=1, slice_sizes=(1, 7, 4),
    )  # fmt: skip
    graph.add("tanh", (7, 4, 6), made)
    program = fused(graph.module())
    assert program.interpreted == {}
    inputs = random_inputs(program.module.main)
    inputs[at] = np.int32([[0, 3, 9, -2, 4], [8, 7, 100, 0, 5]])
    inputs[rows] = np.uint64([0, 8, 3, 9, 2**64 - 1, 1])
    expected = np.tanh(inputs[x][[0, 8, 3, 8, 0, 1]].transpose(1, 2, 0))
    assert np.abs(program(inputs)[-1] - expected).max() < 1e-6
    assert relative_error(program, inputs) < 1e-6


def test_softmax_of_a_row_with_nan_or_infinities() -> None:
    graph = GraphMaker()
    x = graph.parameter(64, 40)
    low = graph.add("constant", (), literal=np.float32(-np.inf))
    zero = graph.add("constant", (), literal=np.float32(0))
    most = graph.add("reduce", (64,), x, low, dimensions=(1,), to_apply="largest")
    lower = graph.add(
        "subtract", (64, 40), x, graph.add("broadcast", (64, 40), most, dimensions=(0,))
    )
    powers = graph.add("exponential", (64, 40), lower)
    sums = graph.add("reduce", (64,), powers, zero, dimensions=(1,), to_apply="sum")
    graph.add("divide", (64, 40), powers, graph.add("broadcast", (64, 40), sums, dimensions=(0,)))
    program = fused(graph.module())
    value = random_inputs(program.module.main)[x]
    value[0, 3], value[1, :], value[2, 4], value[3, 5:] = np.nan, -np.inf, np.inf, -np.inf
    (made,) = program({x: value})
    assert np.isnan(made[:3]).all()
    assert np.isfinite(made[3:]).all()
    assert relative_error(program, {x: value}) < 1e-6


def test_large_kernels_run_in_parallel() -> None:
    graph = GraphMaker()
    graph.add("negate", (512, 256), graph.parameter(512, 256))
    small = GraphMaker()
    small.add("negate", (64, 32), small.parameter(64, 32))
    assert "deal_blocks(kernel_0_blocks, inputs, outputs, " in fused(graph.module()).code
    assert "deal_blocks" not in fused(small.module()).code
