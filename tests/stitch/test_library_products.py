"""Products by BLAS against the meaning of dots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.stitch.graph import DenseModule, DenseOperation
from fuseloom.stitch.library_products import is_library_product, library_product
from fuseloom.stitch.meaning.evaluation import value_of
from fuseloom.stitch.shapes import TensorShape

CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((4, 5), (5, 6), (4, 6), {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}),
    ((5, 4), (6, 5), (4, 6), {"lhs_contracting_dims": (0,), "rhs_contracting_dims": (1,)}),
    ((4, 5), (5,), (4,), {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}),
    ((5,), (5,), (), {"lhs_contracting_dims": (0,), "rhs_contracting_dims": (0,)}),
    ((3,), (2,), (3, 2), {}),
    (
        (2, 3, 4, 5), (4, 2, 5, 7), (2, 4, 3, 7),
        {
            "lhs_batch_dims": (0, 2), "rhs_batch_dims": (1, 0), "lhs_contracting_dims": (3,),
            "rhs_contracting_dims": (2,),
        },
    ),
    (
        (2, 3, 4), (4, 6, 3), (2, 6),
        {"lhs_contracting_dims": (1, 2), "rhs_contracting_dims": (2, 0)},
    ),
    ((0, 5), (5, 2), (0, 2), {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}),
)  # fmt: skip


@pytest.mark.parametrize(("left", "right", "dims", "attributes"), CASES)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_a_product_is_the_meaning_of_the_dot(
    left: tuple[int, ...], right: tuple[int, ...], dims: tuple[int, ...],
    attributes: dict[str, Any], element: str,
) -> None:  # fmt: skip
    dot = DenseOperation("y", "dot", TensorShape(element, dims), ("a", "b"), attributes)
    assert is_library_product(dot, (element, element))
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dot.array.dtype) for shape in (left, right))
    wanted = value_of(DenseModule("m", {}, "main"), dot, (a, b))
    made = library_product(dot, a, b)
    assert (made.shape, made.dtype) == (dims, dot.array.dtype)
    assert np.allclose(made, np.asarray(wanted), atol=1e-5)
    room = np.full(dims, np.nan, dot.array.dtype)
    assert library_product(dot, a, b, room) is room
    assert np.array_equal(room, made)


def test_what_blas_has_not() -> None:
    shape = TensorShape("s32", (2, 2))
    assert not is_library_product(DenseOperation("y", "dot", shape, ("a", "b")), ("s32", "s32"))
    mixed = DenseOperation("y", "dot", TensorShape("f32", (2, 2)), ("a", "b"))
    assert not is_library_product(mixed, ("bf16", "f32"))
    assert not is_library_product(
        DenseOperation("y", "add", TensorShape("f32", (2,)), ("a", "b")), ("f32", "f32")
    )
