"""Choices of schedules: all divisions, those that fit as fusion has them, refusals with places."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fuseloom.errors import ScheduleError
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_schedules import schedule_choices, with_schedule
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.schedules import BlockSchedule, SplitType, divisions_of, schedules_of
from fuseloom.stitch.stitched_program import StitchedProgram, relative_error
from tests.tiers import counts

from .figure3 import figure3
from .random_graphs import random_module


def test_figure_3_has_every_division_of_its_root() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    (kernel,) = made.kernels
    dims = made.computation.by_name[kernel.name].array.dims
    found = schedule_choices(made.computation, kernel)
    assert tuple(one.schedule for one in found) == divisions_of(dims)
    assert {x for one in found for x in (one.schedule, *one.alike)} == {*schedules_of(dims)}
    assert tuple(one.schedule for one in found if one.fits) == tuple(
        sorted(kernel.satisfiable, key=divisions_of(dims).index)
    )
    refused = [one for one in found if not one.fits]
    assert refused
    for one in refused:
        assert one.why is not None
        assert one.operation in kernel.operations
        assert one.why.reader in kernel.operations
        assert not one.parts


def test_another_schedule_has_other_parts_and_buffers() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    (kernel,) = made.kernels
    assert kernel.schedule is not None
    again = with_schedule(made.computation, kernel, kernel.schedule)
    assert again == kernel
    few = BlockSchedule(0, 8)
    other = with_schedule(made.computation, kernel, few)
    assert other.schedule == few
    assert few != kernel.schedule
    assert dict(other.parts) != dict(kernel.parts)
    large = memory_of(made.computation, other, 1 << 30)
    assert large.byte_size > memory_of(made.computation, kernel, 1 << 30).byte_size


def test_what_does_not_fit_is_refused_with_the_operation() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    (kernel,) = made.kernels
    columns = BlockSchedule(2, 2, SplitType.ROW)
    with pytest.raises(ScheduleError, match=r"does not fit .*, which .* reads: ") as told:
        with_schedule(made.computation, kernel, columns)
    assert "row 0/8" in (told.value.hint or "")
    with pytest.raises(ScheduleError, match="no dimension 7"):
        with_schedule(made.computation, kernel, BlockSchedule(7, 2))


def test_a_call_of_a_library_has_no_schedule() -> None:
    made = fuse(figure3(), ProductFusion.NEVER)
    call = next(kernel for kernel in made.kernels if kernel.is_call)
    assert schedule_choices(made.computation, call) == ()
    with pytest.raises(ScheduleError, match="has no schedule: a call of a library"):
        with_schedule(made.computation, call, BlockSchedule(0, 1))


@counts(small=12, deep=400)
def test_of_random_graphs_what_fits_is_what_fusion_found(count: int) -> None:
    for seed in range(count):
        products = ProductFusion.ALL if seed % 2 else ProductFusion.NEVER
        frame = fuse_module(random_module(random.Random(seed), 20), products).frames[0]
        computation = frame.fusion.computation
        for kernel in frame.fusion.kernels:
            found = schedule_choices(computation, kernel)
            fitting = {one.schedule for one in found if one.fits}
            assert fitting == {*(kernel.satisfiable if kernel.schedule else ())}
            if kernel.schedule is not None:
                assert with_schedule(computation, kernel, kernel.schedule).parts == kernel.parts


def test_kernels_with_other_schedules_compute_the_same() -> None:
    module = random_module(random.Random(5), 16)
    made = fuse_module(module).frames[0].fusion
    kernels = list(made.kernels)
    for place, kernel in enumerate(kernels):
        others = [one for one in kernel.satisfiable if one != kernel.schedule]
        if kernel.schedule is not None and others:
            kernels[place] = with_schedule(made.computation, kernel, others[-1])
    changed = replace(made, kernels=tuple(kernels))
    assert changed.kernels != made.kernels
    program = StitchedProgram(fuse_module(module).module, changed, limit=1 << 20)
    assert relative_error(program, random_inputs(module.main)) < 1e-4
