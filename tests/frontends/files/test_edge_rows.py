"""Lines of edges, all at once and one by one."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import edge_rows, lines, read_edges
from tests.frontends.files import dense


@pytest.mark.parametrize("chunk", [16, 1 << 22])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_both_ways_of_reading_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, end: str
) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{a},{b},{w / 8},x" for a, b, w in rng.integers(0, 20, (60, 3)).tolist()]
    text = end.join(["from,to,weight,kind", *rows[:30], "", "# more", *rows[30:]])
    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(lines, "CHUNK", chunk)
    quick = read_edges(path)
    monkeypatch.setattr(edge_rows, "fast_columns", lambda *_: None)
    slow = read_edges(path)
    np.testing.assert_array_equal(dense(quick), dense(slow))
    assert quick.notes == slow.notes
    assert quick.nnz > 40


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,2", "line 3.*2 fields, expected 3"),
        ("1,2,3,4", "line 3.*4 fields, expected 3"),
        ("1,-2,1", "line 3.*field 2, a node, is -2"),
        ("1,2.5,1", r"line 3.*field 2, a node, is 2\.5"),
        ("nan,2,1", "line 3.*field 1, a node, is nan"),
        ("1,9999999999999999999999,1", "line 3.*field 2, a node, is 9999"),
        ("1,2,inf", "line 3.*field 3, 'inf', is not finite"),
        ("1,2,1_0", "line 3.*field 3, '1_0', is not a number"),
        ("1,two,1", "line 3.*field 2, 'two', is not a number.*named=True"),
    ],
)
def test_faults_have_their_line(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"# a comment\n0,1,1\n{row}\n0,2,1\n")
    with pytest.raises(DataError, match=message) as raised:
        read_edges(path)
    assert raised.value.hint


def test_too_many_edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_rows, "MAX_ENTRIES", 3)
    (tmp_path / "e.csv").write_text("0,1\n" * 4)
    with pytest.raises(DataError, match="more than 3 edges"):
        read_edges(tmp_path / "e.csv")
