"""Buffers of kernels: Fig. 3, the reasons for them, limits, and plans of random graphs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fuseloom.errors import LimitError
from fuseloom.stitch import kernel_memory
from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.graph import DenseComputation
from fuseloom.stitch.kernel_memory import dataflow_of, memory_check, memory_of, part_bytes
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.shared_memory import BufferNeed, SpaceSharing, wrong_reads
from fuseloom.stitch.stitched import StitchedKernel
from tests.tiers import counts

from .figure3 import figure3
from .random_graphs import random_computation
from .stitched_modules import GraphMaker

SMALL = FusionSettings(enough_blocks=4, block_elements=6)


def test_figure_3_takes_at_most_17_kilobytes_of_which_two_buffers_share_most() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    (kernel,) = made.kernels
    flow = dataflow_of(made.computation, kernel)
    assert flow.needs == {
        "Reduce.1": BufferNeed.DIRECT, "Reduce.2": BufferNeed.DIRECT,
        "Exponential.1": BufferNeed.EXPENSIVE, "Divide.1": BufferNeed.FOR_PRODUCT,
    }  # fmt: skip
    plan = memory_of(made.computation, kernel)
    assert plan.buffers["Exponential.1"].bytes == 16_384
    assert plan.buffers["Divide.1"].shares == "Exponential.1"
    assert plan.buffers["Reduce.2"].shares == "Reduce.1"
    assert plan.byte_size == 16_640 <= 17 * 1024


def test_by_dominance_only_the_quotients_share() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    plan = memory_of(made.computation, made.kernels[0], sharing=SpaceSharing.DOMINANCE)
    assert {name for name, one in plan.buffers.items() if one.shares} == {"Divide.1"}
    assert plan.byte_size == 16_896


def test_with_2_kilobytes_figure_3_computes_again() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    plan = memory_of(made.computation, made.kernels[0], 2048)
    assert plan.recomputed == ("Exponential.1", "Divide.1")
    assert plan.byte_size <= 2048


def test_what_does_not_fit_is_an_objection() -> None:
    (kernel,) = fuse(figure3(), ProductFusion.BATCHED).kernels
    assert memory_check(figure3(), ProductFusion.BATCHED)(kernel) == ""
    assert "need 512 bytes" in memory_check(figure3(), ProductFusion.BATCHED, 200)(kernel)
    with pytest.raises(LimitError):
        memory_of(figure3(), kernel, 200)


def test_kernels_that_are_calls_have_no_objection() -> None:
    made = fuse(figure3())
    (call,) = (kernel for kernel in made.kernels if kernel.is_call)
    assert memory_check(figure3())(call) == ""


def reasons(graph: GraphMaker) -> dict[str, BufferNeed]:
    made = fuse(graph.module().main, ProductFusion.ALL)
    (kernel,) = made.kernels
    return dict(dataflow_of(made.computation, kernel).needs)


def test_what_several_read_has_a_buffer() -> None:
    graph = GraphMaker()
    x = graph.parameter(64)
    cheap = graph.add("add", (64,), x, x)
    costly = graph.add("tanh", (64,), cheap)
    turned = graph.add("negate", (64,), cheap)
    once = graph.add("multiply", (64,), costly, turned)
    graph.add("subtract", (64,), once, costly)
    assert reasons(graph) == {cheap: BufferNeed.CHEAP, costly: BufferNeed.EXPENSIVE}


def test_what_a_dot_reads_through_cheap_operations_has_a_buffer_if_it_is_expensive() -> None:
    graph = GraphMaker()
    x, y = graph.parameter(8, 4, 4), graph.parameter(8, 4, 4)
    costly = graph.add("exponential", (8, 4, 4), x)
    deeper = graph.add("tanh", (8, 4, 4), costly)
    cheap = graph.add("negate", (8, 4, 4), deeper)
    graph.add(
        "dot", (8, 4, 4), cheap, y, lhs_batch_dims=(0,), rhs_batch_dims=(0,),
        lhs_contracting_dims=(2,), rhs_contracting_dims=(1,),
    )  # fmt: skip
    assert reasons(graph) == {deeper: BufferNeed.FOR_PRODUCT}


def test_bytes_are_those_of_elements_in_memory() -> None:
    graph = GraphMaker("bf16")
    x = graph.parameter(6, 4)
    assert part_bytes(graph.operations[0], BlockSchedule(0, 3)) == 16
    assert x == "parameter.0"
    graph = GraphMaker("pred")
    graph.parameter()
    assert part_bytes(graph.operations[0], BlockSchedule(0, 1)) == 1


@counts(small=40, deep=800, fuzz=2_000)
def test_plans_of_random_graphs_overwrite_nothing_that_is_read(count: int) -> None:
    for seed in range(count):
        draw = random.Random(seed)
        graph: DenseComputation = random_computation(draw, 14)
        made = fuse(graph, ProductFusion.ALL, settings=SMALL)
        for kernel in made.kernels:
            flow = dataflow_of(made.computation, kernel)
            limit = draw.choice((64, 256, 20_480))
            for sharing in SpaceSharing:
                try:
                    plan = memory_of(made.computation, kernel, limit, sharing)
                except LimitError:
                    continue
                assert list(wrong_reads(flow, plan)) == []
                assert plan.byte_size <= limit


@counts(small=40, deep=800, fuzz=2_000)
def test_kernels_whose_reductions_and_dots_have_room_always_fit(count: int) -> None:
    for seed in range(count):
        draw = random.Random(seed)
        graph = random_computation(draw, 14)
        made = fuse(graph, ProductFusion.ALL, settings=SMALL)
        for kernel in made.kernels:
            assert kernel.schedule is not None
            flow = dataflow_of(made.computation, kernel)
            direct = sum(
                flow.bytes[name] for name, need in flow.needs.items() if need is BufferNeed.DIRECT
            )
            limit = max(direct, 1)
            for sharing in SpaceSharing:
                check = memory_check(graph, ProductFusion.ALL, limit, sharing)
                assert check.has_room(direct)
                assert not check.has_room(limit + 1)
                assert check(kernel) == ""
            whole = kernel.schedule.blocks(made.computation.by_name[kernel.name].array.dims)
            for name, schedule in kernel.schedules.items():
                dims = made.computation.by_name[name].array.dims
                assert schedule is None or schedule.blocks(dims) == whole


@counts(small=60, deep=400, fuzz=1_000)
def test_kernels_grow_as_if_each_step_was_planned_anew(count: int) -> None:
    objections = 0
    for seed in range(count):
        draw = random.Random(seed)
        graph = random_computation(draw, draw.choice((8, 14, 25)))
        products, limit = draw.choice([*ProductFusion]), draw.choice((8, 16, 64, 256, 20_480))
        sharing = draw.choice([*SpaceSharing])
        settings = draw.choice((SMALL, replace(SMALL, call_layers=False), FusionSettings()))
        check = memory_check(graph, products, limit, sharing)
        given: list[str] = []

        def anew(kernel: StitchedKernel, check=check, given=given) -> str:
            given.append(check(kernel))
            return given[-1]

        one = fuse(graph, products, consistent=check, settings=settings)
        other = fuse(graph, products, consistent=anew, settings=settings)
        assert (one.kernels, one.refused) == (other.kernels, other.refused)
        objections += sum(map(bool, given))
    assert objections > count // 4


def test_a_long_kernel_is_planned_at_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphMaker()
    last = graph.parameter(4)
    for _ in range(1_500):
        last = graph.add("negate", (4,), last)
    planned: list[StitchedKernel] = []
    monkeypatch.setattr(kernel_memory, "memory_of", lambda _, kernel, *__: planned.append(kernel))
    main = graph.module().main
    (kernel,) = fuse(main, consistent=memory_check(main)).kernels
    assert len(kernel.operations) == 1_500
    assert planned == []
