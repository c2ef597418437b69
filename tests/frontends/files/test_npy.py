"""Arrays in ``.npy`` files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import read_npy, read_tensor
from tests.frontends.files import dense
from tests.frontends.files.harm import little_memory
from tests.frontends.files.test_limits import npy


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["?", "i1", "u8", ">i8", "f2", ">f4", "f8", "longdouble"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 1, 2)])
def test_arrays_of_numbers(tmp_path: Path, shape: tuple[int, ...], kind: str, order: str) -> None:
    given = np.array([0, 1, 2, 0, 5, 7]).reshape(shape).astype(kind, order=order)
    np.save(tmp_path / "a.npy", given)
    tensor = read_tensor(tmp_path / "a.npy")
    np.testing.assert_array_equal(dense(tensor), given.astype(float))
    assert (tensor.nnz, tensor.notes) == (4, ())
    packed = gzip.compress((tmp_path / "a.npy").read_bytes())
    (tmp_path / "a.npy.gz").write_bytes(packed)
    np.testing.assert_array_equal(dense(read_tensor(tmp_path / "a.npy.gz")), given.astype(float))


@pytest.mark.parametrize(
    ("given", "rounded"),
    [
        ([2**24, 2**24 + 1, 3], "1 of 3"),
        ([2**62 + 1, 2**63 - 1, 3], "2 of 3"),
        ([0.5, 0.1, 1e-60], "2 of 3 values are rounded to float32; 1 of them to 0"),
        ([0.5, 0.25, 3e38], "1 of 3"),
    ],
)
def test_rounding_is_told(tmp_path: Path, given: list[float], rounded: str) -> None:
    np.save(tmp_path / "a.npy", np.array(given))
    (note,) = read_npy(tmp_path / "a.npy").notes
    assert note.startswith(rounded)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array([{}], dtype=object), "Python objects, which are never unpickled"),
        (np.array([1j]), "complex numbers .*array.real"),
        (np.array(["a"]), "holds <U1, not real numbers"),
        (np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), "not real numbers"),
        (np.array([1, np.nan]), r"element 1: the value is not finite"),
        (np.zeros((0, 3)), "shape 0x3"),
        (np.zeros((1,) * 13), "13 dimensions"),
    ],
)
def test_arrays_that_are_refused(tmp_path: Path, given: np.ndarray, message: str) -> None:
    np.save(tmp_path / "a.npy", given, allow_pickle=True)
    with pytest.raises(DataError, match=message) as raised:
        read_tensor(tmp_path / "a.npy")
    assert raised.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy((10**9,), b"x" * 80), "claims 1,000,000,000 numbers"),
        (npy((2**27,), b"x" * 80), "the file holds 80 bytes"),
        (npy((2**31, 2**31), b""), "every size is"),
        (npy((-1,), b""), "every size is"),
        (npy((3,), b"x" * 32), "the file holds more"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "header of .* is damaged"),
        (b"\x93NUMPY\x03\x00\x01\x00{", "header of .* is damaged"),
        (b"nothing", "is no array of NumPy"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_headers_that_lie(tmp_path: Path, content: bytes, message: str, packed: bool) -> None:
    (tmp_path / "a.npy").write_bytes(gzip.compress(content) if packed else content)
    with little_memory(), pytest.raises(DataError, match=message):
        read_tensor(tmp_path / "a.npy")
