"""Values of constants as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import ParseError
from fuseloom.stitch.hlo.literals import MOST_ELEMENTS, print_literal, read_literal
from fuseloom.stitch.hlo.scanner import HloScanner
from fuseloom.stitch.shapes import TensorShape


@pytest.mark.parametrize(
    ("element", "dims", "text", "value"),
    [
        ("f32", (), "-1.5e-3", -1.5e-3), ("f32", (), "inf", np.inf), ("f32", (), "-inf", -np.inf),
        ("f32", (), "nan", np.nan), ("f32", (), "-nan", np.nan), ("f32", (), "nan(0x7fc1)", np.nan),
        ("f32", (), "1e39", np.inf), ("s8", (), "-128", -128),
        ("u64", (), "18446744073709551615", 2**64 - 1), ("pred", (), "true", True),
        ("pred", (3,), "{0, 1, true}", [False, True, True]), ("c64", (), "(1, -2.5)", 1 - 2.5j),
        ("c64", (2,), "{(1, 0), 3}", [1, 3]), ("bf16", (), "1.00390625", 1.0),
        ("f32", (2, 1, 2), "{ { /*i0=0*/ {1, 2} }, { /*i0=1*/ {3, 4} } }", [[[1, 2]], [[3, 4]]]),
        ("f32", (0,), "{}", []), ("f32", (2, 0), "{ {}, {} }", np.zeros((2, 0))),
        ("f32", (0, 2), "{}", np.zeros((0, 2))), ("f32", (), "100000", 1e5),
    ],
)  # fmt: skip
def test_values(element: str, dims: tuple[int, ...], text: str, value: Any) -> None:
    scanner = HloScanner(text)
    shape = TensorShape(element, dims)
    made = read_literal(scanner, shape, 10)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(made, np.array(value, shape.dtype), strict=True)
    assert scanner.ended


@pytest.mark.parametrize(
    "element", ["f16", "bf16", "f32", "f64", "s8", "s64", "u32", "pred", "c64"]
)
@pytest.mark.parametrize("dims", [(), (3,), (2, 3), (2, 1, 2), (0,), (2, 0), (0, 3)])
def test_what_is_printed_is_read(element: str, dims: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(dims))
    shape = TensorShape(element, dims)
    size = max(shape.elements, 1)
    if shape.dtype.kind in "fc":
        values = rng.standard_normal(size) * 10.0 ** rng.integers(-3, 4, size)
        values[0] = rng.choice([np.inf, -np.inf, np.nan, -0.0])
    else:
        values = rng.integers(0, 100, size)
    value = values[: shape.elements].astype(shape.dtype).reshape(dims)
    if shape.dtype.kind == "c":
        value = value + np.complex64(0.1j)
    first = read_literal(HloScanner(print_literal(value)), shape, size)
    second = read_literal(HloScanner(print_literal(first)), shape, size)
    np.testing.assert_array_equal(first, second, strict=True)
    if element != "bf16":
        np.testing.assert_array_equal(value, first, strict=True)


@pytest.mark.parametrize(
    ("element", "dims", "text", "column", "words"),
    [
        ("f32", (9,), "{...}", 1, "left out"), ("f32", (2,), "{1}", 3, "fewer elements than f32"),
        ("f32", (2,), "{1, 2, 3}", 6, "more elements than f32"),
        ("f32", (2,), "1", 1, "'1' does"),
        ("f32", (), "{1}", 1, "does not fit"), ("f32", (2,), "{1, {2}}", 5, "does not fit"),
        ("f32", (2, 2), "{ {1, 2}, {3} }", 13, "fewer elements"),
        ("f32", (2, 2), "{1, 2}", 2, "'1'"),
        ("f32", (2, 2), "{ {1, 2} }", 10, "fewer elements"),
        ("f32", (0,), "{1}", 3, "more elements"),
        ("s8", (), "128", 1, "integers from -128 to 127"),
        ("s32", (), "1.5", 1, "no number of s32"),
        ("u8", (), "-1", 1, "from 0 to 255"), ("s32", (), "nan", 1, "no number"),
        ("pred", (), "2", 1, "no truth value"), ("f32", (), "true", 1, "no number of f32"),
        ("f32", (), "x", 1, "'x' does not fit"), ("f32", (), "1.2.3", 1, "does not fit"),
        ("f32", (2,), "{1 2}", 4, "does not fit"), ("f32", (2,), "{1, 2", 6, "the end"),
        ("f32", (11,), "{}", 1, "the constants have more than"),
    ],
)  # fmt: skip
def test_texts_that_are_no_values(
    element: str, dims: tuple[int, ...], text: str, column: int, words: str
) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        read_literal(HloScanner(text), TensorShape(element, dims), 10)
    assert (caught.value.line, caught.value.column) == (1, column)


def test_the_limit_is_kept_before_memory_is_taken() -> None:
    with pytest.raises(ParseError, match="4,000,000 elements"):
        read_literal(HloScanner("{1}"), TensorShape("f32", (10**12,)), MOST_ELEMENTS)
