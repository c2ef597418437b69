"""The dense meaning: one hand-worked case per rule of ``docs/spec/program.md``."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program import Masked, evaluate, parse
from tests.program.meaning import A, X, Z


def run(text: str, **data: object) -> dict[str, Masked]:
    return evaluate(parse(text), {k: np.asarray(v, dtype=float) for k, v in data.items()})


def check(result: Masked, expected: object) -> None:
    """Compare with an array that holds nan where nothing is present."""
    wanted = np.asarray(expected, dtype=float)
    np.testing.assert_array_equal(result.present, ~np.isnan(wanted))
    np.testing.assert_allclose(result.dense(), np.nan_to_num(wanted), rtol=1e-12)


HEAD = "A: 3x3 csr\n"


def test_product_is_present_where_both_are() -> None:
    check(run(HEAD + "T[i,j] = A[i,j] * A[i,j]", A=A)["T"], [[1, X, 4], [X, X, X], [X, 9, X]])


def test_contraction() -> None:
    # An explicit sum of 0 stays present: row 0 of A meets row 2, 1*0 absent + 2*3.
    check(run(HEAD + "T[i,l] = A[i,j] * A[j,l]", A=A)["T"], [[1, 6, 2], [X, X, X], [X, X, X]])


def test_cancelled_sum_stays_present() -> None:
    check(run("a: 2 csf\nb: 2 dense\nt = a[i] * b[i]", a=[1, 1], b=[1, -1])["t"], 0)


def test_a_product_over_an_index_of_one_operand() -> None:
    check(run(HEAD + "v: 3 csf\nT[i] = A[i,j] * v[i]", A=A, v=[2, 2, 0])["T"], [6, X, X])


def test_quotient() -> None:
    out = run(HEAD + "v: 3 csf\nT[i,j] = A[i,j] / v[i]", A=A, v=[2, 1, 0])["T"]
    check(out, [[0.5, X, 1], [X, X, X], [X, X, X]])


def test_division_by_a_stored_zero_leaves_inf() -> None:
    out = run("a: 2 dense\nb: 2 dense\nt[i] = a[i] / b[i]\nu[i] = t[i] * a[i]", a=[1, 1], b=[0, 2])
    assert out["t"].values.tolist() == [np.inf, 0.5]
    assert out["u"].values.tolist() == [np.inf, 0.5]


def test_inf_does_not_leak_through_absent_elements() -> None:
    text = "a: 2 dense\nb: 2 dense\nM: 2x2 csr\nt[i] = a[i] / b[i]\nu[j] = M[j,i] * t[i]"
    out = run(text, a=[1, 1], b=[0, 2], M=[[0, 1], [1, 0]])
    assert out["u"].values.tolist() == [0.5, np.inf]


def test_sum_and_copy() -> None:
    out = run(HEAD + "r[i] = A[i,j]\nc[j] = A[i,j]\nT[j,i] = A[i,j]\nt = A[i,j]", A=A)
    check(out["r"], [3, X, 3])
    check(out["c"], [1, 3, 2])
    check(out["T"], [[1, X, X], [X, X, 3], [2, X, X]])
    check(out["t"], 6)


def test_max_takes_stored_elements_only() -> None:
    negative = [[-1, 0, -2], [0, 0, 0], [0, -3, 0]]
    check(run(HEAD + "m[i] = max[j] A[i,j]", A=negative)["m"], [-1, X, -3])


def test_a_scalar_is_stored_even_if_nothing_was_reduced() -> None:
    check(run(HEAD + "m = max[i,j] A[i,j]", A=np.zeros((3, 3)))["m"], 0)


def test_functions_act_on_stored_elements_only() -> None:
    check(run("a: 3 csf\nt[i] = exp(a[i])", a=[0, 1, 0])["t"], [X, np.e, X])
    # A dense level stores its zeros, so the function sees them.
    check(run("a: 3 dense\nt[i] = exp(a[i])", a=[0, 1, 0])["t"], [1, np.e, 1])


@pytest.mark.parametrize(
    ("function", "at_two", "at_minus_two"),
    [
        ("relu", 2, 0),
        ("exp", 7.38905609893065, 0.1353352832366127),
        ("log", 0.6931471805599453, None),
        ("rsqrt", 0.7071067811865476, None),
        ("sigmoid", 0.8807970779778823, 0.11920292202211755),
        ("sqrt", 1.4142135623730951, None),
        ("tanh", 0.9640275800758169, -0.9640275800758169),
        ("abs", 2, 2),
        ("gelu", 1.9544997361036416, -0.04550026389635842),
        ("sign", 1, -1),
        ("sin", 0.9092974268256817, -0.9092974268256817),
        ("cos", -0.4161468365471424, -0.4161468365471424),
        ("erf", 0.9953222650189527, -0.9953222650189527),
        ("atan", 1.1071487177940904, -1.1071487177940904),
        ("log1p", 1.0986122886681098, None),
        ("expm1", 6.38905609893065, -0.8646647167633873),
    ],
)
def test_functions(function: str, at_two: float, at_minus_two: float | None) -> None:
    out = run(f"a: 2 dense\nt[i] = {function}(a[i])", a=[2, -2])["t"].values
    assert out[0] == pytest.approx(at_two, rel=1e-12)
    if at_minus_two is None:
        assert np.isnan(out[1])
    else:
        assert out[1] == pytest.approx(at_minus_two, rel=1e-12)


@pytest.mark.parametrize(
    ("function", "rounded"),
    [
        ("floor", [-2, -3, -1, 0, 2, 3]),
        ("ceil", [-1, -2, 0, 1, 3, 4]),
        ("trunc", [-1, -2, 0, 0, 2, 3]),
        ("round", [-2, -2, 0, 0, 2, 4]),
    ],
)
def test_whole_numbers(function: str, rounded: list[float]) -> None:
    given = [-1.5, -2.25, -0.25, 0.5, 2.5, 3.5]
    check(run(f"a: 6 dense\nt[i] = {function}(a[i])", a=given)["t"], rounded)


def test_scale_and_shift_act_on_stored_elements_only() -> None:
    out = run("a: 3 csf\nt[i] = a[i] / 4\nu[i] = a[i] - 2", a=[0, 1, 8])
    check(out["t"], [X, 0.25, 2])
    check(out["u"], [X, -1, 6])


def test_union_of_equal_index_sets() -> None:
    text = (
        "a: 4 csf\nb: 4 csf\nt[i] = a[i] + b[i]\nu[i] = a[i] - b[i]\n"
        "e[i] = exp(t[i])\ns = a[i] + b[i]"
    )
    out = run(text, a=[1, 2, 0, 0], b=[0, 3, 4, 0])
    check(out["t"], [1, 5, 4, X])
    check(out["u"], [1, -1, -4, X])
    # exp under a union: present where either operand is, absent where neither is.
    check(out["e"], np.exp([1, 5, 4, X]))
    check(out["s"], 10)


def test_union_of_a_transposed_operand() -> None:
    out = run(HEAD + "T[i,j] = A[i,j] + A[j,i]", A=A)["T"]
    check(out, [[2, X, 2], [X, X, 3], [2, 3, X]])


BIAS = "Z: 3x3 dcsr\nb: 3 csf\n"


def test_broadcast_add_sparse_takes_rows_from_the_full_operand() -> None:
    # Row 1 is isolated: b alone makes no row.  Inside a row the union counts.
    out = run(BIAS + "T[l,n] = Z[l,n] + b[n]\nU[l,n] = b[n] - Z[l,n]", Z=Z, b=[10, 20, 0])
    check(out["T"], [[11, 20, 2], [X, X, X], [10, 23, X]])
    check(out["U"], [[9, 20, -2], [X, X, X], [10, 17, X]])


def test_broadcast_add_dense_extends_the_bias_over_all_rows() -> None:
    text = "option broadcast_add dense\n" + BIAS + "T[l,n] = Z[l,n] + b[n]"
    check(run(text, Z=Z, b=[10, 20, 0])["T"], [[11, 20, 2], [10, 20, X], [10, 23, X]])


def test_broadcast_over_an_inner_index_keeps_the_pattern() -> None:
    # x has rows 0 and 1, S rows 0 and 2.  Row 1 exists by x but no column follows;
    # in row 2 x is not alive, so S passes through.
    text = "S: 3x3 dcsr\nx: 3 csf\nd[i,m] = S[i,m] - x[i]"
    check(run(text, S=Z, x=[10, 20, 0])["d"], [[-9, X, -8], [X, X, X], [X, 3, X]])


def test_broadcast_over_an_inner_index_dense() -> None:
    text = "option broadcast_add dense\nS: 3x3 dcsr\nx: 3 csf\nd[i,m] = S[i,m] - x[i]"
    check(run(text, S=Z, x=[10, 20, 0])["d"], [[-9, -10, -8], [-20, -20, -20], [X, 3, X]])


def test_broadcast_follows_the_order_of_the_output() -> None:
    # Out of order n, l: columns come from Z or b, then rows inside a column from Z only.
    out = run(BIAS + "T[n,l] = Z[l,n] + b[n]", Z=Z, b=[10, 0, 5])["T"]
    check(out, [[11, X, X], [X, X, 3], [7, X, X]])


def test_broadcast_of_a_scalar() -> None:
    check(run("a: 3 csf\ns: scalar\nt[i] = a[i] + s", a=[1, 0, 2], s=5)["t"], [6, X, 7])
    absent = "a: 3 csf\nz: 3 csf\ns = z[i]\nt[i] = a[i] + s"
    check(run(absent, a=[1, 0, 2], z=[0, 0, 0])["t"], [1, X, 2])


def test_broadcast_add_with_a_reduction() -> None:
    # Each row sums b's columns or Z's; an isolated row stays absent.
    check(run(BIAS + "r[l] = Z[l,n] + b[n]", Z=Z, b=[10, 20, 0])["r"], [33, X, 33])


def test_outer_sum_dense() -> None:
    text = "option broadcast_add dense\na: 2 csf\nb: 2 csf\nt[i,j] = a[i] + b[j]"
    check(run(text, a=[1, 0], b=[0, 2])["t"], [[1, 3], [X, 2]])


def test_masked_softmax() -> None:
    text = (
        "S: 2x3 dcsr\nx[i] = max[m] S[i,m]\nd[i,m] = S[i,m] - x[i]\n"
        "e[i,m] = exp(d[i,m])\ns[i] = e[i,m]\nY[i,m] = e[i,m] / s[i]"
    )
    out = run(text, S=[[np.log(1), np.log(3), 0], [0, 0, 0]])
    # log(1) is 0 and not stored: the row has one element, whose softmax is 1.
    check(out["Y"], [[X, 1, X], [X, X, X]])


def test_everything_is_returned() -> None:
    out = run(HEAD + "T[i] = A[i,j]\nU[i] = relu(T[i])", A=A)
    assert list(out) == ["A", "T", "U"]
    assert out["A"].values.dtype == np.float64
