"""The meaning of stored tensors equals the dense reference, whole and by rows."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program import parse
from fuseloom.program.inputs import check_data
from fuseloom.program.reference import evaluate
from fuseloom.program.rounded import Box, Elements, EvaluationBudget, TooMuchError, evaluate_rounded
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program
from tests.property.test_everything_at_once import draw
from tests.tiers import counts

ROOM = 1e9


def spread(elements: Elements, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Values and pattern as arrays."""
    values, present = np.zeros(shape), np.zeros(shape, dtype=bool)
    listed = elements.listed()
    at = tuple(listed.coords)
    values[at] = listed.values if at else listed.values[0]
    present[at] = True
    return values, present


def compare(program: Program, data: dict[str, object], rows: bool, seed: int) -> None:
    stored = check_data(program, data)
    want = evaluate(program, stored)
    rng = np.random.default_rng(seed)
    names = [s.out.tensor for s in program.live]
    boxes: dict[str, Box] = {}
    for name in names[-1:] if rows else names:
        shape = program.tensor(name).shape
        first = np.sort(rng.permutation(shape[0])[: shape[0] // 2 + 1]) if shape and rows else None
        boxes[name] = (first, *(None,) * (len(shape) - 1)) if shape else ()
    got = evaluate_rounded(program, program.live, stored, boxes, EvaluationBudget(ROOM, ROOM))
    for name, box in boxes.items():
        shape = program.tensor(name).shape
        values, present = spread(got[name].restricted(box), shape)
        expected, there = want[name].dense(), want[name].present
        inside = np.zeros(shape, dtype=bool)
        inside[
            np.ix_(*(np.arange(n) if b is None else b for n, b in zip(shape, box, strict=False)))
        ] = True
        assert np.array_equal(present, there & inside), (seed, name)
        expected = np.where(there & inside, expected, 0.0)
        tame = np.abs(expected) < 1e30  # beyond, the one overflows float32 and the other does not
        scale = max(1.0, np.abs(expected[tame & np.isfinite(expected)]).max(initial=0.0))
        np.testing.assert_allclose(
            values[tame], expected[tame], rtol=1e-9, atol=1e-9 * scale, err_msg=f"{seed} {name}"
        )


@pytest.mark.parametrize("rows", [False, True])
@counts(small=30, deep=42, fuzz=150)
def test_random_programs_mean_what_the_dense_reference_says(count: int, rows: bool) -> None:
    seen = 0
    for seed in range(31_000_000, 31_000_000 + count):
        if (case := draw(seed)) is not None:
            compare(case.compilation.program, case.data, rows, seed)
            seen += 1
    assert seen > 0.6 * count


@pytest.mark.fuzz
def test_five_thousand_random_programs() -> None:
    for seed in range(32_000_000, 32_005_000):
        if (case := draw(seed)) is not None:
            compare(case.compilation.program, case.data, bool(seed % 2), seed)


SPARSE = np.array([[0, 2.0, 0], [0, 0, 0], [1.0, 0, 3.0]])


@pytest.mark.parametrize(
    "text",
    [
        "A: 3x3 csr\nb: 3 dense\nZ[i,j] = A[i,j] + b[j]",
        "option broadcast_add dense\nA: 3x3 csr\nb: 3 dense\nZ[i,j] = A[i,j] - b[j]",
        "option broadcast_add dense\nA: 3x3 csr\nb: 3 compressed\nZ[i,j,k] = A[i,j] + b[k]",
        "A: 3x3 csr\nb: 3 dense\nZ[i] = A[i,j] + b[j]",
        "A: 3x3 csr\nb: 3 compressed\nZ[j,i] = A[i,j] / b[j]",
        "A: 3x3 csr\nb: 3 dense\nm[i] = max[j] A[i,j]\ns[] = sum[i] m[i]\nZ[i] = b[i] + s[]",
        "A: 3x3 csr\nb: 3 dense\nZ[i,c] = concat[c](A[i,c], A[c,i])",
        "A: 3x3 csr\nb: 3 dense\nR: 9 csf\nR[x] = reshape(A[i,j])\nZ[x] = exp(R[x])",
        "A: 3x3 csr\nb: 3 dense\nR: 9x1 dense\nR[x,y] = reshape(A[i,j])\nZ[x,y] = exp(R[x,y])",
        "A: 3x3 csr\nb: 3 dense\nZ[k] = product(A[i,j], b[i], A[j,k], b[k])",
    ],
)
@pytest.mark.parametrize("rows", [False, True])
def test_every_kind_of_statement(text: str, rows: bool) -> None:
    program = parse(text)
    data = {"A": SPARSE, "b": np.array([0.0, 4.0, -1.0])}
    compare(program, {name: data[name] for name in program.inputs}, rows, 5)


def test_dimensions_too_large_for_arrays_are_no_hindrance() -> None:
    """A million by a million, three elements."""
    program = parse("A: 1000000x1000000 coo\nx: 1000000 compressed\ny[i] = A[i,j] * x[j]")
    from scipy.sparse import coo_array

    at = ([5, 5, 999_999], [0, 7, 7])
    data = {
        "A": coo_array(([1.0, 2.0, 3.0], at), shape=(10**6, 10**6)),
        "x": np.eye(1, 10**6, 7)[0],
    }
    stored = check_data(program, data)
    made = evaluate_rounded(
        program, program.live, stored, {"y": (None,)}, EvaluationBudget(1e6, 1e6)
    )
    listed = made["y"].listed()
    assert dict(zip(listed.coords[0].tolist(), listed.values.tolist(), strict=False)) == {
        5: 2.0,
        999_999: 3.0,
    }


def test_what_an_evaluation_held_that_failed_is_given_back() -> None:
    program = parse("A: 50x50 csr\nX: 50x40 dense\nT[i,j] = A[i,k] * X[k,j]")
    rng = np.random.default_rng(0)
    data = {
        "A": StoredTensor.from_dense(program.tensor("A"), rng.random((50, 50))),
        "X": StoredTensor.from_dense(program.tensor("X"), rng.random((50, 40))),
    }
    budget = EvaluationBudget(60_000.0, 1e9)
    with pytest.raises(TooMuchError):
        evaluate_rounded(program, program.live, data, {"T": (None, None)}, budget)
    some = np.array([3])
    made = evaluate_rounded(program, program.live, data, {"T": (some, None)}, budget)["T"]
    assert made.restricted((some, None)).size == 40
