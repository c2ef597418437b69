"""``+=`` in single assignment."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.errors import ParseError
from fuseloom.program.printer import statement_text

HEAD = "A: 3x4 csr\nB: 3x4 csr\nx: 4 dense\nb: 3 dense\n"


def lines(text: str) -> list[str]:
    program = fl.parse(HEAD + text)
    assert fl.parse(str(program)) == program
    return [statement_text(s) for s in program.statements]


def test_the_last_version_keeps_the_name() -> None:
    assert lines(
        "y[i] = A[i,k] * x[k]\ny[i] += B[i,k] * x[k]\ny[i] += b[i]\nz[i] = relu(y[i])"
    ) == [
        "y_part1[i] = A[i,k] * x[k]",
        "y_more1[i] = B[i,k] * x[k]",
        "y_part2[i] = y_part1[i] + y_more1[i]",
        "y[i] = y_part2[i] + b[i]",
        "z[i] = relu(y[i])",
    ]


def test_what_is_read_between_is_the_version_of_then() -> None:
    assert lines("y[i] = b[i]\nz[i] = 2 * y[i]\ny[i] += z[i]\nw[i] = y[i] - z[i]") == [
        "y_part1[i] = b[i]",
        "z[i] = 2.0 * y_part1[i]",
        "y[i] = y_part1[i] + z[i]",
        "w[i] = y[i] - z[i]",
    ]


def test_an_update_may_read_what_it_adds_to() -> None:
    assert lines("y[i] = b[i]\ny[i] += y[i] * b[i]") == [
        "y_part1[i] = b[i]",
        "y_1[i] = y_part1[i] * b[i]",
        "y[i] = y_part1[i] + y_1[i]",
    ]


def test_what_is_added_is_summed_before() -> None:
    """Else a row would be added once per element of the other."""
    assert lines("y[i] = b[i]\ny[i] += A[i,k]")[1:] == [
        "y_more1[i] = A[i,k]",
        "y[i] = y_part1[i] + y_more1[i]",
    ]
    assert lines("Y[i,k] = A[i,k]\nY[i,k] += x[k]")[1:] == ["Y[i,k] = Y_part1[i,k] + x[k]"]


def test_a_declared_result_and_places() -> None:
    text = "w: 2 dense\ny: 4 csf\ny[i] = x[i]\ny[i] += x[i+k-1] * w[k]"
    program = fl.parse(HEAD + text)
    x, w = np.arange(1.0, 5), np.array([2.0, 3.0])
    zero = np.zeros((3, 4))
    data = {"x": x, "w": w, "A": zero, "B": zero, "b": zero[:, 0]}
    run = fl.simulate(fl.compile(program), data)
    before = np.append(0, x[:-1])
    np.testing.assert_allclose(run.results["y"].to_dense(), x + 2 * before + 3 * x)


def test_a_reshape_is_declared_as_its_tensor() -> None:
    assert lines("Y: 4x3 csf\nY[p,q] = reshape(A[i,k])\nY[p,q] += x[p]") == [
        "Y_part1[p,q] = reshape(A[i,k])",
        "Y[p,q] = Y_part1[p,q] + x[p]",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y[i] += b[i]", "y has no value yet"),
        ("b[i] += x[i]", "b has no value yet"),
        ("y[i] = b[i]\ny[i] += b[i]\ny[i] = b[i]", "assigned twice"),
        ("y[i] = b[i]\ny[i] += 2", "only a number"),
        ("y[i] = b[i]\ny[i+1] += b[i]", "something else than a plain index"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(fl.FuseloomError, match=message) as caught:
        fl.parse(HEAD + text)
    assert caught.value.line is not None
    assert isinstance(caught.value, ParseError) or "twice" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y[i] = b[i]\ny[i,k] += A[i,k]", r"y\[i,k\] has 2 indices, but y has 1 dimension"),
        ("y[i] = b[i]\ny[k] += A[i,k]", r"in dimension 0 of y\[k\]"),
        ("y[i] = b[i]\nz[i] = y[i,k]\ny[i] += b[i]", r"y\[i,k\] has 2 indices"),
    ],
)
def test_errors_name_what_the_text_names(text: str, message: str) -> None:
    with pytest.raises(fl.FuseloomError, match=message) as caught:
        fl.parse(HEAD + text)
    assert "_part" not in str(caught.value)
    assert "_more" not in str(caught.value)
