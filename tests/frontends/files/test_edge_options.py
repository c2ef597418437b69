"""Choices about lists of edges, for readers that take other files, too."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    Duplicates,
    EdgeOptions,
    is_edge_list,
    read_edges,
    read_parquet,
    read_tensor,
)
from tests.frontends.files import dense
from tests.frontends.files.written import written

EDGES = "a,b,2\na,b,3\nb,c,4\n"


@pytest.mark.parametrize("reader", [read_edges, read_parquet])
def test_the_choices_are_those_of_the_readers(reader: object) -> None:
    assert callable(reader)
    own = inspect.signature(reader).parameters
    given = {field.name: field.default for field in dataclasses.fields(EdgeOptions)}
    assert given == {name: own[name].default for name in own if name != "path"}


def test_they_reach_the_reader(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", EDGES)
    assert is_edge_list(path)
    chosen = EdgeOptions(nodes=4, duplicates=Duplicates.SUM, symmetric=True, named=True)
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 5
    expected[1, 2] = expected[2, 1] = 4
    np.testing.assert_array_equal(dense(read_tensor(path, chosen)), expected)
    np.testing.assert_array_equal(
        dense(read_tensor(path, EdgeOptions(weighted=False))), dense(read_tensor(path)) > 0
    )


def test_other_files_have_none(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tns", "1 1 2\n")
    assert not is_edge_list(path)
    assert read_tensor(path).shape == (1, 1)
    with pytest.raises(DataError, match=r"a\.tns is no list of edges") as raised:
        read_tensor(path, EdgeOptions())
    assert ".csv" in str(raised.value.hint)


def test_coordinates_of_a_tensor_are_no_edges(tmp_path: Path) -> None:
    """An edge would lose all but two of them."""
    path = tmp_path / "tensor.csv"
    path.write_text("i,j,k,value\n0,1,2,1.5\n1,0,3,2.5\n")
    with pytest.raises(DataError, match="4 fields per edge"):
        read_edges(path)
