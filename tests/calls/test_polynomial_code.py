"""Expressions as Python and as C++, against their values."""

from __future__ import annotations

import random

import pytest

from fuseloom.calls.polynomial_code import CPP, code_of
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol, largest, smallest


def drawn(random_: random.Random, depth: int) -> Polynomial:
    if depth == 0:
        return random_.choice([
            Polynomial.of("x"), Polynomial.of(DataField("out", "rows")),
            Polynomial.of(random_.randint(0, 9)),
        ])  # fmt: skip
    left, right = drawn(random_, depth - 1), drawn(random_, depth - 1)
    match random_.randint(0, 6):
        case 0:
            return left - right
        case 1:
            return left * right
        case 2:
            return left // random_.randint(1, 5)
        case 3:
            return left % random_.randint(1, 5)
        case 4:
            return smallest([left, right])
        case 5:
            return largest([left, right])
    return left + right


@pytest.mark.parametrize("seed", range(100))
def test_python_has_the_value_of_the_expression(seed: int) -> None:
    value = drawn(random.Random(seed), 4)
    text = code_of(value)
    for x, rows in ((0, 0), (3, 7), (12, 5)):
        expected = value.evaluate({Symbol("x"): x, DataField("out", "rows"): rows})
        assert eval(text, {"x": x, "out_rows": rows, "min": min, "max": max}) == expected


def test_cpp_has_its_own_signs() -> None:
    x = Polynomial.of("x")
    assert code_of(x // 2, CPP) == "x / 2"
    assert code_of(smallest([x, Polynomial.of("n")]), CPP) == "std::min<int64_t>({n, x})"
