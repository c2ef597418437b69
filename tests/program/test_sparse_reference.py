"""The dense meaning of large sparse operands, without holding them densely."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.program import StoredTensor, evaluate, parse


def test_too_large_to_hold_densely() -> None:
    program = parse("A: 100000x100000 csr\nT[i] = A[i,j]")

    with pytest.raises(DataError, match="10,000,000,000 elements"):
        evaluate(program, {"A": scipy.sparse.coo_array((100000, 100000), dtype=float)})


SPARSE_PRODUCTS = [
    "T[i,p] = A[i,k] * X[k,p]",
    "T[p,i] = A[i,k] * X[k,p]",
    "T[i,p] = X[k,p] * A[i,k]",
    "T[k,p] = A[i,k] * Z[i,p]",
    "T[p,k] = A[i,k] * Z[i,p]",
    "T[i,p] = A[i,k] * V[p,k]",
]


@pytest.mark.parametrize("text", SPARSE_PRODUCTS)
@pytest.mark.parametrize("seed", range(3))
def test_sparse_products_mean_what_dense_ones_mean(
    text: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With explicit zeros in the sparse operand and absent elements in the other."""
    rng = np.random.default_rng(seed)
    shapes = {"A": (20, 24), "X": (24, 5), "Z": (20, 5), "V": (5, 24)}
    (other,) = {"X", "Z", "V"} & set(text)
    head = "".join(f"{n}: {shapes[n][0]}x{shapes[n][1]} dcsr\n" for n in ("A", other))
    program = parse(head + text)
    at = np.argwhere(rng.random(shapes["A"]) < 0.06)
    values = rng.integers(0, 3, len(at)).astype(float)
    data = {
        "A": StoredTensor.from_coo(program.tensor("A"), at, values),
        other: rng.standard_normal(shapes[other]) * (rng.random(shapes[other]) < 0.4),
    }
    assert data["A"].nnz * 8 <= 20 * 24
    fast = evaluate(program, data)["T"]
    monkeypatch.setattr("fuseloom.program.sparse_reference.SPARSE", 10**9)
    slow = evaluate(program, data)["T"]
    np.testing.assert_allclose(fast.values, slow.values, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(fast.present, slow.present)
    assert 0 < fast.present.sum() < fast.present.size


def test_a_large_sparse_operand_stays_sparse() -> None:
    """A chain of products is checked though one operand could never be held densely."""
    program = parse("A: 40000x40000 dcsr\nX: 40000x2 dense\nT[i,p] = A[i,k] * X[k,p]")
    at = np.arange(40_000)
    a = scipy.sparse.coo_array((np.full(40_000, 2.0), (at, at[::-1])), shape=(40_000, 40_000))
    x = np.arange(80_000.0).reshape(40_000, 2)
    known = evaluate(program, {"A": a, "X": x})
    np.testing.assert_array_equal(known["T"].values, 2 * x[::-1])
    assert known["T"].present.all()
    assert sorted(known) == ["A", "T", "X"]
    with pytest.raises(DataError, match="1,600,000,000 elements"):
        known["A"]
    wide = parse("A: 40000x40000 dcsr\nX: 40000x2 dense\nB[i,p] = A[i,k] * X[k,p]\n"
                 "C[i,k] = exp(A[i,k])")  # fmt: skip
    with pytest.raises(DataError, match="1,600,000,000 elements"):
        evaluate(wide, {"A": a, "X": x})


def test_a_matrix_that_is_not_finite_takes_the_dense_way() -> None:
    program = parse("A: 9x9 dcsr\nX: 9x2 dcsr\nY[k,p] = log(X[k,p])\nT[i,p] = A[i,k] * Y[k,p]")
    a, x = np.zeros((9, 9)), np.zeros((9, 2))
    a[0, 1], x[1, 0], x[2, 1] = 2.0, 0.5, -1.0
    stored = StoredTensor.from_dense(program.tensor("X"), x)
    result = evaluate(program, {"A": a, "X": stored})
    assert result["T"].present.tolist() == [[True, False]] + [[False, False]] * 8
    assert result["T"].values[0, 0] == pytest.approx(2 * np.log(0.5))
    assert np.isnan(result["Y"].values[2, 1])
