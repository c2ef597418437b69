"""Arrays that a pickle describes, built from bytes; what does not fit is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import pickled_arrays
from fuseloom.frontends.files.pickled_arrays import array_of, csr_parts, integer_of
from fuseloom.frontends.files.pickles import PermittedName, PickledCall, read_pickle

ARRAYS = [
    np.arange(6, dtype=np.int64).reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    np.array([True, False]),
    np.zeros((0, 4)),
    np.arange(3, dtype=">i4"),
    np.float16([1.5, -2]),
]


def described(value: Any, folder: Path, protocol: int) -> Any:
    path = folder / "value.pickle"
    path.write_bytes(pickle.dumps(value, protocol))
    return read_pickle(path)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype.str}{a.shape}")
def test_arrays_come_back(tmp_path: Path, array: np.ndarray, protocol: int) -> None:
    made = array_of(described(array, tmp_path, protocol), "test")
    np.testing.assert_array_equal(made, array)
    assert made.shape == array.shape


def test_matrices_come_back_in_parts(tmp_path: Path) -> None:
    matrix = scipy.sparse.csr_matrix(np.array([[0, 1.5, 0], [2, 0, 0]]))
    parts = csr_parts(described(matrix, tmp_path, 2), "test")
    assert parts["shape"].tolist() == [2, 3]
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(parts[name], getattr(matrix, name))


def test_whole_numbers_plain_or_numpys(tmp_path: Path) -> None:
    assert integer_of(described(7, tmp_path, 2), "test") == 7
    assert integer_of(described(np.int32(-3), tmp_path, 2), "test") == -3
    for wrong in (2.5, True, "7", None, 2**70, np.float64(1)):
        with pytest.raises(DataError, match="does not hold an integer"):
            integer_of(described(wrong, tmp_path, 2), "test")


def array_call(shape: Any = (2,), code: Any = "f8", data: Any = b"\0" * 16) -> PickledCall:
    """Return the call in a pickle of an array, with one part exchanged."""
    kind = PickledCall(PermittedName.DTYPE, (code,), (3, "<", None))
    return PickledCall(PermittedName.RECONSTRUCT, (), (1, shape, kind, False, data))


def test_the_hand_made_array_is_one() -> None:
    assert array_of(array_call(), "test").tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"shape": (3,)}, "an array of shape 3 and dtype float64 with 16 bytes"),
        ({"shape": (2**40, 2**40)}, "an array of shape"),
        ({"shape": (-2,)}, "does not hold an array"),
        ({"shape": ("2",)}, "does not hold an array"),
        ({"code": "O8"}, "does not hold an array of real numbers"),
        ({"code": "c16"}, "does not hold an array of real numbers"),
        ({"code": 8}, "does not hold an array of real numbers"),
        ({"data": 16}, "does not hold an array"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        array_of(array_call(**changed), "test")


def test_size_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickled_arrays, "MAX_DENSE", 1)
    with pytest.raises(DataError):
        array_of(array_call(), "test")


@pytest.mark.parametrize("shape", [(2,), (2, 2**31), (2, -1), [2, 3], None], ids=str)
def test_matrices_need_two_sizes(shape: Any) -> None:
    part = array_call()
    state = {"data": part, "indices": part, "indptr": part, "_shape": shape}
    with pytest.raises(DataError, match="the shape of a csr matrix"):
        csr_parts(PickledCall(PermittedName.CSR, (), state), "test")
    del state["indptr"]
    with pytest.raises(DataError, match="does not hold a csr matrix"):
        csr_parts(PickledCall(PermittedName.CSR, (), state), "test")
