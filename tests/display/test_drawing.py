"""Drawings: well formed, with words beside them, kept as files at once or not at all."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from fuseloom.display import Drawing, tag
from fuseloom.display.drawing import below, beside


def square(size: float, title: str = "a square") -> Drawing:
    return Drawing(title, "[]", size, size, tag("rect", width=size, height=size))


def test_the_file_is_svg_that_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    square(10, "a <square>").save(path)
    root = ElementTree.fromstring(path.read_text("utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label") == "a <square>"
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]


def test_what_was_there_stays_where_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.mkdir()
    with pytest.raises(OSError, match=r"a\.svg"):
        square(10).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]


def test_several_are_one() -> None:
    row, column = beside(square(10), square(20)), below(square(10), square(20))
    assert (row.width, row.height) == (54, 20)
    assert (column.width, column.height) == (20, 48)
    assert str(row) == str(column) == "[]\n\n[]"
    assert beside().width == 0


def test_it_is_shown_without_a_second_name_space() -> None:
    assert "<svg" in square(5)._repr_html_()
    assert str(square(5)) == "[]"
