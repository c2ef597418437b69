"""Bars: as long as their amounts, with numbers, the least one marked."""

from __future__ import annotations

from xml.etree import ElementTree

from fuseloom.display.bars import LENGTH, bars


def widths(drawing) -> list[float]:
    root = ElementTree.fromstring(drawing.svg)
    return [float(box.get("width", 0)) for box in root.iter("{http://www.w3.org/2000/svg}rect")]


def test_bars_are_as_long_as_their_amounts() -> None:
    assert widths(bars({"a": 200, "b": 100, "c": 0})) == [LENGTH, LENGTH / 2, 1.5]


def test_the_number_and_the_unit_are_there_in_letters() -> None:
    drawing = bars({"one <way>": 1234567.0, "another": 5}, "cycles")
    assert str(drawing) == "cycles\none <way>  1,234,567\nanother            5"
    assert drawing.title == "one <way>: 1,234,567 cycles; another: 5 cycles"
    assert ">1,234,567</text>" in drawing.svg
    assert "one &lt;way&gt;" in drawing.svg


def test_the_least_is_marked_unless_there_is_nothing_to_choose() -> None:
    assert bars({"a": 2, "b": 1, "c": 1}).svg.count('class="values"') == 2
    assert bars({"a": 2, "b": 1}, best=False).svg.count('class="values"') == 0
    assert bars({"a": 2, "b": 2}).svg.count('class="values"') == 0
    assert bars({"a": 2}).svg.count('class="values"') == 0


def test_nothing_and_nothing_but_zero() -> None:
    assert bars({}).title == "no amounts"
    assert widths(bars({"a": 0})) == [1.5]
