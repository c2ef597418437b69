"""Compound expressions become one operation a statement."""

from __future__ import annotations

import pytest

from engine.program import (
    Op,
    parse,
)
from engine.program.printer import statement_text
from tests.program.parsing import HEAD


def lines(text: str) -> list[str]:
    return [statement_text(s) for s in parse(HEAD + text).statements]


@pytest.mark.parametrize(
    ("text", "op", "constant"),
    [
        ("T[i,j] = A[i,j]", Op.SUM, None),
        ("T[j,i] = A[i,j]", Op.SUM, None),
        ("T = A[i,j]", Op.SUM, None),
        ("T[] = A[i,j]", Op.SUM, None),
        ("T[i] = sum[j] A[i,j]", Op.SUM, None),
        ("T[i,l] = A[i,j] * B[j,l]", Op.MUL, None),
        ("T[i,l] = sum[j](A[i,j] * B[j,l])", Op.MUL, None),
        ("T[i,j] = A[i,j] / b[i]", Op.DIV, None),
        ("T[i,j] = A[i,j] - b[j]", Op.SUB, None),
        ("T[i,j] = A[i,j] + s", Op.ADD, None),
        ("T[i] = max[j] A[i,j]", Op.MAX, None),
        ("T[i] = max[j](A[i,j])", Op.MAX, None),
        ("T[i] = gelu(b[i])", Op.GELU, None),
        ("T[i] = ((gelu((b[i]))))", Op.GELU, None),
        ("T[i] = 0.125 * b[i]", Op.SCALE, 0.125),
        ("T[i] = b[i] * 2 ", Op.SCALE, 2.0),
        ("T[i] = b[i] / 8", Op.SCALE, 0.125),
        ("T[i] = -b[i]", Op.SCALE, -1.0),
        ("T[i] = -2 * b[i]", Op.SCALE, -2.0),
        ("T[i] = 2 * 3 * b[i]", Op.SCALE, 6.0),
        ("T[i] = b[i] * (1 - 0.5)", Op.SCALE, 0.5),
        ("T[i] = b[i] + 1e-5", Op.SHIFT, 1e-5),
        ("T[i] = 1.5E+2 + b[i]", Op.SHIFT, 150.0),
        ("T[i] = b[i] - .5", Op.SHIFT, -0.5),
    ],
)
def test_one_operation_is_one_statement(text: str, op: Op, constant: float | None) -> None:
    (statement,) = parse(HEAD + text).statements
    assert statement.op is op
    assert statement.constant == constant


def test_products_associate_to_the_left() -> None:
    assert lines("T[i,l] = A[i,j] * B[j,k] * A[k,l]") == [
        "T_1[i,k] = A[i,j] * B[j,k]",
        "T[i,l] = T_1[i,k] * A[k,l]",
    ]


def test_parentheses_change_the_association() -> None:
    assert lines("T[i,l] = A[i,j] * (B[j,k] * A[k,l])") == [
        "T_1[j,l] = B[j,k] * A[k,l]",
        "T[i,l] = A[i,j] * T_1[j,l]",
    ]


def test_precedence() -> None:
    assert lines("T[i] = b[i] + b[i] * b[i] - b[i] / 2") == [
        "T_1[i] = b[i] * b[i]",
        "T_2[i] = b[i] + T_1[i]",
        "T_3[i] = 0.5 * b[i]",
        "T[i] = T_2[i] - T_3[i]",
    ]


def test_an_index_shared_by_two_factors_survives_until_the_last() -> None:
    assert lines("T[i] = A[i,j] * B[i,j] * b[j]") == [
        "T_1[i,j] = A[i,j] * B[i,j]",
        "T[i] = T_1[i,j] * b[j]",
    ]


def test_contraction_inside_a_function() -> None:
    assert lines("H[i,l] = relu(A[i,j] * B[j,l] + b[l])") == [
        "H_1[i,l] = A[i,j] * B[j,l]",
        "H_2[i,l] = H_1[i,l] + b[l]",
        "H[i,l] = relu(H_2[i,l])",
    ]


def test_a_scaled_sum_sums_first() -> None:
    assert lines("T[i] = 0.5 * A[i,j]") == ["T_1[i] = A[i,j]", "T[i] = 0.5 * T_1[i]"]


def test_constant_minus_tensor() -> None:
    assert lines("T[i] = 1 - b[i]") == ["T_1[i] = -1.0 * b[i]", "T[i] = T_1[i] + 1.0"]


def test_a_bound_index_hides_an_outer_one() -> None:
    assert lines("Y[i,j] = exp(A[i,j] - max[j] A[i,j])") == [
        "Y_1[i] = max[j] A[i,j]",
        "Y_2[i,j] = A[i,j] - Y_1[i]",
        "Y[i,j] = exp(Y_2[i,j])",
    ]


def test_explicit_sum_says_where() -> None:
    assert lines("T[i] = exp(sum[j] A[i,j])") == ["T_1[i] = A[i,j]", "T[i] = exp(T_1[i])"]
    assert lines("T[i] = sum[j](exp(A[i,j]))") == ["T_1[i,j] = exp(A[i,j])", "T[i] = T_1[i,j]"]
    assert lines("T[i] = sum[j](A[i,j] + b[j])") == ["T[i] = A[i,j] + b[j]"]


def test_fresh_names_avoid_taken_ones() -> None:
    out = lines("T_1[i] = b[i]\nT[i] = b[i] + b[i] + T_1[i]")
    assert out[1:] == ["T_2[i] = b[i] + b[i]", "T[i] = T_2[i] + T_1[i]"]
