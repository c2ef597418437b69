"""Modules frame by frame: loops and branches, and kernels of the models that come along."""

from __future__ import annotations

import math

import pytest

from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.frames import frames_of, fuse_module
from fuseloom.stitch.fusion import FusionSettings
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_traffic import frame_traffic
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.run_order import run_order

from .stitched_modules import GraphMaker

LOOP = """HloModule loop
body {
  p = (s32[], f32[4]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(n, one)
  x = f32[4] get-tuple-element(p), index=1
  e = f32[4] exponential(x)
  ROOT t = (s32[], f32[4]) tuple(next, e)
}
condition {
  p = (s32[], f32[4]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  most = s32[] constant(3)
  ROOT c = pred[] compare(n, most), direction=LT
}
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] negate(x)
  zero = s32[] constant(0)
  t = (s32[], f32[4]) tuple(zero, y)
  w = (s32[], f32[4]) while(t), condition=condition, body=body
  z = f32[4] get-tuple-element(w), index=1
  ROOT r = f32[4] abs(z)
}
"""
SIX = ("logistic_regression", "word2vec", "rnn", "birnn", "translation", "speech")


def test_bodies_of_loops_are_frames_that_count_once() -> None:
    module = read_hlo(LOOP)
    assert [frame.name for frame in frames_of(module)] == ["main", "body", "condition"]
    made = fuse_module(module)
    assert [frame.fusion.count for frame in made.frames] == [2, 2, 1]
    assert made.count == 5
    assert made.ratio == made.count / made.baseline_count


@pytest.mark.parametrize("products", ProductFusion)
def test_fewer_than_half_of_the_kernels_of_the_baseline(products: ProductFusion) -> None:
    """The aims: a geometric mean of 0.45, 0.30 or less for one, and never more than 0.85."""
    ratios = [fuse_module(read_example(name), products).ratio for name in SIX]
    assert math.prod(ratios) ** (1 / len(ratios)) <= 0.45
    assert min(ratios) <= 0.3
    assert max(ratios) <= 0.85


def test_layers_with_calls_take_nothing_in_as_in_the_paper() -> None:
    paper = FusionSettings(call_layers=True)
    for name in EXAMPLES:
        module = read_example(name)
        assert fuse_module(module).count <= fuse_module(module, settings=paper).count


def test_a_long_frame_is_one_kernel_that_is_planned_counted_and_ordered() -> None:
    """With more operations behind each other than Python calls functions within each other."""
    maker = GraphMaker()
    first = maker.parameter(4, 2)
    last = first
    for _ in range(400):
        last = maker.add("negate", (4, 2), last)
        last = maker.add("reshape", (2, 4), last)
        last = maker.add("reshape", (4, 2), maker.add("tanh", (2, 4), last))
    (frame,) = fuse_module(maker.module()).frames
    (kernel,) = frame.fusion.kernels
    assert len(kernel.operations) == 1_599  # the last reshape names what is in memory
    assert memory_of(frame.fusion.computation, kernel).byte_size == 0
    assert run_order(frame.fusion) == (first, 0, last)
    assert frame_traffic(frame).fused == frame_traffic(frame).baseline
