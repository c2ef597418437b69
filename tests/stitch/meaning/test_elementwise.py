"""Operations on each element: as XLA computes them, and by their formulas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.elementwise import MEANINGS, total_order
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.operation_case import case


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


FORMULAS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sinh": lambda x: (np.exp(x) - np.exp(-x)) / 2,
    "cosh": lambda x: (np.exp(x) + np.exp(-x)) / 2,
    "asinh": lambda x: np.log(x + np.sqrt(x * x + 1)),
    "acosh": lambda x: np.log(1 + x + np.sqrt((1 + x) ** 2 - 1)),
    "atanh": lambda x: np.log((1 + x) / (1 - x)) / 2,
    "asin": lambda x: np.arctan2(x, np.sqrt(1 - x * x)),
    "acos": lambda x: np.arctan2(np.sqrt(1 - x * x), x),
}


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == set(FORMULAS)


@pytest.mark.parametrize("opcode", FORMULAS)
def test_by_formula(opcode: str) -> None:
    x = np.linspace(0.05, 0.9, 9)
    given = x + 1 if opcode == "acosh" else x
    (made,) = case(f"ROOT r = f64[9] {opcode}(x)", x=given).results()
    np.testing.assert_allclose(made, FORMULAS[opcode](x), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8])
def test_division_truncates_for_all_pairs(dtype: type) -> None:
    limits = np.iinfo(dtype)
    few = [limits.min, limits.min + 1, -7, -1, 0, 1, 2, 7, limits.max]
    pairs = [(a, b) for a in few for b in few if min(a, b) >= limits.min]
    x, y = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    name = "s" if limits.min else "u"
    kind = f"{name}{limits.bits}[{len(x)}]"
    (quotients,) = case(f"ROOT r = {kind} divide(x, y)", x=x, y=y).results()
    (rests,) = case(f"ROOT r = {kind} remainder(x, y)", x=x, y=y).results()
    for a, b, quotient, rest in zip(x.tolist(), y.tolist(), quotients, rests, strict=True):
        exact = int(a / b) if b else -1
        assert quotient == np.array(exact).astype(dtype)
        assert rest == (a - exact * b if b else a)


def test_total_order_is_that_of_the_signed_bits() -> None:
    rising = np.float64([-np.inf, -2, -1e-300, -0.0, 0.0, 1e-300, 2, np.inf, np.nan])
    for dtype in (np.float16, np.float32, np.float64):
        with np.errstate(under="ignore"):
            keys = total_order(np.unique(rising.astype(dtype)) if dtype != np.float64 else rising)
        assert (np.diff(keys.astype(np.float64)) > 0).all()
    assert total_order(np.float32([-np.nan]))[0] < total_order(np.float32([-np.inf]))[0]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ROOT r = f32[2] add(x)", "has 1 operands, and takes 2"),
        ("ROOT r = f32[2] add(x, x, x)", "has 3 operands, and takes 2"),
        ("ROOT r = f32[2] exponential(x, x)", "has 2 operands, and takes 1"),
        ("ROOT r = f32[2] add(x, z)", "operands of different types"),
        ("ROOT r = f32[2] add(x, k)", "operands of different types"),
        ("ROOT r = f32[2] select(x, x, k)", "operands of different types"),
        ("ROOT r = f32[2] clamp(x, k, x)", "operands of different types"),
        ("ROOT r = f32[2] shift-left(x, x)", "do not fit"),
        ("ROOT r = f32[2] and(x, x)", "do not fit"),
        ("ROOT r = f32[3] negate(x)", "is said to be f32[3], and makes float32[2]"),
        ("ROOT r = f64[2] negate(x)", "is said to be f64[2], and makes float32[2]"),
        ("ROOT r = pred[2] compare(x), direction=LT", "do not fit"),
    ],
)
def test_operands_that_do_not_fit(body: str, words: str) -> None:
    inputs = {"x": np.float32([1, 2]), "z": np.float32(1), "k": np.int32([1, 2])}
    with pytest.raises(ProgramError) as caught:
        case(body, **inputs).results()
    assert words in caught.value.message
    assert caught.value.message.startswith("r (")
    assert caught.value.line == 7
