"""Keys of operations and of whole kernels."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.performance_keys import PerformanceKeys
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.shared_memory import SpaceSharing

from .stitched_modules import GraphMaker


def test_operations_of_other_names_have_one_key() -> None:
    graph = GraphMaker()
    x = graph.parameter(8, 4)
    both = [graph.add("negate", (8, 4), x) for _ in range(2)]
    module = graph.module()
    keys = PerformanceKeys("m")
    first, second = (
        keys.lookup(module, module.main, module.main.by_name[one], BlockSchedule(0, 2)).key
        for one in both
    )
    assert first == second
    assert first.machine == "m"


def test_kernels_differ_by_schedule_and_by_buffers_and_not_by_machine() -> None:
    made = fuse_module(read_example("attention"))
    fusion = made.frames[0].fusion
    (kernel,) = fusion.kernels
    computation = fusion.computation

    def key(machine: str, sharing: SpaceSharing, schedule: BlockSchedule | None) -> object:
        used = kernel if schedule is None else with_schedule(computation, kernel, schedule)
        plan = memory_of(computation, used, 1 << 20, sharing)
        found = PerformanceKeys(machine).kernel_lookup(made.module, computation, used, plan).key
        return replace(found, machine="")

    here = key("m", SpaceSharing.LIVENESS, None)
    assert key("n", SpaceSharing.LIVENESS, None) == here
    assert key("m", SpaceSharing.NONE, None) != here
    assert key("m", SpaceSharing.LIVENESS, BlockSchedule(1, 32)) != here
