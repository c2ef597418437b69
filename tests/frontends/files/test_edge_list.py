"""Edge lists with and without headings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    Duplicates,
    read_edges,
    read_tensor,
)
from tests.frontends.files import dense
from tests.frontends.files.written import written


@pytest.mark.parametrize(("name", "mark"), [("e.csv", ","), ("e.tsv", "\t"), ("e.txt", " ")])
def test_edge_lists(tmp_path: Path, name: str, mark: str) -> None:
    lines = ["# from to weight", "0 1 2.5", "", "3 0 1", "% other", "1 1 0.5"]
    path = written(tmp_path, name, "\n".join(lines).replace(" ", mark).replace("#\t", "# "))
    expected = np.zeros((4, 4))
    expected[[0, 3, 1], [1, 0, 1]] = 2.5, 1, 0.5
    np.testing.assert_array_equal(dense(read_tensor(path)), expected)
    np.testing.assert_array_equal(dense(read_edges(path, weighted=False)), expected != 0)
    both = dense(read_edges(path, nodes=5, symmetric=True))
    np.testing.assert_array_equal(both[:4, :4], expected + expected.T - np.diag(np.diag(expected)))
    assert both.shape == (5, 5)


def test_headings_and_repeated_edges(tmp_path: Path) -> None:
    path = written(tmp_path, "e.csv", "source,target,w\n0,1,2\n1,0,3\n0,1,4\n")
    for duplicates, value in [(Duplicates.FIRST, 2), (Duplicates.SUM, 6)]:
        np.testing.assert_array_equal(
            dense(read_edges(path, duplicates=duplicates)), [[0, value], [3, 0]]
        )
    with pytest.raises(DataError, match=r"line 4.*\[0,1\].*given twice"):
        read_edges(path, duplicates=Duplicates.REFUSE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lists no edges"),
        ("from,to\n", "lists no edges"),
        ("0,1,2,3,4\n", "line 1.*5 fields per edge"),
        ("# a\n7\n8\n", "line 2.*1 field per edge"),
        ("0,1\n2,x\n", "line 2.*field 2, 'x', is not a number, as"),
        ("0,1\n2,1.5\n", "line 2.*field 2, a node, is 1.5"),
        ("a,b\nc,\n", "line 2.*field 2, a node, is empty"),
        ("a,b,c\nc,d,e\n", "line 1.*field 3, 'c', is not a number"),
        ("0,1\n0;1\n", "line 2.*1 field, expected 2"),
        ("0,-1\n", "line 1.*field 2, a node, is -1"),
        ("0,1,inf\n", "line 1.*not finite"),
    ],
)
def test_faults_of_edge_lists(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_tensor(written(tmp_path, "e.csv", text))
