"""The baseline with schedules: it computes what the module means, kernel by kernel."""

from __future__ import annotations

import random

import pytest

from fuseloom.stitch.baseline_kernels import baseline_kernels
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.graph import DenseModule, random_inputs
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.stitched_program import StitchedProgram, relative_error
from fuseloom.stitch.xla_rules import xla_fusion

from .random_graphs import random_module


def error_of(module: DenseModule) -> float:
    made = baseline_kernels(module, xla_fusion(module.main))
    program = StitchedProgram(made.module, made.fusion)
    return relative_error(program, random_inputs(module.main), least=1.0)


def test_what_several_kernels_compute_is_in_each() -> None:
    module = read_hlo("""HloModule m
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,4] parameter(0)
  zero = f32[] constant(0)
  half = f32[8,4] negate(x)
  top = f32[8] reduce(half, zero), dimensions={1}, to_apply=sum
  wide = f32[8,4] broadcast(top), dimensions={0}
  ROOT y = f32[8,4] subtract(half, wide)
}""")
    made = baseline_kernels(module, xla_fusion(module.main))
    first, second = made.fusion.kernels
    assert first.roots == ("top",)
    assert second.roots == ("y",)
    assert len(first.operations) == 2
    assert len(second.operations) == 3
    assert not {*first.operations} & {*second.operations}
    assert {made.fusion.originals[name] for name in second.operations if name != "y"} == {
        "half", "wide",
    }  # fmt: skip
    assert error_of(module) < 1e-6


def test_a_bitcast_that_is_read_in_memory_and_computed_again() -> None:
    module = read_hlo("""HloModule m
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8] parameter(0)
  n = f32[8] negate(x)
  flat = f32[4,2] reshape(n)
  e = f32[4,2] exponential(flat)
  p = f32[4,4] dot(flat, flat), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT both = (f32[4,2], f32[4,4]) tuple(e, p)
}""")
    assert error_of(module) < 1e-6


def test_a_kernel_with_two_results() -> None:
    module = read_hlo("""HloModule m
ENTRY main {
  x = f32[16] parameter(0)
  a = f32[16] exponential(x)
  b = f32[16] tanh(x)
  ROOT both = (f32[16], f32[16]) tuple(a, b)
}""")
    made = baseline_kernels(module, xla_fusion(module.main))
    assert [set(kernel.roots) for kernel in made.fusion.kernels] == [{"a", "b"}]
    assert made.split == ()
    assert error_of(module) < 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed: int) -> None:
    assert error_of(random_module(random.Random(seed))) < 1e-4


@pytest.mark.deep
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fuzz] * (name == "birnn"))  # twice the layers of rnn
        for name in EXAMPLES
    ],
)
def test_examples(name: str) -> None:
    module = inline_calls(read_example(name))
    baseline = xla_fusion(module.main)
    made = baseline_kernels(module, baseline)
    assert baseline.count <= made.fusion.count <= baseline.count + 3
    program = StitchedProgram(made.module, made.fusion)
    assert relative_error(program, example_inputs(name)) < 1e-5
