"""Tensors from files, stored as a program declares them."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import CoordinateTensor, read_tensor
from fuseloom.program import StoredTensor, parse
from tests.frontends.files import damaged, matrix, pieces, repack
from tests.frontends.files.harm import CASES, checked, little_memory
from tests.frontends.files.written import written


def test_formats_by_content(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix(1))
    (tmp_path / "matrix").write_bytes((tmp_path / "a.mtx").read_bytes())
    assert read_tensor(tmp_path / "matrix").shape == (9, 7)
    with open(tmp_path / "packed", "wb") as file:
        scipy.sparse.save_npz(file, matrix(1))
    assert read_tensor(tmp_path / "packed").shape == (9, 7)
    for name, message in [("what.xyz", "format of .* is not known"), ("none.mtx", "No such file")]:
        if name == "what.xyz":
            written(tmp_path, name, "1 2 3")
        with pytest.raises(DataError, match=message):
            read_tensor(tmp_path / name)


def test_tensors_are_stored_as_declared(tmp_path: Path) -> None:
    given = matrix(3)
    scipy.io.mmwrite(tmp_path / "a.mtx", given)
    read = read_tensor(tmp_path / "a.mtx")
    for fmt in ("dcsr", "csr", "dense", "csc"):
        tensor = parse(f"A: 9x7 {fmt}\ny[i] = A[i,j]").tensor("A")
        expected = StoredTensor.from_dense(tensor, given.toarray())
        assert read.store(tensor).content_hash() == expected.content_hash()
    np.testing.assert_array_equal(read.to_dense(), given.toarray())
    with pytest.raises(DataError, match=r"A has shape 7x9, .*a.mtx has 9x7"):
        read.store(parse("A: 7x9 dcsr\ny[i] = A[i,j]").tensor("A"))


def test_dense_arrays_have_a_limit() -> None:
    large = CoordinateTensor.of(np.array([[0, 0]]), np.ones(1), (1_000_000, 1_000_000), "large.tns")
    with pytest.raises(DataError, match="1,000,000,000,000 places"):
        large.to_dense()


def good_files(folder: Path) -> dict[str, Path]:
    scipy.io.mmwrite(folder / "a.mtx", matrix(1))
    (folder / "t.tns").write_text("1 2 1 0.5\n2 2 3 -1\n4 1 1 2e3\n")
    scipy.sparse.save_npz(folder / "s.npz", matrix(2), compressed=False)
    (folder / "e.csv").write_text("from,to,w\n0,1,2\n1,3,0.5\n4,0,1\n")
    (folder / "e.tsv.gz").write_bytes(gzip.compress(b"0\t1\n1\t3\n4\t0\n"))
    return {name: folder / name for name in ("a.mtx", "t.tns", "s.npz", "e.csv", "e.tsv.gz")}


@pytest.mark.parametrize("name", ["a.mtx", "t.tns", "s.npz", "e.csv", "e.tsv.gz"])
def test_damaged_tensors(tmp_path: Path, name: str) -> None:
    path = good_files(tmp_path)[name]
    whole = path.read_bytes()
    inner = dict(pieces(path))
    read = 0
    with little_memory():
        for seed in range(CASES):
            if inner and seed % 2:
                part = sorted(inner)[seed // 2 % len(inner)]
                path.write_bytes(whole)
                repack(path, part, damaged(inner[part], seed // 2))
            else:
                path.write_bytes(damaged(whole, seed))
            read += checked(lambda: read_tensor(path))
    assert 0 <= read < CASES


def test_damage_is_damage() -> None:
    whole = zlib.compress(b"0,1\n" * 50)
    assert sum(damaged(whole, seed) != whole for seed in range(CASES)) > CASES * 0.95
