"""Operators of ``compute``: the paper's table 2, and those beyond it."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.access.kernels import apply
from fuseloom.access.meaning import evaluate, shape_of
from fuseloom.access.terms import tensor

VALUES = np.array([[[1.0, -2.0], [3.0, 4.0]]])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("reduceSum", [6.0]),
        ("reduceMax", [4.0]),
        ("dotProd", [1.0 * 3.0 + -2.0 * 4.0]),
        ("elementwiseAdd", [[4.0, 2.0]]),
        ("elementwiseMul", [[3.0, -8.0]]),
        ("relu", [[[1.0, 0.0], [3.0, 4.0]]]),
        ("softmax", np.exp(VALUES) / np.exp(VALUES).sum()),
    ],
)
def test_what_is_computed(name: str, wanted: object) -> None:
    term = apply("compute", name, apply("access", tensor("A", (1, 2, 2)), 1))
    value = evaluate(term, {"A": VALUES})
    assert np.allclose(value, wanted)
    assert value.shape == shape_of(term).dims
    assert shape_of(term).access == (1,)


def test_a_softmax_of_large_values_is_finite() -> None:
    term = apply("compute", "softmax", apply("access", tensor("A", (2,)), 0))
    assert evaluate(term, {"A": [1000.0, 1000.0]}).tolist() == [0.5, 0.5]


def test_a_systolic_array_multiplies() -> None:
    call = apply(
        "systolicArray", 3, 2, apply("access", tensor("A", (4, 3)), 1), tensor("W", (3, 2))
    )
    a, w = np.ones((4, 3)), np.arange(6.0).reshape(3, 2)
    assert np.array_equal(evaluate(call, {"A": a, "W": w}), a @ w)
