"""Values of operations: types, attributes, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.values import attribute, fault, fits, rounded, shown, wide
from fuseloom.stitch.shapes import TensorShape, TupleShape

PAIR = TupleShape((TensorShape("f32", (2,)), TensorShape("bf16", ())))
OPERATION = DenseOperation("y", "iota", TensorShape("s32", ()), (), {"index": 0}, line=7)


def test_attributes() -> None:
    assert attribute(OPERATION, "index") == 0
    assert attribute(OPERATION, "k", None) is None
    with pytest.raises(ProgramError, match=r"line 7, column 1: y \(iota\) has no k"):
        attribute(OPERATION, "k")


def test_errors_name_the_operation() -> None:
    other = DenseOperation("z" * 100, "add", TensorShape("s32", ()))
    error = fault(other, "is wrong", "mend it")
    assert len(str(error)) < 120
    assert (str(error)[:2], error.hint) == ("zz", "mend it")


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ((np.zeros(2, np.float32), np.float32(0)), True), ((np.zeros(2, np.float32),), False),
        ((np.zeros(2), np.float32(0)), False), ((np.zeros(3, np.float32), np.float32(0)), False),
        (np.zeros(2, np.float32), False), ((0.0, 0.0), False),
    ],
)  # fmt: skip
def test_what_fits_a_type(value: Any, good: bool) -> None:
    assert fits(value, PAIR) == good


def test_only_bf16_is_rounded() -> None:
    third = np.array([1 / 3, 2], np.float32)
    first, second = rounded((third, third[0]), PAIR)
    assert first is third
    assert float(second) == 0.333984375


def test_sums_are_wide_for_floats() -> None:
    kinds = ("float16", "float32", "float64", "complex64", "int8", "uint32", "bool")
    made = [wide(np.dtype(kind)).name for kind in kinds]
    assert made == ["float64"] * 3 + ["complex128", "int8", "uint32", "bool"]


def test_types_of_values_are_shown() -> None:
    assert shown((np.zeros((2, 3), np.int8), ())) == "(int8[2,3], ())"
