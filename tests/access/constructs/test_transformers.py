"""Transformers: the shapes of the paper's table 1, and what they do with values."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.access.constructs import CONSTRUCTS
from fuseloom.access.kernels import apply
from fuseloom.access.meaning import evaluate, shape_of
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, tensor

A = apply("access", tensor("A", (2, 3, 4)), 1)
DATA = {"A": np.arange(24.0).reshape(2, 3, 4)}


@pytest.mark.parametrize(
    ("term", "access", "compute", "first"),
    [
        (apply("access", A, 2), (2, 3), (4,), 0),
        (apply("transpose", A, (2, 0, 1)), (4,), (2, 3), 0),
        (apply("cartProd", A, A), (2, 2), (2, 3, 4), 0),
        (apply("windows", A, (2, 2), (1, 2)), (2, 2, 2), (2, 2), 0),
        (apply("slice", A, 1, 1, 3), (2,), (2, 4), 4),
        (apply("box", A, (1, 0, 2), (2, 3, 4)), (1,), (3, 2), 14),
        (apply("squeeze", apply("slice", A, 0, 1, 2), 0), (), (3, 4), 12),
        (apply("squeeze", apply("slice", A, 1, 1, 2), 1), (2,), (4,), 4),
        (apply("flatten", A), (2,), (12,), 0),
        (apply("reshape", A, AccessShape((2, 1), (6, 2))), (2, 1), (6, 2), 0),
        (apply("pair", A, A), (2,), (2, 3, 4), 0),
        (apply("concat", A, A, 1), (2,), (6, 4), 0),
        (apply("pad", A, "zero", 2, 1, 0), (2,), (3, 5), 0),
        (apply("broadcast", apply("insert-axis", A, 0), AccessShape((5, 2), (3, 4))), (5, 2),
         (3, 4), 0),
        (apply("insert-axis", A, 2), (2,), (3, 1, 4), 0),
        (apply("insert-axis", A, 1), (2, 1), (3, 4), 0),
    ],
)  # fmt: skip
def test_shapes_and_values(
    term: Term, access: tuple[int, ...], compute: tuple[int, ...], first: float
) -> None:
    assert shape_of(term) == AccessShape(access, compute)
    value = evaluate(term, DATA)
    assert value.shape == (*access, *compute)
    assert value.flat[0] == first


def test_windows_overlap_and_step() -> None:
    line = apply("access", tensor("A", (7,)), 0)
    values = evaluate(apply("windows", line, (3,), (2,)), {"A": np.arange(7)})
    assert values.tolist() == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]


def test_padding_is_0_or_never_the_largest() -> None:
    line = apply("access", tensor("A", (1,)), 0)
    for filling, wanted in (("zero", 0.0), ("minimum", -3.0)):
        largest = apply("compute", "reduceMax", apply("pad", line, filling, 0, 1, 1))
        assert evaluate(largest, {"A": [-3.0]}) == wanted


def test_every_construct_says_what_it_does() -> None:
    for name, construct in CONSTRUCTS.items():
        assert construct.name == name
        assert construct.text
        assert construct.signature().count(" ") == len(construct.parts)
