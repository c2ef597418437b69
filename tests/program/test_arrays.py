"""Tensors from .npz files: dense arrays, or coordinates, values and shape."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.program.arrays import operand_shapes, read_npz, store_operand
from fuseloom.program.formats import Format
from fuseloom.program.limits import FREE_ARRAYS
from fuseloom.program.types import Tensor

B = Tensor("B", (2, 3), Format.compressed(2))


def parts(coords: object, vals: object, shape: object) -> dict[str, np.ndarray]:
    return {"B_coords": np.array(coords), "B_vals": np.array(vals), "B_shape": np.array(shape)}


def test_both_ways_give_the_same_tensor() -> None:
    dense = {"B": np.array([[0, 5, 0], [7, 0, 0]])}
    sparse = parts([[1, 0], [0, 1]], [7, 5], [2, 3])
    assert store_operand(B, dense).content_hash() == store_operand(B, sparse).content_hash()
    assert operand_shapes(dense) == operand_shapes(sparse) == {"B": (2, 3)}


def test_zeros_may_be_left_out() -> None:
    sparse = parts([[0, 0], [0, 1]], [0, 5], [2, 3])
    assert store_operand(B, sparse).nnz == 2
    assert store_operand(B, sparse, zeros=False).nnz == 1


def test_names_that_only_look_alike() -> None:
    """``x_shape`` alone is an array called so."""
    assert operand_shapes({"x_shape": np.zeros((2, 5))}) == {"x_shape": (2, 5)}


def test_scalars() -> None:
    tensor = Tensor("B", (), Format((), ()))
    assert store_operand(tensor, parts(np.zeros((1, 0), int), [4.0], np.zeros(0, int))).values == [
        4
    ]
    assert store_operand(tensor, {"B": np.array(4.0)}).values == [4]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "the data of operand B are missing"),
        (parts([[0, 0]], [1], [2, 4]), "operand B has shape 2x4, expected 2x3"),
        (parts([[0, 0]], [1], [[2, 4]]), "B_shape is no shape"),
        (parts([[0, 0]], [1], [0.5, 4]), "B_shape is no shape"),
        (parts([[0, 0]], [1], [-1, 4]), "has a size outside"),
        (parts([[0, 9]], [1], [2, 3]), "coordinate 9 of element 0 is outside 0..2"),
        (parts([[0, 1], [0, 1]], [1, 2], [2, 3]), "is given twice"),
        (parts([[0, 1, 2]], [1], [2, 3]), "needs coordinates of shape 1x2"),
        ({"B": np.zeros((3, 3))}, "tensor B has shape 2x3"),
    ],
)
def test_refusals(arrays: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(DataError) as caught:
        shaped_and_stored(arrays)
    assert message in str(caught.value)


def shaped_and_stored(arrays: dict[str, np.ndarray]) -> None:
    operand_shapes(arrays)
    store_operand(B, arrays)


def test_a_file_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "bomb.npz", B=np.zeros(100_000))
    monkeypatch.setattr("fuseloom.program.arrays.MAX_STORED_BYTES", 100_000)
    with pytest.raises(DataError, match="unpacks to 800,128 bytes, the limit is 100,000 bytes"):
        read_npz(tmp_path / "bomb.npz")


@pytest.mark.parametrize("shape", [(10**15,), (3, 3), (2**40, 2**40), (), (-1, -2)])
def test_a_header_that_claims_what_is_not_there(tmp_path: Path, shape: tuple[int, ...]) -> None:
    header = str({"descr": "<f8", "fortran_order": False, "shape": shape}).encode() + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("B.npy", content)
    with pytest.raises(DataError, match=r"B.npy claims shape .* the file holds 16 bytes"):
        read_npz(tmp_path / "a.npz")


def test_a_header_that_no_tokenizer_ends(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'shape': (3L,), [\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("B.npy", content)
    with pytest.raises(DataError, match="cannot read tensors"):
        read_npz(tmp_path / "a.npz")


@pytest.mark.deep  # takes seconds
def test_what_unpacks_to_too_much_is_refused_before(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, A=np.zeros(FREE_ARRAYS // 8 + 1))
    with pytest.raises(DataError, match=r"bomb.npz has [\d,]+ bytes and unpacks to 268"):
        read_npz(path)
