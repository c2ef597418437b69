"""Tensors from files, stored as a program declares them."""

from __future__ import annotations

from pathlib import Path

import pytest
import scipy.io
import scipy.sparse

from engine.errors import DataError
from engine.frontends.files import (
    read_tensor,
)
from engine.program import StoredTensor, parse
from tests.frontends.files import matrix
from tests.frontends.files.written import written


def test_formats_by_content(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix(1))
    (tmp_path / "matrix").write_bytes((tmp_path / "a.mtx").read_bytes())
    assert read_tensor(tmp_path / "matrix").shape == (9, 7)
    with open(tmp_path / "packed", "wb") as file:
        scipy.sparse.save_npz(file, matrix(1))
    assert read_tensor(tmp_path / "packed").shape == (9, 7)
    for name, message in [("what.xyz", "format of .* is not known"), ("none.mtx", "no file")]:
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
    with pytest.raises(DataError, match=r"A has shape 7x9, .*a.mtx has 9x7"):
        read.store(parse("A: 7x9 dcsr\ny[i] = A[i,j]").tensor("A"))
