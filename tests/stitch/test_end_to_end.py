"""Speedups of whole programs: the formulas, and times that a clock of the tests tells."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.end_to_end import (
    LEAST_TIME,
    ROUNDS,
    EndToEnd,
    amdahl_speedup,
    predicted_speedup,
    time_module,
)
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.opcodes import ProductFusion

STEP = """HloModule m
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
body { p = (f32[4,4], s32[]) parameter(0)
  x = f32[4,4] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4,4] add(x, x)
  ROOT r = (f32[4,4], s32[]) tuple(y, j) }
condition { p = (f32[4,4], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=1
  three = s32[] constant(3)
  ROOT r = pred[] compare(i, three), direction=LT }
ENTRY main {
  x = f32[4,4] parameter(0)
  h = f16[4] parameter(1)
  half = f16[4] add(h, h)
  zero = s32[] constant(0)
  start = (f32[4,4], s32[]) tuple(x, zero)
  loop = (f32[4,4], s32[]) while(start), condition=condition, body=body
  y = f32[4,4] get-tuple-element(loop), index=0
  turned = f32[4,4] transpose(y), dimensions={1,0}
  e = f32[4,4] exponential(turned)
  product = f32[4,4] dot(e, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[4,4] negate(product)
  ROOT result = (f32[4,4], f16[4]) tuple(z, half)
}"""


def steady(step: int) -> Callable[[], int]:
    """A clock that goes on by as much whenever it is asked."""
    now = [0]

    def clock() -> int:
        now[0] += step
        return now[0]

    return clock


@pytest.mark.parametrize("formula", [predicted_speedup, amdahl_speedup])
def test_formulas_agree_where_nothing_is_won(formula: Callable[[float, float], float]) -> None:
    assert formula(0.0, 5.0) == 1.0
    assert formula(0.7, 1.0) == 1.0
    assert formula(0.5, 0.5) < 1.0


def test_the_formula_of_the_paper_is_never_more_than_amdahls_law() -> None:
    for ratio in (0.0, 0.1, 0.5, 1.0):
        for speedup in (0.4, 1.0, 1.74, 3.5, 100.0):
            assert predicted_speedup(ratio, speedup) <= amdahl_speedup(ratio, speedup) + 1e-12
    assert predicted_speedup(0.3, 1.74) == pytest.approx(1.1276, abs=1e-4)


def test_a_record_of_nothing() -> None:
    nothing = EndToEnd(0, 0, 0, 0)
    assert (nothing.fusable_ratio, nothing.fusion_speedup) == (0, 1)
    assert (nothing.predicted, nothing.amdahl, nothing.measured) == (1, 1, 1)


def test_every_part_is_timed_once() -> None:
    found = time_module(fuse_module(read_hlo(STEP)), clock=steady(LEAST_TIME))
    # Deep fusion: transposition and exponential, negation, and the sum of f16, which is no C.
    assert (found.fused_kernels, found.fused) == (3, 3 * LEAST_TIME)
    assert (found.baseline_kernels, found.baseline) == (4, 4 * LEAST_TIME)
    assert (found.calls, found.taken_in) == (LEAST_TIME, 0)
    assert found.evaluated == ("half",)
    assert found.left_out == ("loop",)
    assert (found.fused_whole, found.baseline_whole) == (LEAST_TIME, LEAST_TIME)
    assert found.fusable_ratio == pytest.approx(4 / 5)
    assert found.predicted == pytest.approx(1 + 4 / 5 * (1 - 3 / 4))
    assert found.amdahl == pytest.approx(5 / 4)


def test_a_product_within_a_kernel_is_no_call() -> None:
    module = read_hlo("""HloModule m
ENTRY main {
  x = f32[4,8,8] parameter(0)
  e = f32[4,8,8] exponential(x)
  ROOT y = f32[4,8,8] dot(e, x), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={1}
}""")
    inside = time_module(fuse_module(module), clock=steady(LEAST_TIME), rounds=1)
    assert (inside.fused, inside.baseline) == (LEAST_TIME, LEAST_TIME)
    assert (inside.taken_in, inside.calls) == (LEAST_TIME, 0)
    apart = time_module(
        fuse_module(module, ProductFusion.NEVER), clock=steady(LEAST_TIME), rounds=1
    )
    assert (apart.taken_in, apart.calls) == (0, LEAST_TIME)


def test_rounds_are_told_and_can_be_ended() -> None:
    told: list[int] = []
    made = fuse_module(read_hlo(STEP))
    time_module(made, clock=steady(LEAST_TIME), progress=told.append)
    assert told == list(range(ROUNDS))
    assert all(after == before + 1 for before, after in pairwise(told))

    def stop(number: int) -> None:
        raise InterruptedError(number)

    with pytest.raises(InterruptedError):
        time_module(made, clock=steady(LEAST_TIME), progress=stop)


def test_what_has_no_meaning_is_an_error() -> None:
    module = read_hlo("""HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="secret"
}""")
    with pytest.raises(ProgramError, match="secret"):
        time_module(fuse_module(module))


@pytest.mark.deep
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fuzz] * (name in ("birnn", "residual_block")))
        for name in EXAMPLES  # birnn and residual_block compile for long, and are like rnn, speech
    ],
)
def test_examples_are_timed(name: str) -> None:
    found = time_module(fuse_module(read_example(name)), example_inputs(name), rounds=1)
    assert 0 < found.fusable_ratio <= 1
    assert found.fusion_speedup > 0
    assert found.measured > 0
    assert found.ok
    assert max(found.fused_error, found.baseline_error) < 1e-5
    assert found.fused_kernels < found.baseline_kernels
