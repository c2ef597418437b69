"""Maps that read at sums of dimensions, at one place, and along a diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

from .files import generic, result

RNG = np.random.default_rng(8)
MATRIX = RNG.normal(size=(7, 9)).astype(np.float32) * RNG.integers(0, 2, (7, 9))
FORMATS = {
    "dense": "", "csr": "(i, j) -> (i : dense, j : compressed)",
    "dcsc": "(i, j) -> (j : compressed, i : compressed)",
}  # fmt: skip
SQUARE = MATRIX[:, :5]
READS: dict[str, tuple[int, int, Any]] = {
    "(i + 2, j)": (5, 9, MATRIX[2:]),
    "(i, j + 3)": (7, 6, MATRIX[:, 3:]),
    "(2 * i, 3 * j + 1)": (3, 3, MATRIX[0:5:2, 1:8:3]),
    "(i + j, j)": (3, 5, np.array([[MATRIX[i + j, j] for j in range(5)] for i in range(3)])),
    "(j, i)": (9, 7, MATRIX.T),
    "(4, j)": (2, 9, np.array([MATRIX[4]] * 2)),
    "(0, j)": (2, 9, np.array([MATRIX[0]] * 2)),
    "(6 - i, j)": (7, 9, MATRIX[::-1]),
    "((i + 1) * 2 - 2, j)": (4, 9, MATRIX[::2]),
}


def _type(shape: tuple[int, ...], map_: str = "") -> str:
    sizes = "".join(f"{n}x" for n in shape)
    return f"tensor<{sizes}f32{f', #sparse_tensor.encoding<{{map = {map_}}}>' if map_ else ''}>"


@pytest.mark.parametrize("place", READS)
@pytest.mark.parametrize("storage", FORMATS)
def test_reads(place: str, storage: str) -> None:
    rows, columns, wanted = READS[place]
    matrix = SQUARE if place == "(i + j, j)" else MATRIX
    whole, identity = _type((rows, columns)), "(i, j) -> (i, j)"
    text = generic(
        [(_type(matrix.shape, FORMATS[storage]), f"(i, j) -> {place}"), (whole, identity)],
        (whole, identity), "pp", "%y = arith.mulf %a, %b : f32",
    )  # fmt: skip
    other = RNG.normal(size=(rows, columns)).astype(np.float32)
    given = from_mlir(text)
    assert set(given.wanted) == {"A", "B"}
    found = result(given, {"A": matrix, "B": other})
    np.testing.assert_allclose(found, wanted * other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("storage", FORMATS)
def test_a_diagonal(storage: str) -> None:
    square = MATRIX[:, :7]
    text = generic([(_type((7, 7), FORMATS[storage]), "(i) -> (i, i)")],
                   (_type((7,)), "(i) -> (i)"), "p", "%y = arith.addf %a, %a : f32")  # fmt: skip
    found = result(from_mlir(text), {"A": square})
    np.testing.assert_allclose(found, 2 * np.diagonal(square), rtol=1e-6)


@pytest.mark.parametrize(("step", "gap"), [(1, 1), (2, 1), (1, 2), (2, 3)])
def test_a_convolution_with_steps_and_gaps(step: int, gap: int) -> None:
    length = 3 * step + 2 * gap + 1
    text = generic(
        [(_type((length,)), f"(i, k) -> ({step} * i + k * {gap})"), (_type((3,)), "(i, k) -> (k)")],
        (_type((4,)), "(i, k) -> (i)"), "pr",
        "%p = arith.mulf %a, %b : f32\n%y = arith.addf %o, %p : f32", start="0.0",
    )  # fmt: skip
    x = RNG.normal(size=length).astype(np.float32)
    w = RNG.normal(size=3).astype(np.float32)
    wanted = [sum(x[step * i + gap * k] * w[k] for k in range(3)) for i in range(4)]
    np.testing.assert_allclose(result(from_mlir(text), {"A": x, "B": w}), wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("reads", "writes", "message", "hint"),
    [
        ("(i + 5, j)", "(i, j)", "which runs from 5 to 7, outside", "tensor.pad"),
        ("(i - 1, j)", "(i, j)", "which runs from -1 to 1, outside", "tensor.pad"),
        ("(2 * i, j)", "(i + 1, j)", "the slice of 3 from 1 by 1 is outside", "lie inside"),
        ("(2 * i, j)", "(i, i)", "the index i twice", "fuseloom.where"),
        ("(i floordiv 2, j)", "(i, j)", "with floordiv", "2 \\* d0"),
        ("(i * j, j)", "(i, j)", "a product of dimensions", "number"),
    ],
)
def test_refusals(reads: str, writes: str, message: str, hint: str) -> None:
    text = generic(
        [(_type((7, 3)), f"(i, j) -> {reads}"), (_type((3, 3)), "(i, j) -> (i, j)")],
        (_type((3, 3)), f"(i, j) -> {writes}"), "pp", "%y = arith.mulf %a, %b : f32",
    )  # fmt: skip
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(text)
    assert caught.value.line
    assert hint.replace("\\", "") in (caught.value.hint or "")


def test_a_result_is_put_where_a_made_argument_says() -> None:
    """The way out that the refusal names."""
    text = generic(
        [(_type((4,)), "(i, j) -> (i)"), (_type((4, 8)), "(i, j) -> (i, j)")],
        (_type((8,)), "(i, j) -> (j)"), "rp",
        "%p = arith.mulf %a, %b : f32\n%y = arith.addf %o, %p : f32", start="0.0",
    )  # fmt: skip
    text = text.replace("4x8xf32>)", '4x8xf32> {fuseloom.where = "d1 = 2*d0"})', 1)
    x = np.arange(1.0, 5.0)
    np.testing.assert_array_equal(result(from_mlir(text), {"A": x})[::2], x)
