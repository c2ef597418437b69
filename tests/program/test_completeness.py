"""Complete operands, for which a number may be used: they have an element everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.program.completeness import complete_tensors
from fuseloom.program.parser import parse
from fuseloom.program.reference import evaluate

INPUTS = "s: 4 compressed\nd: 4 dense\nM: 4x4 csr\nD: 4x4 dense\nc: scalar\n"


@pytest.mark.parametrize(
    ("statement", "complete"),
    [
        ("y[i] = relu(d[i])", True),
        ("y[i] = relu(s[i])", False),
        ("y[i] = 2 * d[i] + 1", True),
        ("y[i] = s[i] + 1", False),
        ("y[i] = D[i,j] * d[j]", True),
        ("y[i] = M[i,j] * d[j]", False),
        ("y[] = M[i,j] * d[j]", True),
        ("y[i] = M[i,j]", False),
        ("y[i] = max[j] D[i,j]", True),
        ("y[i] = s[i] + d[i]", True),
        ("y[i] = s[i] - s[i]", False),
        ("y[i,j] = D[i,j] + s[j]", True),
        ("y[i,j] = M[i,j] + d[j]", False),
        ("y[i,j] = D[i,j] / M[i,j]", False),
        ("y[i,j] = D[i,j] + c", True),
        ("y[i] = s[i] + c", False),
        ("y[i] = concat[i](d[i], s[i])", False),
        ("y[i] = concat[i](d[i], d[i])", True),
        ("option broadcast_add dense\ny[i] = s[i] + c", True),
        ("option broadcast_add dense\ny[i,j] = M[i,j] + d[j]", True),
        ("option broadcast_add dense\ny[i,j] = M[i,j] + s[j]", False),
        ("y: 16 dense\ny[a] = reshape(M[i,j])", True),
        ("y: 16 csf\ny[a] = reshape(M[i,j])", False),
        ("y: 16 csf\ny[a] = reshape(D[i,j])", True),
    ],
)
def test_what_is_complete(statement: str, complete: bool) -> None:
    """Told from the text; with hardly any data it shows whether that was right."""
    program = parse(INPUTS + statement)
    assert ("y" in complete_tensors(program)) is complete
    one = np.zeros((4, 4), np.float32)
    one[1, 2] = 3
    data = {"s": one[1], "d": np.arange(4.0), "M": one, "D": one + 1, "c": 2.0}
    known = evaluate(program, {name: data[name] for name in program.inputs})
    assert bool(known["y"].present.all()) is complete


@pytest.mark.parametrize(
    "statement",
    [
        "y[i] = 1 - d[i]",
        "y[i] = 1 + 2 * d[i]",
        "y[i] = 3 - D[i,j] * d[j]",
        "y[i] = 1 - exp(1 + d[i])",
        "y[i] = s[i] + 1",
        "y[i] = s[i] - 1",
        "y[i] = -s[i] + 1",
        "y[i] = 0 - s[i]",
        "y[i] = 0 + s[i]",
        "y[i] = 2 * s[i]",
        "y[] = 1 - sum[i,j](M[i,j] * d[j])",
        "y[i] = d[i] - s[i]",
    ],
)
def test_constants_that_are_taken(statement: str) -> None:
    """In front of what is complete, anywhere behind, and 0, which is nothing."""
    parse(INPUTS + statement)


@pytest.mark.parametrize(
    ("statement", "shown", "cause"),
    [
        ("y[i] = 1 - s[i]", "'1 - s[i]'", "s is stored sparse (compressed)"),
        ("y[i] = 1 + s[i]", "'1 + s[i]'", "s is stored sparse (compressed)"),
        ("y[i,j] = 0.5 - M[i,j]", "'0.5 - M[i,j]'", "M is stored sparse (dense, compressed)"),
        ("y[i] = 1 - M[i,j] * d[j]", "'1 - ...'", "M is stored sparse"),
        ("t[i] = relu(s[i])\ny[i] = exp(1 - t[i])", "'1 - t[i]'", "s is stored sparse"),
    ],
)
def test_constants_in_front_of_what_may_be_absent_are_refused(
    statement: str, shown: str, cause: str
) -> None:
    """They gave 0 where the operand is absent, without a word."""
    with pytest.raises(ProgramError) as caught:
        parse(INPUTS + statement)
    text = str(caught.value)
    assert shown in text
    assert cause in text
    assert caught.value.line == 6 + statement.count("\n")
    assert caught.value.column is not None


def test_the_way_out_is_one() -> None:
    with pytest.raises(ProgramError) as caught:
        parse("v: 4 compressed\nn[i] = 1 - v[i]")
    assert caught.value.hint == (
        "take the number from a tensor ('ones: 4 dense', ones[i] - v[i]), "
        "or write -v[i] + 1 for the elements that there are"
    )
    v = np.array([0.0, 2.0, 0.0, 1.0])
    dense = parse("v: 4 compressed\nones: 4 dense\nn[i] = ones[i] - v[i]")
    known = evaluate(dense, {"v": v, "ones": np.ones(4)})
    assert known["n"].dense().tolist() == [1, -1, 1, 0]
    stored = evaluate(parse("v: 4 compressed\nn[i] = -v[i] + 1"), {"v": v})["n"]
    assert stored.dense().tolist() == [0, -1, 0, 0]
    assert stored.present.tolist() == [False, True, False, True]
