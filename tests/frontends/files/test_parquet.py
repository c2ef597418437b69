"""Lists of edges in Parquet files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import EdgeOptions, parquet, read_parquet, read_tensor
from tests.frontends.files import damaged, dense
from tests.frontends.files.harm import checked


def table(folder: Path, **columns: Any) -> Path:
    path = folder / "edges.parquet"
    pd.DataFrame(columns).to_parquet(path)
    return path


def test_tables_of_edges(tmp_path: Path) -> None:
    path = table(tmp_path, w=[2.5, 4.0, 1.0], target=[2, 3, 2], source=[1, 2, 1], since=["x"] * 3)
    tensor = read_tensor(path)
    np.testing.assert_array_equal(dense(tensor), [[0, 2.5, 0], [0, 0, 4], [0, 0, 0]])
    assert tensor.notes[:5] == (
        "edges go from field 3 to field 2",
        "field 1 is the weight, 1 to 4",
        "not read: since",
        "nodes count from 1, as there is no node 0",
        "the file does not say whether edges are directed: they are taken as they are listed",
    )
    assert "1 edge repeats" in tensor.notes[5]
    np.testing.assert_array_equal(dense(read_parquet(path, weighted=False)).max(), 1)
    named = read_tensor(table(tmp_path, a=["x", "y"], b=["y", "z"]))
    np.testing.assert_array_equal(dense(named), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def test_numbers_as_names(tmp_path: Path) -> None:
    path = table(tmp_path, a=[7, 9], b=[9, 8])
    assert read_parquet(path).shape == (9, 9)
    tensor = read_parquet(path, named=True)
    np.testing.assert_array_equal(dense(tensor), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert any("7 is 0, 9 is 1, 8 is 2" in note for note in tensor.notes)
    with pytest.raises(DataError, match="column a holds names") as raised:
        read_tensor(table(tmp_path, a=["x"], b=["y"]), EdgeOptions(named=False))
    assert raised.value.hint


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, 2]}, "has the columns a "),
        ({"i": [1], "j": [2], "k": [3], "value": [2.5]}, "has the columns i, j, k, value"),
        ({"a": [1.0, None], "b": [1, 2]}, "line 2.*column a, a node, is nan"),
        ({"a": ["x", None], "b": ["y", "z"]}, "line 2.*column a holds a node that is neither"),
        ({"a": [1], "b": [2], "c": ["x"]}, "column c holds .*, not numbers"),
        ({"a": [], "b": []}, "lists no edges"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_tensor(table(tmp_path, **columns))


def test_a_table_that_unpacks_to_far_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "FREE_UNPACKING", 0)
    monkeypatch.setattr(parquet, "MAX_RATIO", 1)
    with pytest.raises(DataError, match="lists 100,000 edges in"):
        read_tensor(table(tmp_path, a=np.zeros(10**5, int), b=np.zeros(10**5, int)))


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path, a=[0], b=[1])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DataError, match=r"need pyarrow.*pip install 'fuseloom\[parquet\]'"):
        read_tensor(path)


def test_damaged_tables(tmp_path: Path) -> None:
    path = table(tmp_path, a=[0, 1], b=[1, 2])
    whole = path.read_bytes()
    for seed in range(60):
        path.write_bytes(damaged(whole, seed))
        checked(lambda: read_tensor(path))
