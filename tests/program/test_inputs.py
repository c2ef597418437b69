"""Data of inputs: given, checked, made."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.program import Format, StoredTensor, Tensor, check_data, made_tensor, parse
from tests.program.matrices import ARRAY, CSR


def test_check_data_converts_and_refuses() -> None:
    program = parse("A: 3x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]")
    x = np.arange(4)
    other = StoredTensor.from_dense(Tensor("Q", (3, 4), Format.dense(2)), ARRAY)
    for a in (ARRAY, scipy.sparse.csc_array(ARRAY), other, StoredTensor.from_dense(CSR, ARRAY)):
        data = check_data(program, {"x": x, "A": a})
        assert list(data) == ["A", "x"]
        assert data["A"].tensor == program.tensor("A")
        np.testing.assert_array_equal(data["A"].to_dense(), ARRAY)
    for bad, message in [
        ({"x": x}, "input A are missing"),
        ({"x": x, "A": ARRAY, "y": x}, "'y' is computed"),
        ({"x": x, "A": ARRAY, "z": x}, "no input is called 'z'"),
        ({"x": x, "A": x}, "has shape 3x4"),
        ({"x": other, "A": ARRAY}, "its data 3x4"),
    ]:
        with pytest.raises(DataError, match=message):
            check_data(program, bad)


def test_what_is_made_comes_by_itself_in_its_format() -> None:
    program = parse(
        "S[i,j]: 3x4 [compressed, dense] where j = i + 2\nx: 3 dense\ny[j] = x[i] * S[i,j]"
    )
    data = check_data(program, {"x": np.ones(3)})
    assert list(data) == ["S", "x"]
    np.testing.assert_array_equal(data["S"].to_dense(), np.eye(3, 4, 2))
    assert data["S"].nnz == 8
    assert made_tensor(program.tensor("S")) is data["S"]
    with pytest.raises(ValueError, match="x is not made"):
        made_tensor(program.tensor("x"))
