"""Scalar operations in Triton mean what the interpreter says, for all types, at ends of ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import LoweringError
from fuseloom.stitch.fusion import FusionSettings
from fuseloom.stitch.gpu.triton_check import compile_triton, run_triton
from fuseloom.stitch.triton.scalars import (
    converted_text,
    extreme_text,
    literal_text,
    number_text,
    scalar_text,
)

from ..c.test_scalars import FLOATS, INTEGERS, graph_of, rounded, values
from ..stitched_modules import GraphMaker
from .triton_kernels import cases_of, codes_of

ELEMENTS = (*FLOATS, *INTEGERS, "pred")
FEWER = ("f32", "f64", "bf16", "s8", "s32", "u16", "u64", "pred")
"""Types of every kind and width."""
SIZE = 160
"""Elements of an operand: Triton's interpreter takes long for many."""
TOGETHER = FusionSettings(enough_blocks=1)
TOLERANCE = {"bf16": 1e-2, "f32": 2e-6, "f64": 1e-13}
POWER_F64 = 2e-13
"""The error of a power of float64: its exponent times a logarithm, which is rounded once."""


@pytest.mark.deep
def test_elements_are_those_of_the_interpreter() -> None:
    cases = []
    for element in ELEMENTS:
        module = graph_of(element, SIZE).module()
        rng = np.random.default_rng(5)
        inputs = {
            one.name: rounded(one.array.element, values(one.array.element, rng, SIZE))
            for one in module.main.parameters
        }
        cases += cases_of(module, inputs, settings=TOGETHER, prefix=element)
    compared = set()
    for case, found in zip(cases, run_triton(cases), strict=True):
        assert case.code.phased is not None
        for operation, a, b in zip(case.code.phased.outputs, found, case.expected, strict=True):
            name = (case.code.function, operation.opcode, operation.array.element)
            compared.add(name)
            check(name, a, b)
    assert len(compared) > 300


def check(name: tuple[str, str, str], a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> None:
    assert a.dtype == b.dtype, name
    if a.dtype.kind != "f":
        assert np.array_equal(a, b), name
        return
    tolerance = POWER_F64 if name[1:] == ("power", "f64") else TOLERANCE[name[2]]
    with np.errstate(all="ignore"):
        assert np.allclose(a, b, rtol=tolerance, atol=1e-37, equal_nan=True), name


@pytest.mark.deep
@pytest.mark.parametrize(
    "elements", [FEWER, pytest.param(ELEMENTS, marks=pytest.mark.fuzz)], ids=["some", "all"]
)
def test_all_operations_compile(elements: tuple[str, ...]) -> None:
    codes = [
        code
        for element in elements
        for code in codes_of(graph_of(element).module(), settings=TOGETHER, prefix=element)
    ]
    for made in compile_triton(codes):
        assert ".target sm_90" in made.ptx
        assert 0 < made.registers < 128
        assert made.spilled == 0


def test_constants_have_their_type() -> None:
    assert number_text(-0.5, "f64") == "tl.full([], -0.5, tl.float64)"
    assert number_text(True, "pred") == "tl.full([], True, tl.int1)"
    assert number_text(2**64 - 1, "u64") == "tl.full([], 18446744073709551615, tl.uint64)"
    assert literal_text(float("inf"), "bf16") == 'float("inf")'
    assert float(literal_text(0.1, "f64")) == 0.1


def test_extremes_keep_nan() -> None:
    assert "PropagateNan.ALL" in extreme_text("maximum", "a", "b", "bf16")
    assert extreme_text("minimum", "a", "b", "pred") == "a & b"
    made = scalar_text("clamp", [("a", "f32"), ("b", "f32"), ("c", "f32")], "f32", {})
    assert made.count("PropagateNan.ALL") == 2


def test_ranges_of_integers() -> None:
    assert converted_text("a", "f64", "u8") == "to_integer(a, 0, 255, tl.uint8)"
    assert converted_text("a", "f32", "s64").startswith(f"to_integer(a, {-(2**63)}, {2**63 - 1},")
    assert converted_text("a", "bf16", "f32") == "a"
    assert converted_text("a", "pred", "pred") == "a"


def test_bf16_is_rounded_behind_each_operation() -> None:
    both = [("a", "bf16"), ("b", "bf16")]
    assert scalar_text("add", both, "bf16", {}) == "rounded_bf16(a + b)"
    assert scalar_text("convert", both[:1], "f32", {}) == "a"
    for opcode in ("negate", "abs", "copy"):
        assert "rounded" not in scalar_text(opcode, both[:1], "bf16", {})


@pytest.mark.parametrize(
    ("opcode", "element"),
    [
        ("add", "f16"), ("add", "c64"), ("popcnt", "s32"), ("reduce-precision", "f64"),
        ("power", "s32"), ("bitcast-convert", "bf16"), ("is-finite", "s32"),
    ],
)  # fmt: skip
def test_what_triton_has_not_is_refused(opcode: str, element: str) -> None:
    attributes = {"exponent_bits": 5, "mantissa_bits": 3}
    with pytest.raises(LoweringError, match="Triton") as caught:
        scalar_text(opcode, [("a", element), ("b", element)], element, attributes)
    assert caught.value.hint == "NumPy evaluates it"


def test_the_total_order_of_floats_is_refused() -> None:
    more = {"direction": "LT", "type": "TOTALORDER"}
    with pytest.raises(LoweringError, match="no Triton for compare of f32, f32"):
        scalar_text("compare", [("a", "f32"), ("b", "f32")], "pred", more)
    assert scalar_text("compare", [("a", "s32"), ("b", "s32")], "pred", more) == "a < b"


def test_a_kernel_of_each_type_has_code() -> None:
    for element in ELEMENTS:
        assert codes_of(graph_of(element).module(), settings=TOGETHER)
    half = GraphMaker("f16")
    half.add("negate", (4,), half.parameter(4))
    with pytest.raises(AssertionError, match="f16 is no type"):
        codes_of(half.module())
