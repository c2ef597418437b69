"""Cases of kernels, and differences of arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fuseloom.errors import LimitError
from fuseloom.stitch import kernel_cases as module_of_cases
from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_cases import kernel_cases, relative_difference
from fuseloom.stitch.kernel_code import kernel_codes
from fuseloom.stitch.meaning.evaluation import evaluate


def test_what_kernels_have_to_make_is_what_the_module_means() -> None:
    made = fuse_module(read_example("logistic_regression"))
    fusion = made.frames[0].fusion
    inputs = random_inputs(made.frames[0].computation)
    codes = kernel_codes(made.module, fusion)
    cases = kernel_cases(made.module, fusion.computation, codes, inputs)
    assert [case.code for case in cases] == [one for one in codes if one.phased is not None]
    made_by_name = {
        one.name: value
        for case in cases
        if case.code.phased
        for one, value in zip(case.code.phased.outputs, case.expected, strict=True)
    }
    for name, value in zip(fusion.computation.outputs, evaluate(made.module, inputs), strict=True):
        assert np.array_equal(made_by_name[name], value)
    for case in cases:
        assert case.code.phased is not None
        for one, value in zip(case.code.phased.inputs, case.inputs, strict=True):
            assert value.shape == one.array.dims


def test_large_modules_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_of_cases, "MOST_KEPT", 1000)
    made = fuse_module(read_example("logistic_regression"))
    fusion = made.frames[0].fusion
    with pytest.raises(LimitError, match="more than 1,000"):
        kernel_cases(made.module, fusion.computation, kernel_codes(made.module, fusion), {})


@pytest.mark.parametrize(
    ("found", "wanted", "least", "difference"),
    [
        ([1.0, 4.0], [2.0, 4.0], 0.0, 0.25),
        ([1.0, 4.0], [2.0, 4.0], 10.0, 0.1),
        ([0.5], [0.0], 0.0, 0.5),
        ([math.nan, 1.0], [math.nan, 1.0], 0.0, 0.0),
        ([1.0, math.nan], [math.nan, 1.0], 0.0, math.inf),
        ([math.inf], [-math.inf], 0.0, math.inf),
        ([math.nan], [math.nan], 0.0, 0.0),
        ([math.nan, 1.0], [1.0, 1.0], 0.0, math.inf),
        ([math.inf, 1.0], [1.0, 1.0], 0.0, math.inf),
    ],
)
def test_differences(
    found: list[float], wanted: list[float], least: float, difference: float
) -> None:
    assert relative_difference(np.float32(found), np.float32(wanted), least) == difference


def test_differences_of_types_and_of_exact_numbers() -> None:
    one = np.int32([1, 2])
    assert relative_difference(one, one) == 0
    assert relative_difference(one, np.int32([1, 3])) == math.inf
    assert relative_difference(one, np.int64([1, 2])) == math.inf
    assert relative_difference(one, np.int32([[1, 2]])) == math.inf
