"""Bytes of kernels: arrays once, slices, views, constants; three ways to fuse one frame."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.graph import DenseComputation
from fuseloom.stitch.kernel_traffic import (
    KernelTraffic,
    TrafficTotal,
    frame_traffic,
    kernel_traffic,
)
from tests.tiers import counts

from .random_graphs import random_module
from .stitched_modules import GraphMaker


def moved(maker: GraphMaker, *names: str, root: str = "") -> KernelTraffic:
    graph = DenseComputation("f", tuple(maker.operations), maker.operations[-1].name)
    return kernel_traffic(graph, names, [root or names[-1]])


def test_of_what_is_sliced_behind_many_views_the_slice_is_read() -> None:
    maker = GraphMaker()
    last = maker.parameter(8, 4)
    for _ in range(1_000):
        last = maker.add("reshape", (4, 8), last)
        last = maker.add("reshape", (8, 4), last)
    maker.add("slice", (2, 4), last, slice=((0, 2, 1), (0, 4, 1)))
    names = [one.name for one in maker.operations[1:]]
    assert moved(maker, *names) == KernelTraffic(32, 32)


def test_an_array_is_read_once_however_many_read_it() -> None:
    maker = GraphMaker()
    x = maker.parameter(8, 4)
    y = maker.add("negate", (8, 4), x)
    z = maker.add("add", (8, 4), x, y)
    assert moved(maker, y) == KernelTraffic(128, 128)
    assert moved(maker, z) == KernelTraffic(256, 128)
    assert moved(maker, y, z) == KernelTraffic(128, 128)
    assert moved(maker, y, z).moved == 256


def test_views_of_an_array_are_the_array() -> None:
    maker = GraphMaker()
    x = maker.parameter(8, 4)
    flat = maker.add("reshape", (32,), x)
    again = maker.add("reshape", (8, 4), flat)
    y = maker.add("add", (8, 4), x, again)
    assert moved(maker, y) == KernelTraffic(128, 128)


def test_of_slices_and_rows_only_these_are_read() -> None:
    maker = GraphMaker()
    x = maker.parameter(8, 4)
    part = maker.add("slice", (2, 4), x, starts=(0, 0), limits=(2, 4), strides=(1, 1))
    y = maker.add("negate", (2, 4), part)
    assert moved(maker, part, y) == KernelTraffic(32, 32)
    assert moved(maker, y) == KernelTraffic(32, 32)
    other = maker.add("slice", (6, 4), x, starts=(2, 0), limits=(8, 4), strides=(1, 1))
    whole = maker.add("slice", (8, 4), x, starts=(0, 0), limits=(8, 4), strides=(1, 1))
    assert moved(maker, part, other, root=other).read == 128
    assert moved(maker, part, other, whole, root=whole).read == 128  # no more than there is
    flat = maker.add("reshape", (32,), x)
    few = maker.add("slice", (4,), flat, starts=(0,), limits=(4,), strides=(1,))
    assert moved(maker, flat, few) == KernelTraffic(16, 16)
    at = maker.parameter(element="s32")
    row = maker.add("dynamic-slice", (1, 4), x, at, at, dynamic_slice_sizes=(1, 4))
    assert moved(maker, row) == KernelTraffic(16 + 4, 16)


def test_a_constant_of_one_element_is_part_of_the_code() -> None:
    maker = GraphMaker()
    one = maker.add("constant", (), literal=np.float32(1))
    many = maker.add("constant", (4,), literal=np.ones(4, np.float32))
    x = maker.parameter(4)
    wide = maker.add("broadcast", (4,), one, dimensions=())
    y = maker.add("add", (4,), wide, x)
    z = maker.add("add", (4,), y, many)
    assert moved(maker, wide, y) == KernelTraffic(16, 16)
    assert moved(maker, z) == KernelTraffic(32, 16)


def test_totals_are_added() -> None:
    assert TrafficTotal(1, 2, 3, 4) + TrafficTotal(1, 0, 5, 6) == TrafficTotal(2, 2, 8, 10)
    assert TrafficTotal(1, 2, 3, 4).moved == 7


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_of_every_example_fusion_moves_less(name: str) -> None:
    made = fuse_module(read_example(name))
    found = [frame_traffic(frame) for frame in made.frames]
    assert sum(one.fused.kernels for one in found) == made.count
    assert sum(one.baseline.kernels for one in found) == made.baseline_count
    for one in found:
        assert one.fused.read <= one.baseline.read <= one.unfused.read
        assert one.baseline.written <= one.unfused.written


@counts(small=12, deep=400)
def test_kernels_of_random_graphs_write_what_is_read_outside(count: int) -> None:
    for seed in range(count):
        frame = fuse_module(random_module(random.Random(seed), 20)).frames[0]
        shapes = {one.name: one.shape for one in frame.fusion.computation.operations}
        operands = {one.name: one.operands for one in frame.fusion.computation.operations}
        for kernel in frame.fusion.kernels:
            found = kernel_traffic(frame.fusion.computation, kernel.operations, kernel.roots)
            assert found.written == sum(shapes[name].byte_size for name in kernel.roots)
            inside = {*kernel.operations}
            given = {one for name in inside for one in operands[name]} - inside
            assert found.read <= sum(shapes[one].byte_size for one in given)
