"""Data by name and at random."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import DataError
from engine.models import (
    Model,
    karate,
    random_data,
)
from engine.program import LevelFormat, parse


def test_karate() -> None:
    data = karate()
    assert {name: t.tensor.shape for name, t in data.items()} == {
        "A": (34, 34), "X": (34, 34), "W1": (34, 16), "b1": (16,), "W2": (16, 4), "b2": (4,),
    }  # fmt: skip
    assert data["A"].nnz == 156
    assert set(data["A"].values.tolist()) == {1.0}
    assert data["A"].tensor.format.levels == (LevelFormat.COMPRESSED,) * 2
    np.testing.assert_array_equal(data["X"].to_dense(), np.eye(34))
    assert 0.4 < data["W1"].nnz / (34 * 16) < 0.6
    assert karate(1)["W1"].content_hash() == karate(1)["W1"].content_hash()
    assert karate(1)["W1"].content_hash() != karate(2)["W1"].content_hash()


def test_random_data_refuse_a_tensor_too_large_to_make_up() -> None:
    program = parse("A: 1000000x1000000 dcsr\nT[i] = A[i,j]")
    with pytest.raises(DataError, match="too many to make up at random"):
        random_data(Model(program, ()))
