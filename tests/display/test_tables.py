"""Tables of HTML: heads, figures, and what is left out."""

from __future__ import annotations

from xml.etree import ElementTree

from fuseloom.display import bar, table, tag
from fuseloom.display.tables import ROWS, WIDE


def test_a_table_is_well_formed_and_escaped() -> None:
    made = table(["<a>", "n"], [["<b>", "1"], [tag("code", "c"), "2"]], figures=[1], foot=["", "3"])
    root = ElementTree.fromstring(made)
    assert [e.text for e in root.iter("th")][:3] == ["<a>", "n", "<b>"]
    assert [e.get("class") for e in root.iter("td")] == ["figure"] * 3
    assert root.find("tfoot") is not None


def test_long_tables_say_what_they_leave_out() -> None:
    made = table(["n"], [[str(k)] for k in range(ROWS + 2)])
    assert made.count("<tr>") == ROWS + 2  # with the head and the last line
    assert "… and 2 more rows" in made
    assert "more row<" in table(["n"], [["1"], ["2"]], limit=1)


def test_bars_are_seen_and_no_longer_than_the_longest() -> None:
    assert "width:1px" in bar(0.0, "none")
    assert f"width:{WIDE}px" in bar(7.0, "all")
    assert bar(1.0, "<5>").endswith(" &lt;5&gt;")
