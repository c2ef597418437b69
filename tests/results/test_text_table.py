"""Tables as text."""

from __future__ import annotations

from engine.results.estimate import Estimate, RegionTotals
from engine.results.text_table import Align, Column, text_table


def test_columns_are_as_wide_as_their_cells() -> None:
    columns = [Column("name", align=Align.LEFT), Column("n")]
    assert text_table(columns, [("a", "1,000"), ("longer", "2")]) == [
        "name        n",
        "a       1,000",
        "longer      2",
    ]
    assert text_table(columns, []) == ["name  n"]
    assert text_table(columns, [("a", "")], indent="  ", header=False) == ["  a"]


def test_fixed_columns_push_what_is_too_long_aside() -> None:
    columns = [Column("n", 3), Column("m", 3)]
    assert text_table(columns, [("12345", "6"), ("1", "2")], gap=" ") == [
        "  n   m",
        "12345   6",
        "  1   2",
    ]


def test_an_estimate_prints_its_totals() -> None:
    made = Estimate((RegionTotals("T", 10.4, 1234.0, 5.0), RegionTotals("H", 1.0, 1.0, 1.0)))
    assert (made.cycles, made.flops, made.bytes) == (11.4, 1235.0, 6.0)
    assert str(made).splitlines() == [
        "region                           cycles          FLOPs          bytes",
        "T                                    10          1,234              5",
        "H                                     1              1              1",
        "total                                11          1,235              6",
    ]
    assert made.to_dict()["regions"][0] == {
        "name": "T", "cycles": 10.4, "flops": 1234.0, "bytes": 5.0
    }  # fmt: skip
