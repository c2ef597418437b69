"""Sums of times: how often operations are computed, and what is passed over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.kernel_costs import KernelCosts
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.operation_timing import PerformanceLookup, PerformanceTime
from fuseloom.stitch.performance_library import PerformanceLibrary

from .figure3 import figure3
from .stitched_modules import GraphMaker, module_of

TIMES = {"copy": 10, "negate": 30, "exponential": 50, "transpose": 17, "reduce": 100, "dot": 1000}


def by_opcode(lookups: Sequence[PerformanceLookup]) -> list[PerformanceTime]:
    return [PerformanceTime(TIMES.get(one.key.opcode, 1), 1) for one in lookups]


def sums(
    folder: Path, module: DenseModule, limit: int = 20_480
) -> tuple[float, float, tuple[str, ...]]:
    """The least cost of the last kernel, its cost, and what is computed again."""
    made = fuse(module.main, ProductFusion.BATCHED)
    kernel = made.kernels[-1]
    library = PerformanceLibrary(folder / "times.sqlite", by_opcode, "m")
    costs = KernelCosts(module, made.computation, library)
    asked = costs.costs(kernel.parts, kernel.roots)
    known = library.times(costs.lookups(asked))
    plan = memory_of(made.computation, kernel, limit)
    least = costs.least(kernel, asked, known)
    assert costs.least(kernel, asked, known, 1) >= min(least, 1)
    return least, costs.total(kernel, plan, asked, known), plan.recomputed


def test_what_is_computed_once_where_it_is_read(tmp_path: Path) -> None:
    graph = GraphMaker()
    x = graph.add("exponential", (8, 6), graph.parameter(8, 6))
    y = graph.add("transpose", (6, 8), graph.add("negate", (8, 6), x), dimensions=(1, 0))
    graph.add("negate", (6, 8), y)
    # the last stores; no other does, and the first negate is free
    assert sums(tmp_path, graph.module())[:2] == (30 + 7 + 40, 30 + 7 + 40)


def test_what_has_a_buffer_is_stored(tmp_path: Path) -> None:
    graph = GraphMaker()
    x, start = graph.add("exponential", (8, 6), graph.parameter(8, 6)), graph.parameter()
    y = graph.add("reduce", (8,), x, start, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (8, 6), y, dimensions=(0,))
    graph.add("add", (8, 6), x, wide)
    assert sums(tmp_path, graph.module())[:2] == (1 + 40 + 100, 1 + 50 + 100)


@pytest.mark.parametrize("limit", [20_480, 2048])
def test_what_a_product_reads_without_a_buffer_is_computed_for_each_sum(
    tmp_path: Path, limit: int
) -> None:
    least, total, again = sums(tmp_path, module_of(figure3()), limit)
    assert least < total
    assert bool(again) == (limit == 2048)
    assert (total > 3000) == bool(again)
