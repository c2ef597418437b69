"""SciPy's matrices stored as they are: the same as from a list of coordinates, in little memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fuseloom.errors import DataError
from fuseloom.program import StoredTensor, Tensor, parse
from fuseloom.program.compressed_matrices import by_coordinates, levels_of_matrix
from tests.tiers import counts

FORMATS = ("csr", "dcsr", "csc", "dcsc", "coo", "dense", "csr block 2")


def declared(fmt: str, rows: int, columns: int) -> Tensor:
    return parse(f"A: {rows}x{columns} {fmt}\ny[i,j] = relu(A[i,j])").tensor("A")


def random_matrix(rng: np.random.Generator) -> sp.coo_matrix:
    """Entries in any order, some given twice, some zero; maybe none at all."""
    rows, columns = (2 * int(rng.integers(1, 6)) for _ in range(2))
    count = int(rng.integers(0, 25))
    values = rng.integers(-2, 3, count).astype(rng.choice([np.float32, np.float64, np.int32]))
    places = (rng.integers(0, rows, count), rng.integers(0, columns, count))
    return sp.coo_matrix((values, places), shape=(rows, columns))


@pytest.mark.parametrize("given", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@counts(small=30, deep=50, fuzz=150)
def test_equal_to_what_coordinates_give(count: int, given: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(count):
        matrix = random_matrix(rng)
        kept = matrix.copy()
        kept.sum_duplicates()
        for fmt in FORMATS:
            tensor = declared(fmt, *matrix.shape)
            made = StoredTensor.from_scipy(tensor, matrix.asformat(given))
            made.verify()
            if given in ("csr", "csc", "coo"):  # the others lose explicit zeros
                points = np.stack([kept.row, kept.col], axis=1)
                expected = StoredTensor.from_coo(tensor, points, kept.data)
                assert made.content_hash() == expected.content_hash()
            np.testing.assert_array_equal(made.to_dense(), matrix.toarray())


def test_rows_out_of_order_stay_as_they_are_in_the_matrix() -> None:
    matrix = sp.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3, 3])))
    before = matrix.copy()
    made = StoredTensor.from_scipy(declared("csr", 2, 3), matrix)
    np.testing.assert_array_equal(made.to_dense(), [[2, 0, 5], [0, 0, 0]])
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(matrix, part), getattr(before, part))


def test_what_is_stored_is_no_view_of_the_matrix() -> None:
    matrix = sp.csr_matrix(np.eye(3, dtype=np.float32))
    made = StoredTensor.from_scipy(declared("csr", 3, 3), matrix)
    matrix.data[:] = 7
    matrix.indices[:] = 0
    np.testing.assert_array_equal(made.to_dense(), np.eye(3))


def test_broken_matrices_are_refused() -> None:
    tensor = declared("csr", 3, 3)
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices[1] = 9
    with pytest.raises(DataError):
        StoredTensor.from_scipy(tensor, matrix)
    for value in (np.nan, np.inf, 1e300):
        with pytest.raises(DataError, match="finite"):
            StoredTensor.from_scipy(tensor, sp.csr_matrix(np.diag([1, value, 2])))
    with pytest.raises(DataError, match="not a real number"):
        StoredTensor.from_scipy(tensor, sp.csr_matrix(np.eye(3) * 1j))


def test_other_formats_are_left_to_coordinates() -> None:
    assert levels_of_matrix(declared("dense", 3, 3), sp.csr_matrix(np.eye(3))) is None
    assert levels_of_matrix(declared("csr", 3, 3), sp.csr_matrix(np.eye(3))) is not None


@pytest.mark.parametrize("fmt", ["csr", "dcsr", "csc", "coo"])
def test_storing_takes_little_more_than_what_is_stored(fmt: str) -> None:
    n, count = 20_000, 400_000
    rng = np.random.default_rng(1)
    places = (rng.integers(0, n, count), rng.integers(0, n, count))
    matrix = sp.coo_matrix((rng.random(count).astype(np.float32), places), shape=(n, n)).tocsr()
    tensor = declared(fmt, n, n)
    tracemalloc.start()
    made = StoredTensor.from_scipy(tensor, matrix)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.nnz == matrix.nnz
    assert peak <= 30 * matrix.nnz


LARGE = 2**31 - 1
WIDE = (
    sp.coo_array(([1.0, 2.0, 3.0], ([5, LARGE - 1, 5], [7, LARGE - 2, 7])), shape=(LARGE, LARGE)),
    sp.dia_array((np.array([[1.0] * 8]), [0]), shape=(LARGE, LARGE)),
    sp.csr_array(([1.0, 2.0], [7, LARGE - 2], [0, 1, 2]), shape=(2, LARGE)),
    sp.csc_array(([1.0, 2.0], [7, LARGE - 2], [0, 1, 2]), shape=(LARGE, 2)),
)  # fmt: skip


@pytest.mark.parametrize("fmt", ["dcsr", "dcsc", "coo"])
@pytest.mark.parametrize("matrix", WIDE, ids=lambda matrix: matrix.format)
def test_memory_is_by_elements_and_not_by_rows(fmt: str, matrix: Any) -> None:
    tensor = declared(fmt, *matrix.shape)
    tracemalloc.start()
    made = StoredTensor.from_scipy(tensor, matrix)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    made.verify()
    coords, values = made.to_coo()
    wanted = by_coordinates(matrix)  # SciPy's own takes 8 GB for the diagonal
    wanted.sum_duplicates()
    found = dict(zip(map(tuple, coords.tolist()), values.tolist(), strict=True))
    pairs = zip(*(axis.tolist() for axis in wanted.coords), strict=True)
    assert found == dict(zip(pairs, wanted.data.tolist(), strict=True))


def test_diagonals_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        rows, columns = rng.integers(1, 7, 2)
        offsets = rng.permutation(np.arange(-rows - 1, columns + 2))[: rng.integers(1, 5)]
        numbers = rng.integers(-1, 2, (len(offsets), rng.integers(1, 8))).astype(np.float64)
        matrix = sp.dia_array((numbers, offsets), shape=(rows, columns))
        made = by_coordinates(matrix)
        assert made.nnz == matrix.tocoo().nnz
        np.testing.assert_array_equal(made.toarray(), matrix.toarray())
