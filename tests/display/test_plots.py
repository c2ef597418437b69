"""Points and lines between axes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from fuseloom.display import PlotLine, PlotMark, plot
from fuseloom.display.plots import number

ROOF = PlotLine(((0.1, 1.0), (10.0, 100.0)), "roof", broken=True)


def centres(svg: str) -> list[tuple[float, float]]:
    root = ElementTree.fromstring(svg)
    found = root.iter("{http://www.w3.org/2000/svg}circle")
    return [(float(e.attrib["cx"]), float(e.attrib["cy"])) for e in found]


@pytest.mark.parametrize("log", [False, True])
def test_points_lie_as_their_numbers_do(log: bool) -> None:
    marks = [PlotMark(1, 2, "<a>"), PlotMark(10, 20, "b"), PlotMark(100, 200, "c")]
    made = plot(marks, [ROOF], x="x", y="y", title="a title", log=log)
    (ax, ay), (bx, by), (cx, cy) = centres(made.svg)
    assert ax < bx < cx
    assert ay > by > cy  # more is further up
    steps = (cx - bx) / (bx - ax)
    assert steps == pytest.approx(1.0 if log else 10.0, rel=0.01)
    assert "&lt;a&gt;" in made.svg
    assert "stroke-dasharray" in made.svg
    assert "roof" in str(made)


def test_names_do_not_cover_each_other() -> None:
    made = plot([PlotMark(1, 1, "one"), PlotMark(1, 1, "two")], x="x", y="y", title="t")
    places = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="\w+">(?:one|two)<', made.svg)
    assert len(set(places)) == 2


def test_odd_data_are_drawn() -> None:
    for marks in ([], [PlotMark(0, 0)], [PlotMark(-5, 3), PlotMark(-5, 3)]):
        ElementTree.fromstring(plot(marks, x="x", y="y", title="t").svg)
    ElementTree.fromstring(plot([PlotMark(5, 5)], x="x", y="y", title="t", log=True).svg)


def test_axes_have_round_numbers() -> None:
    svg = plot([PlotMark(97, 3)], x="x", y="y", title="t").svg
    assert {"0", "20", "40", "60", "80", "100"} <= set(re.findall(r">([\d.,]+)</text>", svg))
    svg = plot([PlotMark(1, 1), PlotMark(99, 40)], x="x", y="y", title="t", log=True).svg
    assert {"1", "2", "5", "10", "20", "50", "100"} <= set(re.findall(r">([\d.,]+)</text>", svg))
    assert number(-0.5) == "-0.5"
