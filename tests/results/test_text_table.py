"""Tables as text."""

from __future__ import annotations

from fuseloom.results.text_table import Align, TextColumn, text_table


def test_columns_are_as_wide_as_their_cells() -> None:
    columns = [TextColumn("name", align=Align.LEFT), TextColumn("n")]
    assert text_table(columns, [("a", "1,000"), ("longer", "2")]) == [
        "name        n",
        "a       1,000",
        "longer      2",
    ]
    assert text_table(columns, []) == ["name  n"]
    assert text_table(columns, [("a", "")], indent="  ", header=False) == ["  a"]


def test_fixed_columns_push_what_is_too_long_aside() -> None:
    columns = [TextColumn("n", 3), TextColumn("m", 3)]
    assert text_table(columns, [("12345", "6"), ("1", "2")], gap=" ") == [
        "  n   m",
        "12345   6",
        "  1   2",
    ]
