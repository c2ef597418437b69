"""Kinds of data: parts, room for them, and what is outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fuseloom.calls.data_kinds import (
    CsrRows,
    DataKind,
    ImageTensor,
    Items,
    Matrix,
    Vector,
)
from fuseloom.errors import DataError, ProgramError


def test_parts_of_arrays_are_views() -> None:
    values = np.arange(24.0).reshape(4, 6)
    part = Matrix().query(values, {"row": 1, "col": 2, "rows": 2, "cols": 3})
    assert part.tolist() == [[8, 9, 10], [14, 15, 16]]
    part[0, 0] = -1
    assert values[1, 2] == -1
    assert Vector().query(values[0], {"start": 6, "len": 0}).size == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"start": -1, "len": 2}, {"start": 0, "len": 6}, {"start": 5, "len": 1},
        {"start": 3, "len": -1}, {"start": 6, "len": 0},
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("kind", "value"), [(Vector(), np.zeros(5)), (Items(), [0] * 5)], ids=["vector", "list"]
)
def test_parts_outside_are_refused(kind: DataKind, value: Any, fields: dict[str, int]) -> None:
    with pytest.raises(DataError, match="outside an extent of 5"):
        kind.query(value, fields)


def test_rooms_have_the_extents_of_parts() -> None:
    kind = ImageTensor(np.float32)
    fields = {"n": 9, "row": 9, "col": 9, "channel": 9,
              "images": 2, "rows": 3, "cols": 4, "channels": 5}  # fmt: skip
    assert kind.allocate(fields).shape == (2, 3, 4, 5)
    assert kind.allocate(fields).dtype == np.float32
    assert kind.elements(fields) == 120
    assert Matrix(rest=(7,)).allocate({"rows": 2, "cols": 3}).shape == (2, 3, 7)
    assert Items().allocate({"start": 4, "len": 2}) == [None, None]


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        (Vector(), {"len": -1}, "negative extent"),
        (Items(), {"len": -1}, "negative extent"),
        (Vector(), {"len": 2**40}, "more than 4,294,967,296 bytes"),
        (Matrix(), {"rows": 2**31, "cols": 2**31}, "more than"),
    ],
)
def test_rooms_that_cannot_be_are_refused(
    kind: DataKind, fields: dict[str, int], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        kind.allocate(fields)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (Vector(), [1.0, 2.0], "an array, not a list"),
        (Vector(), np.zeros((2, 2)), "1 dimensions"),
        (Matrix(rest=(3,)), np.zeros((2, 2, 4)), r"not the shape \(2, 2, 4\)"),
        (CsrRows(), np.zeros((2, 2)), "of SciPy, not a ndarray"),
        (CsrRows(), scipy.sparse.eye(3, format="csc"), "of SciPy"),
        (Items(), np.zeros(3), "a list is wanted, not a ndarray"),
    ],
)
def test_data_of_another_kind_are_refused(kind: DataKind, value: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        kind.whole(value)


def test_kinds_are_equal_by_what_they_hold() -> None:
    assert Vector() == Vector(np.float64)
    assert Vector() != Vector(np.float32)
    assert Vector() != Matrix()
    assert hash(Matrix(rest=(2,))) == hash(Matrix(rest=[2]))
    assert repr(Matrix(np.int8, (2,))) == "Matrix(int8, (2,))"


def test_sparse_rows() -> None:
    matrix = scipy.sparse.random_array((6, 4), density=0.5, format="csr", rng=0)
    part = CsrRows().query(matrix, {"row": 2, "rows": 3})
    assert np.array_equal(part.toarray(), matrix.toarray()[2:5])
    with pytest.raises(DataError, match="outside 6"):
        CsrRows().query(matrix, {"row": 4, "rows": 3})
    with pytest.raises(ProgramError, match="input"):
        CsrRows().allocate({"row": 0, "rows": 1})


def test_parts_of_lists_are_put_back() -> None:
    values = list("abcd")
    Items().insert(values, {"start": 2, "len": 2}, ["x", "y"])
    assert values == ["a", "b", "x", "y"]
    with pytest.raises(DataError, match="3 values are put into a part of 2"):
        Items().insert(values, {"start": 0, "len": 2}, ["x", "y", "z"])
    assert len(values) == 4
