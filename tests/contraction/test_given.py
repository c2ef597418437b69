"""Operands from files, and sizes from operands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fuseloom.contraction.given import read_operands, sizes_of
from fuseloom.errors import FuseloomError
from fuseloom.frontends.files import CoordinateTensor


def empty(*shape: int) -> CoordinateTensor:
    return CoordinateTensor(np.zeros((0, len(shape)), dtype=np.int64), np.zeros(0), shape, "a file")


def test_files_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "a.tns").write_text("1 1 2 0.1\n3 2 1 5\n3 2 1 1\n")
    scipy.io.mmwrite(tmp_path / "b.mtx", scipy.sparse.coo_array(([2.5], ([1], [0])), shape=(2, 4)))
    scipy.sparse.save_npz(tmp_path / "c.npz", scipy.sparse.eye_array(4, format="csr"))
    np.save(tmp_path / "d.npy", np.full((4, 2), 0.1))
    kinds = {"A": "a.tns", "B": "b.mtx", "C": "c.npz", "D": "d.npy"}
    found = read_operands([*(f"{n}={tmp_path / f}" for n, f in kinds.items()), "E=random"])
    shapes = {name: tensor.shape for name, tensor in found.tensors.items()}
    assert shapes == {"A": (3, 2, 2), "B": (2, 4), "C": (4, 4), "D": (4, 2)}
    assert found.tensors["A"].values.tolist() == [0.1, 6.0]  # not rounded to float32
    (note,) = found.notes
    assert "the values of the same place are added" in note
    sizes = sizes_of("ijk,kl,lm,mn->in", found.tensors, {})
    assert sizes == {"i": 3, "j": 2, "k": 2, "l": 4, "m": 4, "n": 2}


@pytest.mark.parametrize("text", ["A", "A=", "=file", "A=random,A=random", "A=nowhere.mtx", "A=."])
def test_what_names_no_file(text: str) -> None:
    with pytest.raises(FuseloomError):
        read_operands(text.split(","))


@pytest.mark.parametrize(
    ("tensors", "extents", "message"),
    [
        ({"A": empty(2, 3), "B": empty(4, 5)}, {}, "index j has 3 in A, and 4 in B"),
        ({"A": empty(2, 3, 4)}, {}, "has the indices i,j"),
        ({"Z": empty(2, 3)}, {}, "has no operand Z"),
        ({"A": empty(2, 3)}, {"i": 1}, "index i is to have 1"),
    ],
)
def test_contradictions(
    tensors: dict[str, CoordinateTensor], extents: dict[str, int], message: str
) -> None:
    with pytest.raises(FuseloomError, match=message):
        sizes_of("ij,jk->ik", tensors, extents)


def test_what_is_given_may_be_larger() -> None:
    held = {"A": empty(2, 3), "B": empty(4, 5)}
    assert sizes_of("ij,jk->ik", held, {"j": 4}) == {"j": 4, "i": 2, "k": 5}
