"""Tensors in files, as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.models import load, load_model
from fuseloom.program import StoredTensor, parse
from fuseloom.program.tensor_files import read_tensors, write_tensors

FORMATS = "A: 6x6 csr\nB: 6x6 coo\nC: 6x6 dense\nD: 8x8 csr blocks 4x4\nE: 6x6 dcsr\ns: scalar\n"


@pytest.mark.parametrize("name", ["gcn", "gpt3", "spmv"])
def test_what_models_have_reads_back(name: str, tmp_path: Path) -> None:
    loaded = load(name)
    model, data = (loaded.model, loaded.data) if hasattr(loaded, "model") else loaded
    path = tmp_path / "t.npz"
    write_tensors(path, data)
    found = read_tensors(path, model.program)
    assert {n: t.content_hash() for n, t in found.items()} == {
        n: t.content_hash() for n, t in data.items()
    }


def test_explicit_zeros_and_empty_tensors(tmp_path: Path) -> None:
    program = parse(
        "A: 4x4 csr\nB: 4x4 dcsr\nx: 4 dense\ny[i] = A[i,j] * x[j]\nz[i] = B[i,j] * x[j]"
    )
    data = {
        "A": StoredTensor.from_coo(program.tensor("A"), [[0, 1], [2, 2]], [0.0, 3.0]),
        "B": StoredTensor.from_dense(program.tensor("B"), np.zeros((4, 4))),
        "x": StoredTensor.from_dense(program.tensor("x"), np.ones(4)),
    }
    path = tmp_path / "t.npz"
    write_tensors(path, data)
    found = read_tensors(path, program)
    assert all(found[n].content_hash() == data[n].content_hash() for n in data)
    assert found["A"].nnz == 2


def test_other_files_are_refused(tmp_path: Path) -> None:
    program = load_model("spmv").program
    with pytest.raises(DataError, match="cannot read"):
        read_tensors(tmp_path / "none.npz", program)
    np.savez(tmp_path / "other.npz", A=np.ones(3))
    with pytest.raises(DataError, match="holds other tensors"):
        read_tensors(tmp_path / "other.npz", program)
    with pytest.raises(DataError, match="cannot write"):
        write_tensors(tmp_path / "no" / "t.npz", {})
