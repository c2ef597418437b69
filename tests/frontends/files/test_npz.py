"""SciPy's compressed sparse matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    read_scipy_npz,
    read_tensor,
)
from tests.frontends.files import dense, matrix


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_npz_as_scipy_writes_it(tmp_path: Path, kind: str) -> None:
    given = matrix(5).asformat(kind)
    scipy.sparse.save_npz(tmp_path / "a.npz", given)
    tensor = read_tensor(tmp_path / "a.npz")
    np.testing.assert_array_equal(dense(tensor), given.toarray())
    np.testing.assert_array_equal(tensor.to_scipy().toarray(), given.toarray())


def test_blocks_and_arrays_of_any_rank(tmp_path: Path) -> None:
    blocks = scipy.sparse.bsr_array(
        (np.array([[[1.0, 0]], [[2, 3]], [[4, 5]]]), [0, 1, 1], [0, 1, 3]), shape=(2, 4)
    )
    scipy.sparse.save_npz(tmp_path / "a.npz", blocks)
    tensor = read_tensor(tmp_path / "a.npz")
    np.testing.assert_array_equal(dense(tensor), [[1, 0, 0, 0], [0, 0, 6, 8]])
    assert "2 elements repeat one that was given before" in tensor.notes[0]
    cube = scipy.sparse.coo_array(([1.0, 2], ([0, 1], [1, 0], [1, 1])), shape=(2, 2, 2))
    scipy.sparse.save_npz(tmp_path / "a.npz", cube)
    np.testing.assert_array_equal(dense(read_tensor(tmp_path / "a.npz")), cube.toarray())


def test_archives_of_one_tensor(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", np.eye(2))
    np.testing.assert_array_equal(dense(read_tensor(tmp_path / "a.npz")), np.eye(2))
    operand = {"B_coords": np.array([[0, 1]]), "B_vals": np.array([2.0]), "B_shape": [1, 2]}
    np.savez(tmp_path / "a.npz", **operand)
    np.testing.assert_array_equal(dense(read_tensor(tmp_path / "a.npz")), [[0, 2]])
    np.savez(tmp_path / "a.npz", **(operand | {"B_coords": np.array([[0, 2]])}))
    with pytest.raises(DataError, match="outside 1x2"):
        read_tensor(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", A=np.eye(2), X=np.eye(2))
    with pytest.raises(DataError, match=r"several arrays: A, X .*--tensors FILE.npz"):
        read_tensor(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("bsr", {"data": np.zeros((3, 2, 2))}, "indptr"),
        ("bsr", {"data": np.zeros((2, 4, 2))}, "blocks of 4x2 do not tile 6x4"),
        ("bsr", {"data": np.zeros((2, 0, 2))}, "blocks of 0x2"),
        ("bsr", {"indices": np.array([0, 9])}, "block 1 lies outside the 3x2 blocks"),
        ("dia", {"offsets": np.array([0, 0])}, "diagonals with 2 offsets"),
        ("dia", {"offsets": np.array([0])}, "2 diagonals with 1 offset"),
        ("dia", {"offsets": np.array([0, -(2**63)])}, "outside the matrix"),
        ("coo", {"coords": np.zeros((3, 1), int)}, "coords do not fit the shape"),
    ],
)
def test_faults_of_other_formats(
    tmp_path: Path, kind: str, change: dict[str, object], message: str
) -> None:
    parts: dict[str, dict[str, object]] = {
        "bsr": {"data": np.ones((2, 2, 2)), "indices": [0, 1], "indptr": [0, 1, 1, 2]},
        "dia": {"data": np.ones((2, 4)), "offsets": [0, 1]},
        "coo": {"data": np.ones(1), "coords": [[0], [1]]},
    }
    arrays = {"format": np.array(kind), "shape": np.array([6, 4]), **parts[kind]}
    np.savez(tmp_path / "a.npz", **arrays)
    assert read_scipy_npz(tmp_path / "a.npz").shape == (6, 4)
    np.savez(tmp_path / "a.npz", **(arrays | change))
    with pytest.raises(DataError, match=message):
        read_scipy_npz(tmp_path / "a.npz")


def test_npz_adds_what_is_given_twice(tmp_path: Path) -> None:
    twice = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 1, 0], [1, 1, 1])), shape=(2, 2))
    scipy.sparse.save_npz(tmp_path / "a.npz", twice)
    np.testing.assert_array_equal(dense(read_scipy_npz(tmp_path / "a.npz")), [[0, 5], [0, 2]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": np.array("lil")}, "no matrix in csr, csc, coo"),
        ({"shape": np.array([3])}, "has 1 size"),
        ({"shape": np.array([9, 2**40])}, "every size is"),
        ({"shape": np.array([8, 7])}, "indptr has 10 entries"),
        ({"shape": np.array([9, 2])}, "outside 9x2"),
        ({"indices": np.array([0.5])}, "integers is needed"),
        ({"indices": np.array([0])}, "has 1 index"),
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
