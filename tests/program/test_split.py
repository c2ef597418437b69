"""Compound expressions become one operation a statement."""

from __future__ import annotations

import pytest

from fuseloom.errors import ProgramError
from fuseloom.program import (
    Op,
    parse,
)
from fuseloom.program.printer import statement_text
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
        ("T[i] = sqrt(b[i])", Op.SQRT, None),
        ("T[i] = tanh(b[i])", Op.TANH, None),
        ("T[i] = abs(b[i])", Op.ABS, None),
        ("T[i] = floor(b[i])", Op.FLOOR, None),
        ("T[i] = log1p(b[i])", Op.LOG1P, None),
        ("T[i,j] = max(A[i,j], B[i,j])", Op.MAXIMUM, None),
        ("T[i,j] = max(A[i,j], b[j])", Op.MAXIMUM, None),
        ("T[i] = max(b[i], 1, -2)", Op.AT_LEAST, 1.0),
        ("T[i] = max(0, b[i])", Op.RELU, None),
        ("T[i] = b[i] * max(2, 3)", Op.SCALE, 3.0),
        ("T[i] = b[i] * min(2, 3)", Op.SCALE, 2.0),
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


def test_a_minimum_is_the_maximum_of_what_is_negated() -> None:
    assert lines("T[i] = min[j] A[i,j]") == [
        "T_1[i,j] = -1.0 * A[i,j]",
        "T_2[i] = max[j] T_1[i,j]",
        "T[i] = -1.0 * T_2[i]",
    ]
    assert lines("T[i] = min(b[i], b[i], 6)") == [
        "T_1[i] = -1.0 * b[i]",
        "T_2[i] = -1.0 * b[i]",
        "T_3[i] = max(T_1[i], T_2[i])",
        "T_4[i] = max(T_3[i], -6.0)",
        "T[i] = -1.0 * T_4[i]",
    ]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("T[i] = max(A[i,j], b[i])", "max"),
        ("T[i] = min(b[i], A[i,j])", "min"),
        ("T[i] = min[j] A[i,j] * b[k]", None),
        ("T[i] = min[j](A[i,j] * b[k])", r"min\[j\]"),
    ],
)
def test_what_a_maximum_of_two_leaves_out_is_not_summed(text: str, inside: str | None) -> None:
    if inside is None:
        assert parse(HEAD + text).statements
        return
    with pytest.raises(ProgramError, match=f"missing from the result of {inside}"):
        parse(HEAD + text)


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("b[j] + c[j] * A[i,j]", "A[i,j] * c[j] + b[j]"),
        ("b[j] + tanh(c[j] * A[i,j])", "tanh(A[i,j] * c[j]) + b[j]"),
        ("c[j] + (b[j] + A[i,j]) * c[j]", "c[j] * (A[i,j] + b[j]) + c[j]"),
        ("b[j] - A[i,j] * B[j,i] * c[j]", "b[j] - c[j] * (B[j,i] * A[i,j])"),
    ],
)
def test_sums_are_formed_in_one_order_whichever_factor_comes_first(one: str, other: str) -> None:
    for expression in (one, other):
        text = f"A: 4x5 csr\nB: 5x4 csr\nb: 5 dense\nc: 5 dense\nT = sum[i,j]({expression})"
        total = parse(text).statements[-1]
        assert max((o.indices for o in total.operands), key=len) == ("i", "j")
