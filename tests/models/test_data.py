"""Data by name and at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError, ProgramError
from fuseloom.models import (
    Model,
    karate,
    load,
    load_labelled,
    random_data,
)
from fuseloom.program import LevelFormat, parse
from tests.frontends.files import Citation


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


def test_names_and_files(tmp_path: Path) -> None:
    Citation().write(tmp_path, "cora")
    loaded = load_labelled("gcn", "cora", data_dir=tmp_path)
    assert (loaded.label, loaded.standin) == ("Cora", False)
    assert loaded.model.program.tensor("X").shape == (9, 5)
    assert loaded.model.program.tensor("W2").shape == (16, 3)
    direct = load_labelled("graphsage", str(tmp_path))
    assert direct.label == "cora"
    assert direct.data["A"].content_hash() == loaded.data["A"].content_hash()
    with pytest.raises(ProgramError, match="does not fit model spmv"):
        load("spmv", str(tmp_path))
    with pytest.raises(ProgramError, match="does not fit model spmv"):
        load("spmv", "cora")
    edges = tmp_path / "edges.csv"
    edges.write_text("0,1\n")
    with pytest.raises(DataError, match="edges has no features"):
        load("gcn", str(edges))
