"""Keys of times, and kernels of one operation."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from fuseloom.errors import LoweringError, StoreError
from fuseloom.stitch import operation_timing
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.operation_timing import (
    RUNS,
    PerformanceKey,
    PerformanceLookup,
    PerformanceTime,
    features_of,
    machine_fingerprint,
    time_operations,
    timed_kernel,
)
from fuseloom.stitch.performance_library import PerformanceLibrary
from fuseloom.stitch.schedules import BlockSchedule

from .stitched_modules import GraphMaker


@pytest.mark.parametrize("threads", [0, 16, 33, 1056, -32])
def test_blocks_of_other_threads_are_no_keys(threads: int) -> None:
    with pytest.raises(StoreError, match="threads"):
        PerformanceKey("add", "f32[4]", 0, 1, "row", threads)


def test_every_feature_is_part_of_the_key() -> None:
    first = PerformanceKey("add", "f32[4]", 0, 1, "row")
    others = [
        PerformanceKey("multiply", "f32[4]", 0, 1, "row"),
        PerformanceKey("add", "f32[8]", 0, 1, "row"),
        PerformanceKey("add", "f32[4]", 1, 1, "row"),
        PerformanceKey("add", "f32[4]", 0, 2, "row"),
        PerformanceKey("add", "f32[4]", 0, 1, "column"),
        PerformanceKey("add", "f32[4]", 0, 1, "row", 1024),
        PerformanceKey("add", "f32[4]", 0, 1, "row", warps=1),
        PerformanceKey("add", "f32[4]", 0, 1, "row", backend="cuda"),
        PerformanceKey("add", "f32[4]", 0, 1, "row", machine="m"),
    ]
    assert len({first, *others}) == 10


def sums(dim: int, applied: str = "sum", more: int = 0) -> tuple[DenseModule, str]:
    graph = GraphMaker()
    for _ in range(more):
        graph.parameter(2)
    x, start = graph.parameter(8, 8), graph.parameter()
    graph.add("reduce", (8,), x, start, dimensions=(dim,), to_apply=applied)
    module = graph.module()
    found = next(one for one in module.main.operations if one.opcode == "reduce")
    return module, features_of(module, module.main, found)


def test_names_do_not_matter_and_attributes_do() -> None:
    assert sums(0)[1] == sums(0, more=2)[1]
    assert len({sums(0)[1], sums(1)[1], sums(0, "largest")[1]}) == 3
    assert "to_apply=add" in sums(0)[1]


def lookup(
    tmp_path: Path, graph: GraphMaker, opcode: str, schedule: BlockSchedule
) -> PerformanceLookup:
    module = graph.module()
    found = next(one for one in module.main.operations if one.opcode == opcode)
    library = PerformanceLibrary(tmp_path / "times.sqlite", lambda _: [], "m")
    return library.lookup(module, module.main, found, schedule)


def test_reductions_have_warps(tmp_path: Path) -> None:
    graph = GraphMaker()
    x, start = graph.parameter(8, 4), graph.parameter()
    y = graph.add("negate", (8, 4), x)
    graph.add("reduce", (8,), y, start, dimensions=(1,), to_apply="sum")
    assert lookup(tmp_path, graph, "reduce", BlockSchedule(0, 2)).key.warps == 1
    assert lookup(tmp_path, graph, "negate", BlockSchedule(0, 2)).key.warps == 0


def test_a_kernel_of_one_operation(tmp_path: Path) -> None:
    graph = GraphMaker()
    graph.add("multiply", (8, 4), *(2 * [graph.parameter(8, 4)]))
    phased = timed_kernel(lookup(tmp_path, graph, "multiply", BlockSchedule(0, 4)))
    assert phased.blocks == 4
    assert [one.name for one in phased.inputs] == ["p0", "p1"]
    assert [one.opcode for one in phased.outputs] == ["multiply"]


def test_operations_are_timed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = itertools.count(0, 1000)
    monkeypatch.setattr(time, "perf_counter_ns", lambda: next(count))
    graph = GraphMaker()
    x = graph.parameter(8, 4)
    half = graph.parameter(4, element="f16")
    graph.add("add", (8, 4), x, x)
    graph.add("negate", (4,), half, element="f16")
    graph.add("not", (4,), graph.parameter(4, element="s32"), element="s32")
    opcodes = ("add", "negate", "not")
    some = [lookup(tmp_path, graph, one, BlockSchedule(0, 2)) for one in opcodes]
    monkeypatch.setattr(operation_timing, "MOST_COMPILED", 2)
    # a call of 1000 ns is repeated 20 times, which takes as long, by this clock
    assert time_operations(some) == [
        PerformanceTime(50.0, RUNS), PerformanceTime(0.0, 0), PerformanceTime(50.0, RUNS),
    ]  # fmt: skip
    assert time_operations([some[1]]) == [PerformanceTime(0.0, 0)]


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphMaker()
    graph.add("negate", (4,), graph.parameter(4))
    one = lookup(tmp_path, graph, "negate", BlockSchedule(0, 1))
    monkeypatch.setattr(operation_timing, "find_compiler", lambda _: None)
    with pytest.raises(LoweringError, match="no compiler"):
        time_operations([one])


def test_the_machine_is_a_short_text() -> None:
    assert len(machine_fingerprint()) == 16
    assert machine_fingerprint() == machine_fingerprint()
