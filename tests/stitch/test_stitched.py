"""Records of deep fusion: counts, ratios, and the kernel of an operation."""

from __future__ import annotations

from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.xla_rules import xla_fusion

from .brute_force import shaped
from .figure3 import figure3


def test_kernels_are_counted_without_calls() -> None:
    made = fuse(figure3())
    assert len(made.kernels) == 2
    assert made.count == 1
    assert made.ratio(xla_fusion(figure3())) == 0.25
    assert made.kernel_of["Reduce.1"] is made.kernels[0]
    assert "Parameter.1" not in made.kernel_of


def test_a_kernel_tells_the_schedules_of_its_operations() -> None:
    (kernel,) = fuse(figure3(), ProductFusion.BATCHED).kernels
    assert kernel.name == "Dot.1"
    assert kernel.schedules["Divide.1"] == BlockSchedule(1, 64)
    assert kernel.reason == "grown from layer 0 up to layer 9"


def test_the_ratio_of_nothing_to_nothing_is_1() -> None:
    x = DenseOperation("x", "parameter", shaped(4))
    graph = DenseComputation("f", (x,), "x")
    made = fuse(graph)
    assert made.kernels == ()
    assert made.ratio(xla_fusion(graph)) == 1.0
    assert not made.rules
