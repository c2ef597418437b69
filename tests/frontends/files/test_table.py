"""Tables of numbers: rows with their lines, and every fault with line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files.lines import LineBlock
from fuseloom.frontends.files.table import TableRows, read_rows

PATH = Path("table.txt")


def rows(text: str, **how: object) -> TableRows:
    """The rows of a text in blocks of two lines."""
    lines = text.encode().split(b"\n")
    parts = [LineBlock(k + 1, lines[k : k + 2]) for k in range(0, len(lines), 2)]
    return read_rows(PATH, parts, **how)


def test_blank_lines_and_comments_are_skipped_and_lines_stay_counted() -> None:
    found = rows("# head\n\n1 2\n  # more\n 3\t4 \n")
    assert found.values.tolist() == [[1, 2], [3, 4]]
    assert found.lines.tolist() == [3, 5]
    assert len(found) == 2


def test_delimiters_comments_and_columns() -> None:
    assert rows("1,2\n3, 4", delimiter=b",").values.tolist() == [[1, 2], [3, 4]]
    assert rows("% a\n1\n% b", comment=b"%").values.tolist() == [[1]]
    assert rows("").values.shape == (0, 0)
    assert rows("# nothing", columns=3).values.shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("1 2\n3", 2, "1 field, expected 2"),
        ("1 2\n3 4\n5 6 7", 3, "3 fields, expected 2"),
        ("1 2\n3 x", 2, "field 2, 'x', is not a number"),
        ("1 2\n3 1_0", 2, "field 2, '1_0', is not a number"),
        ("1 2\nnan 4", 2, "field 1, 'nan', is not finite"),
        ("1 2\n3 1e999", 2, "field 2, '1e999', is not finite"),
        ("1 2\n3 é", 2, "is not a number"),
    ],
)
def test_faults_name_line_and_field(text: str, line: int, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        rows(text)
    assert caught.value.line == line
    assert caught.value.source == str(PATH)


def test_rows_have_a_limit() -> None:
    assert len(rows("1\n2\n3", limit=3)) == 3
    with pytest.raises(DataError, match="more than 2 rows"):
        rows("1\n2\n3", limit=2)


def test_whole_numbers_within_limits() -> None:
    found = rows("0 1.5\n7 2\n9 3")
    assert found.integers(0, "row", 0, 9).tolist() == [0, 7, 9]
    with pytest.raises(DataError, match=r"field 1, row, is 9, .* in 0\.\.8") as late:
        found.integers(0, "row", 0, 8)
    assert late.value.line == 3
    with pytest.raises(DataError, match=r"field 2, weight, is 1\.5") as broken:
        found.integers(1, "weight", 0, 9)
    assert broken.value.line == 1
