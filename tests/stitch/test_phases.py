"""Phases: loops without quotients where dimensions fit, and every element stored once."""

from __future__ import annotations

import random
from itertools import product

import pytest

from fuseloom.errors import LimitError, LoweringError
from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_code import kernel_codes
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.phase_values import ElementLoad, KernelPhase
from fuseloom.stitch.phases import PhasedKernel, phases_of
from fuseloom.stitch.positions import AtomRule, substituted
from fuseloom.stitch.stitched_program import StitchedProgram, relative_error
from tests.tiers import counts

from .figure3 import figure3
from .random_graphs import random_module
from .stitched_modules import GraphMaker, module_of

SMALL = FusionSettings(enough_blocks=4, block_elements=6)


def phased(graph: GraphMaker, **more: object) -> PhasedKernel:
    """The phases of the only kernel of a graph."""
    module = graph.module()
    made = fuse(module.main, ProductFusion.ALL)
    (kernel,) = made.kernels
    plan = memory_of(made.computation, kernel)
    return phases_of(module, made.computation, kernel, plan)


def is_affine(phase: KernelPhase) -> bool:
    """True if all places are loop variables times constants."""
    places = [value.at for value in phase.values if isinstance(value, ElementLoad)]
    places += [store.at for store in phase.stores]
    rules = {atom.rule for at in places for atom, _ in at.terms}
    return rules <= {AtomRule.LOOP, AtomRule.FIXED}


def test_figure_3_has_five_phases_without_quotients() -> None:
    module = module_of(figure3())
    made = fuse(module.main, ProductFusion.BATCHED)
    (kernel,) = made.kernels
    found = phases_of(module, made.computation, kernel, memory_of(made.computation, kernel))
    names = [phase.operation.name for phase in found.phases]
    assert names == ["Reduce.1", "Exponential.1", "Reduce.2", "Divide.1", "Dot.1"]
    assert all(map(is_affine, found.phases))
    assert found.blocks == 512
    assert [one.name for one in found.inputs] == ["Parameter.1", "Parameter.2"]
    largest, powers, *_, dot = found.phases
    assert [loop.extent for loop in largest.loops] == [64]
    assert [loop.extent for loop in powers.loops] == [64, 64]
    assert dot.reduction is not None
    assert [loop.extent for loop in dot.reduction.loops] == [64]
    assert [side.extent for side in powers.box] == [1, 1, 64, 64]
    starts = [[substituted(side.start, {"b0": at}) for at in (0, 1, 65)] for side in powers.box]
    assert starts == [[0, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_elementwise_operations_of_many_dimensions_are_one_loop() -> None:
    graph = GraphMaker()
    graph.add("negate", (2, 3, 4), graph.parameter(2, 3, 4))
    (phase,) = phased(graph).phases
    assert len(phase.loops) == 1


def test_reshapes_and_transpositions_divide_loops() -> None:
    graph = GraphMaker()
    x = graph.parameter(4, 6)
    turned = graph.add("transpose", (6, 4), x, dimensions=(1, 0))
    flat = graph.add("reshape", (24,), turned)
    y = graph.add("reshape", (2, 12), graph.parameter(24))
    graph.add("add", (2, 12), graph.add("reshape", (2, 12), flat), y)
    (phase,) = phased(graph).phases
    assert [loop.extent for loop in phase.loops][-1] == 4
    assert is_affine(phase)


def test_reshapes_that_no_loops_fit_have_quotients() -> None:
    graph = GraphMaker()
    cut = graph.add("slice", (4, 5), graph.parameter(4, 6), slice=((0, 4, 1), (1, 6, 1)))
    turned = graph.add("transpose", (10, 2), graph.parameter(2, 10), dimensions=(1, 0))
    graph.add("add", (10, 2), graph.add("reshape", (10, 2), cut), turned)
    (phase,) = phased(graph).phases
    assert not is_affine(phase)


def test_a_reduction_that_applies_several_operations_is_refused() -> None:
    graph = GraphMaker()
    x, start = graph.parameter(8, 4), graph.parameter()
    graph.add("reduce", (8,), x, start, dimensions=(1,), to_apply="graph")
    with pytest.raises(LoweringError, match="computation of several operations"):
        phased(graph)


def test_gathers_of_batches_are_refused() -> None:
    graph = GraphMaker()
    x, at = graph.parameter(3, 8), graph.parameter(3, 1, element="s32")
    graph.add(
        "gather", (3,), x, at, offset_dims=(), collapsed_slice_dims=(1,), start_index_map=(1,),
        index_vector_dim=1, slice_sizes=(1, 1), operand_batching_dims=(0,),
        start_indices_batching_dims=(0,),
    )  # fmt: skip
    with pytest.raises(LoweringError, match="batches of its operand"):
        phased(graph)


@counts(small=40, deep=300, fuzz=1_000)
def test_blocks_store_every_element_of_their_roots_once(count: int) -> None:
    for seed in range(count):
        draw = random.Random(seed)
        module = random_module(draw, 10)
        made = fuse(module.main, ProductFusion.ALL, settings=SMALL)
        for kernel in made.kernels:
            try:
                plan = memory_of(made.computation, kernel)
                found = phases_of(module, made.computation, kernel, plan)
            except (LoweringError, LimitError):
                continue
            check_stores(found)


def check_stores(found: PhasedKernel) -> None:
    for phase in found.phases:
        size = phase.operation.array.elements
        buffer = found.plan.buffers.get(phase.operation.name)
        for store in phase.stores:
            seen: list[int] = []
            for block in range(found.blocks):
                values = {name: block // step % count for name, count, step in found.digits}
                places = []
                for indices in product(*(range(loop.extent) for loop in phase.loops)):
                    at = dict(zip((loop.name for loop in phase.loops), indices, strict=True))
                    places.append(substituted(store.at, values | at))
                if store.buffered:
                    assert buffer is not None
                    item = buffer.bytes // len(places)
                    assert sorted(places) == list(range(buffer.bytes // item))
                seen += places
            if not store.buffered:
                assert sorted(seen) == list(range(size))


def test_positions_of_what_is_moved_again_and_again_have_a_limit() -> None:
    graph = GraphMaker()
    x = graph.parameter(6, 4)
    for number in range(60):
        if number % 2:
            x = graph.add("reshape", (6, 4), x)
        else:
            x = graph.add("transpose", (4, 6), x, dimensions=(1, 0))
    module = graph.module()
    (code,) = kernel_codes(module, fuse(module.main))
    assert "moved so often" in code.reason
    program = StitchedProgram(module, fuse(module.main))
    assert relative_error(program, random_inputs(module.main)) == 0
