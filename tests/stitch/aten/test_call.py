"""Arguments of calls: numbers, tensors, types that operands are brought to."""

from __future__ import annotations

from typing import Any

import pytest

from fuseloom.stitch.aten.call import AtenCall, TensorValue, UnknownCaseError, expanded
from fuseloom.stitch.module_builder import ModuleBuilder
from fuseloom.stitch.shapes import TensorShape


def call_of(*operands: TensorShape | Any) -> AtenCall:
    builder = ModuleBuilder("m")
    given = {
        f"x{k}": TensorValue(builder.parameter(f"x{k}", one)) if isinstance(one, TensorShape)
        else one
        for k, one in enumerate(operands)
    }  # fmt: skip
    return AtenCall(builder, given, (TensorShape("pred", (2, 3)),))


@pytest.mark.parametrize(
    ("left", "right", "element"),
    [
        (TensorShape("f32", (3,)), 2, "f32"),
        (TensorShape("s32", (3,)), 2.5, "f32"),
        (TensorShape("s32", (3,)), TensorShape("s64", ()), "s32"),
        (TensorShape("s32", (3,)), TensorShape("s64", (3,)), "s64"),
        (TensorShape("pred", (3,)), 1, "s64"),
        (TensorShape("pred", (3,)), True, "pred"),
        (TensorShape("f16", (3,)), TensorShape("bf16", (3,)), "f32"),
        (TensorShape("bf16", (3,)), TensorShape("s64", (3,)), "bf16"),
        (TensorShape("bf16", (3,)), TensorShape("f64", (3,)), "f64"),
        (TensorShape("f32", ()), TensorShape("f64", ()), "f64"),
        (TensorShape("u8", (3,)), TensorShape("s8", (3,)), "s16"),
        (TensorShape("f32", (3,)), TensorShape("c64", ()), "c64"),
    ],
)
def test_common_types(left: Any, right: Any, element: str) -> None:
    assert call_of(left, right).common("x0", "x1") == TensorShape(element, (2, 3))


def test_operands_are_converted_and_repeated() -> None:
    call = call_of(TensorShape("f32", (1, 3)), 2, None)
    shape = TensorShape("s32", (2, 3))
    assert call.builder.shape(call.operand("x0", shape)) == shape
    assert call.builder.shape(call.operand("x1", shape)) == shape
    with pytest.raises(UnknownCaseError):
        call.operand("x2")
    with pytest.raises(UnknownCaseError):
        call.tensors("x0")


def test_dimensions() -> None:
    call = call_of()
    assert call.dimensions(None, 3) == call.dimensions([], 3) == (0, 1, 2)
    assert call.dimensions(-1, 3) == (2,)
    assert call.dimensions([0, -2], 3) == (0, 1)
    assert call.dimensions(0, 0) == ()


def test_what_does_not_fit_is_refused() -> None:
    builder = ModuleBuilder("m")
    x = builder.parameter("x", TensorShape("f32", (2, 3)))
    for dims in ((3,), (3, 3), (2, 1)):
        with pytest.raises(UnknownCaseError):
            expanded(builder, x, dims)
