"""SciPy's compressed sparse matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from engine.errors import DataError
from engine.frontends.files import (
    read_scipy_npz,
    read_tensor,
)
from tests.frontends.files import dense, matrix


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_npz_as_scipy_writes_it(tmp_path: Path, kind: str) -> None:
    given = matrix(5).asformat(kind)
    scipy.sparse.save_npz(tmp_path / "a.npz", given)
    tensor = read_tensor(tmp_path / "a.npz")
    np.testing.assert_array_equal(dense(tensor), given.toarray())
    np.testing.assert_array_equal(tensor.to_scipy().toarray(), given.toarray())


def test_npz_adds_what_is_given_twice(tmp_path: Path) -> None:
    twice = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 1, 0], [1, 1, 1])), shape=(2, 2))
    scipy.sparse.save_npz(tmp_path / "a.npz", twice)
    np.testing.assert_array_equal(dense(read_scipy_npz(tmp_path / "a.npz")), [[0, 5], [0, 2]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": np.array("lil")}, "no matrix in csr, csc, coo"),
        ({"shape": np.array([3])}, "has 1 sizes"),
        ({"shape": np.array([9, 2**40])}, "every size is"),
        ({"shape": np.array([8, 7])}, "indptr has 10 entries"),
        ({"shape": np.array([9, 2])}, "outside 9x2"),
        ({"indices": np.array([0.5])}, "whole numbers is needed"),
        ({"indices": np.array([0])}, "there are 1 indices"),
        ({"data": np.array(["a"])}, "real numbers is needed"),
        ({"indptr": np.arange(10)[::-1]}, "does not rise"),
        ({"indptr": None}, "no array 'indptr'"),
    ],
)
def test_faults_of_npz(tmp_path: Path, change: dict[str, object], message: str) -> None:
    given = matrix(5)
    arrays = {
        "format": np.array("csr"),
        "shape": np.array(given.shape),
        "data": given.data,
        "indices": given.indices,
        "indptr": given.indptr,
    } | change
    np.savez(tmp_path / "a.npz", **{k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(DataError, match=message):
        read_tensor(tmp_path / "a.npz")
