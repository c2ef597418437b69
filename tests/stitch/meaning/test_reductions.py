"""Reductions with computations of every kind, over dimensions and over windows."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.reductions import MEANINGS
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.arrays import SUM
from tests.stitch.meaning.cases.operation_case import case, floats, region


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == set()


def test_start_values_count() -> None:
    x = floats(3, 4)
    row = "z = f32[] constant(7)\nROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=sum"
    (made,) = case(row, SUM, x=x).results()
    np.testing.assert_allclose(made, x.sum(1) + 7, rtol=1e-6)


def test_sums_are_rounded_once() -> None:
    x = np.float32([2**24, *[1] * 64, -(2**24)])
    row = "z = f32[] constant(0)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=sum"
    (made,) = case(row, SUM, x=x).results()
    assert (float(made), made.dtype) == (64, np.float32)


CONDITIONAL = """one {
  p = (f32[], f32[]) parameter(0)
  ROOT r = f32[] get-tuple-element(p), index=0
}
other {
  p = (f32[], f32[]) parameter(0)
  ROOT r = f32[] get-tuple-element(p), index=1
}
larger {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  c = pred[] compare(p, q), direction=GE
  t = (f32[], f32[]) tuple(p, q)
  ROOT r = f32[] conditional(c, t, t), true_computation=one, false_computation=other
}
"""


def test_regions_that_are_computed_element_by_element() -> None:
    x = floats(3, 4)
    row = "z = f32[] constant(-9)\nROOT r = f32[4] reduce(x, z), dimensions={0}, to_apply=larger"
    (made,) = case(row, CONDITIONAL, x=x).results()
    np.testing.assert_array_equal(made, x.max(0), strict=True)
    empty = "z = f32[] constant(-9)\nROOT r = f32[0] reduce(x, z), dimensions={0}, to_apply=larger"
    (made,) = case(empty, CONDITIONAL, x=floats(3, 0)).results()
    assert made.shape == (0,)


NESTED = (
    SUM
    + """mean {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  s = f32[] call(p, q), to_apply=sum
  h = f32[] constant(0.5)
  ROOT r = f32[] multiply(s, h)
}
"""
)


def test_regions_that_call() -> None:
    x = floats(2, 3)
    row = "z = f32[] constant(1)\nROOT r = f32[2] reduce(x, z), dimensions={1}, to_apply=mean"
    (made,) = case(row, NESTED, x=x).results()
    wanted = (((1 + x[:, 0]) / 2 + x[:, 1]) / 2 + x[:, 2]) / 2
    np.testing.assert_allclose(made, wanted, rtol=1e-6)


@pytest.mark.parametrize("opcode", ["add", "multiply", "maximum", "minimum"])
def test_select_and_scatter_by_loops(opcode: str) -> None:
    x, y = floats(7), floats(3, seed=1)
    regions = region("ge", "compare", more=", direction=GE") + region("f", opcode)
    (made,) = case(
        "z = f32[] constant(0.5)\nROOT r = f32[7] select-and-scatter(x, y, z), "
        "window={size=3 stride=2}, select=ge, scatter=f",
        regions, x=x, y=y,
    ).results()  # fmt: skip
    combine = {"add": np.add, "multiply": np.multiply, "maximum": max, "minimum": min}[opcode]
    wanted = np.full(7, 0.5)
    for k, value in enumerate(y):
        place = 2 * k + int(np.argmax(x[2 * k : 2 * k + 3]))
        wanted[place] = combine(wanted[place], value)
    np.testing.assert_allclose(made, wanted, rtol=1e-6)


def test_select_and_scatter_with_another_region() -> None:
    regions = region("ge", "compare", more=", direction=GE") + region("f", "subtract")
    (made,) = case(
        "z = f32[] constant(1)\nROOT r = f32[3] select-and-scatter(x, y, z), "
        "window={size=2}, select=ge, scatter=f",
        regions, x=np.float32([1, 5, 2]), y=np.float32([3, 4]),
    ).results()  # fmt: skip
    assert made.tolist() == [1, -6, 1]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ROOT r = f32[2] reduce(x, z), dimensions={5}, to_apply=sum", "do not fit"),
        ("ROOT r = f32[2] reduce(x, z), dimensions={1}", "has no to_apply"),
        ("ROOT r = f32[2] reduce(x, z), to_apply=sum", "has no dimensions"),
        ("ROOT r = f32[2] reduce(x), dimensions={1}, to_apply=sum", "a scalar for each"),
        ("ROOT r = f32[2] reduce(x, x), dimensions={1}, to_apply=sum", "a scalar for each"),
        ("ROOT r = f32[2] reduce(x, k), dimensions={1}, to_apply=sum", "a scalar for each"),
        ("ROOT r = f32[2] reduce(x, z), dimensions={1}, to_apply=less", "is said to be f32[2]"),
        ("ROOT r = f32[2,3] reduce-window(x, z), window={size=2}, to_apply=sum", "do not fit"),
        ("ROOT r = f32[2,3] map(x), dimensions={0,1}, to_apply=sum", "2 parameters, and gets 1"),
        (
            "ROOT r = f32[2,3] select-and-scatter(x, x, z), window={size=1x1 rhs_reversal=1x1}, "
            "select=less, scatter=sum", "go backwards",
        ),
        (
            "ROOT r = f32[2,3] select-and-scatter(x, x, z), window={size=999x999}, "
            "select=less, scatter=sum", "windows of more than 100,000",
        ),
        (
            "ROOT r = f32[2,3] reduce-window(x, z), window={size=99999x99999 "
            "pad=99999_99999x99999_99999}, to_apply=sum", "takes more memory",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit(body: str, words: str) -> None:
    regions = SUM + region("less", "compare", more=", direction=LT")
    zero = "z = f32[] constant(0)\nk = s32[] constant(0)\n"
    with pytest.raises(ProgramError) as caught:
        case(zero + body, regions, x=floats(2, 3)).results()
    assert words in caught.value.message
