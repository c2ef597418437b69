"""Results without zeros: what they mean, and where leaving zeros out changes nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.program import parse
from fuseloom.program.reference import evaluate
from fuseloom.program.zeros import zeros_are_absent

INPUTS = "A: 3x3 csr\nD: 3x3 dense\nx: 3 dense\nc: scalar\n"


@pytest.mark.parametrize(
    ("after", "same"),
    [
        ("y[i] = H[i,j] * x[j]", True),
        ("y[i] = product(H[i,j], D[i,j], x[j])", True),
        ("y[i,j] = H[i,j] + D[i,j]", True),
        ("y[j,i] = H[i,j] - 2 * D[i,j]", True),
        ("y[i,j] = tanh(3 * H[i,j])", True),
        ("y[i,m] = concat[m](H[i,m], D[i,m])", True),
        ("y[i] = relu(H[i,j] * x[j])", True),
        ("y[i,j] = x[i] * x[j]", True),
        ("y[i,j] = exp(H[i,j])", False),
        ("y[i,j] = H[i,j] + 1", False),
        ("y[i] = exp(H[i,j] * x[j])", False),
        ("y[i,j] = H[i,j] + x[j]", False),
        ("option broadcast_add dense\ny[i,j] = H[i,j] + x[j]", True),
        ("option broadcast_add dense\ny[i,j] = exp(H[i,j] + x[j])", True),
        ("y[i,j] = exp(H[i,j] + D[i,j])", True),
        ("y[i] = max[j] H[i,j]", False),
        ("y[i,j] = max(H[i,j], D[i,j])", False),
        ("y[i,j] = H[i,j] / D[i,j]", False),
        ("y[i,j] = D[i,j] / H[i,j]", False),
    ],
)
def test_where_a_zero_is_as_good_as_nothing(after: str, same: bool) -> None:
    program = parse(f"{INPUTS}H[i,j] = relu(A[i,j])\n{after}")
    assert zeros_are_absent(program, "H") is same
    if not same:
        return
    rng = np.random.default_rng(7)
    data = {
        "A": rng.integers(-1, 2, (3, 3)) * 1.0,
        "D": rng.integers(-2, 3, (3, 3)) * 1.0,
        "x": np.array([1.0, -2.0, 3.0]),
    }
    without = parse(f"{INPUTS}H[i,j] = nonzero(relu(A[i,j]))\n{after}")
    given = {name: data[name] for name in data} | {"c": np.array(1.0)}
    old, new = (evaluate(p, {n: given[n] for n in p.given}) for p in (program, without))
    assert (old["y"].dense() == new["y"].dense()).all()


def test_the_result_has_the_elements_that_are_not_zero() -> None:
    program = parse("A: 2x3 dense\nH[i,j] = nonzero(A[i,j])\nE[i,j] = exp(H[i,j])")
    found = evaluate(program, {"A": np.array([[1.0, 0.0, -2.0], [0.0, 0.0, 0.0]])})
    assert found["H"].present.tolist() == [[True, False, True], [False, False, False]]
    assert found["E"].dense()[0, 1] == 0.0


def test_of_blocks_those_that_have_an_element() -> None:
    program = parse("A: 2x4 dense block 2\nH[i,j] = nonzero(A[i,j])")
    found = evaluate(program, {"A": np.array([[0.0, 0.0, 5.0, 0.0], [0.0, 0.0, 0.0, 0.0]])})
    assert found["H"].present.tolist() == [[False, False, True, True]] * 2


def test_a_scalar_is_always_stored() -> None:
    with pytest.raises(ProgramError, match="is a scalar, which keeps its zeros"):
        parse("c: scalar\ny[] = nonzero(c[])")


def test_no_dense_level_holds_it() -> None:
    with pytest.raises(ProgramError, match="H has only elements that are not zero"):
        parse("A: 3x3 dense\nx: 3 dense\nH: 3x3 dense\nH[i,j] = nonzero(A[i,j])\n"
              "y[i] = H[i,j] * x[j]")  # fmt: skip


def test_a_number_in_front_of_it_is_refused() -> None:
    with pytest.raises(ProgramError, match="H has only elements that are not zero"):
        parse("A: 3x3 dense\nH[i,j] = nonzero(A[i,j])\ny[i,j] = 1 - H[i,j]")


def test_zeros_that_rounding_moves_are_no_mistake() -> None:
    """0.1 + 0.2 - 0.3 may be rounded to zero or not; the check accepts both."""
    program = parse(
        "a: 3 dense\nb: 3 dense\nc: 3 dense\ns[i] = a[i] + b[i]\nd[i] = s[i] - c[i]\n"
        "H[i] = nonzero(d[i])\ny[i] = 2 * H[i]\ne[i] = exp(H[i])\noutput y, e"
    )
    data = {"a": np.full(3, 0.1), "b": np.full(3, 0.2), "c": np.array([0.3, 0.4, 0.3])}
    for schedule in (None, "fuse s..y", "fuse s..H"):
        check = fl.simulate(fl.compile(program, schedule, data), data).check()
        assert check.ok, check


def test_one_that_should_be_there_is_missed() -> None:
    program = parse("A: 3x3 dense\nT[i,j] = 2 * A[i,j]\nH[i,j] = nonzero(T[i,j])")
    rng = np.random.default_rng(3)
    data = {"A": rng.integers(1, 3, (3, 3)) * 1.0}
    run = fl.simulate(fl.compile(program, "fuse T..H", data), data)
    assert run.check().ok
    stored = run.outputs["H"]
    wrong = fl.StoredTensor.from_dense(stored.tensor, np.where(np.eye(3), 0.0, stored.to_dense()))
    found = replace(run, outputs={**run.outputs, "H": wrong}).check()
    assert not found.ok
    assert "is not stored, and should be" in str(found)
