"""Sums that repeat an operand over an outer index can be built, by themselves and fused."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.frontends.mlir import from_mlir
from fuseloom.program.types import BroadcastAdd

from .files import generic, result

SPARSE = (
    "tensor<2x3x4xf32, #sparse_tensor.encoding<{ map = (i, j, k) -> "
    "(i : compressed, j : compressed, k : compressed) }>>"
)
DENSE = "tensor<2x3x4xf32>"
OUT = (DENSE, "(d0, d1, d2) -> (d0, d1, d2)")


def _text(first: str, second: str, places: str, body: str) -> str:
    arguments = [(first, OUT[1]), (second, f"(d0, d1, d2) -> ({places})")]
    return generic(arguments, OUT, "ppp", body)


@pytest.mark.parametrize(
    ("first", "places"),
    [*((DENSE, x) for x in ("d1, d2", "d1", "d2", "d0, d1")), (SPARSE, "d1, d2"), (SPARSE, "d1")],
    ids=lambda x: "sparse" if "#" in x else "dense" if x == DENSE else x,
)
def test_sums_that_repeat_an_operand(first: str, places: str) -> None:
    sizes = {"d0": 2, "d1": 3, "d2": 4}
    rows = tuple(sizes[x] for x in places.split(", "))
    second = f"tensor<{'x'.join(map(str, rows))}xf32>"
    body = "%p = arith.mulf %a, %b : f32\n%y = arith.addf %p, %b : f32"
    given = from_mlir(_text(first, second, places, body))
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 2, (2, 3, 4)), rng.uniform(1, 2, rows)
    if first == SPARSE:
        a[1, 1:] = 0
        a[0, 0, 1] = 0
    shape = [sizes[x] if x in places else 1 for x in sizes]
    np.testing.assert_allclose(
        result(given, {"A": a, "B": b}), a * b.reshape(shape) + b.reshape(shape), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("first", "setting", "dense"),
    [(DENSE, BroadcastAdd.SPARSE, True), (SPARSE, BroadcastAdd.DENSE, False)],
    ids=["whole", "sparse"],
)
def test_only_what_may_lack_elements_changes_the_mode(
    first: str, setting: BroadcastAdd, dense: bool
) -> None:
    body = "%p = arith.mulf %a, %b : f32\n%y = arith.addf %p, %b : f32"
    given = from_mlir(_text(first, "tensor<3x4xf32>", "d1, d2", body))
    assert given.program.broadcast_add is setting
    (product, _) = given.program.statements
    assert given.program.tensor(product.out.tensor).format.all_dense is dense
    assert any("broadcast sums act everywhere" in note for note in given.notes) is not dense
