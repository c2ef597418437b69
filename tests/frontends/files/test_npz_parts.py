"""Arrays of archives, checked when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files.npz_parts import given, numbers, pairs, whole

MATRIX = {"data": np.ones(3), "indices": np.array([1, 0, 2]), "indptr": np.array([0, 1, 3])}


def test_rows_and_columns_of_a_compressed_matrix() -> None:
    at = pairs(MATRIX, "", (2, 3), 3, "a file", by_column=False)
    assert at.tolist() == [[0, 1], [1, 0], [1, 2]]
    at = pairs(MATRIX, "", (3, 2), 3, "a file", by_column=True)
    assert at.tolist() == [[1, 0], [0, 1], [2, 1]]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: given({}, "data", "a file"), "has no array 'data'"),
        (lambda: whole({"n": np.ones(2)}, "n", "a file"), "dtype float64"),
        (lambda: whole({"n": np.array([2**63], dtype=np.uint64)}, "n", "a file"), "beyond 63 bits"),
        (lambda: numbers({"n": np.array(["a"])}, "n", "a file"), "real numbers|dtype <U1"),
        (lambda: pairs(MATRIX, "", (5, 3), 3, "a file", by_column=False), "does not rise from 0"),
        (lambda: pairs(MATRIX, "", (2, 3), 4, "a file", by_column=False), "ends at 3"),
    ],
)
def test_what_is_no_such_array(ask: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ask()
