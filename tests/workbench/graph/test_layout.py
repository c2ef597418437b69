"""Layout in another process, which survives what goes wrong there."""

from __future__ import annotations

import json
import threading

import pytest

from fuseloom_workbench.base.child import ChildError
from fuseloom_workbench.graph import layout


def test_layout_survives_its_worker():
    dot = "digraph { a -> b [id=e1] }"
    assert "<svg" in layout.draw_elsewhere(dot, "svg")
    layout._layouter._child.end()
    layout.draw_elsewhere.cache_clear()
    assert "<svg" in layout.draw_elsewhere(dot, "svg")


def test_layout_says_what_is_wrong():
    with pytest.raises(ChildError, match="graph layout failed"):
        layout.draw_elsewhere("digraph { a -> ", "svg")
    assert "<svg" in layout.draw_elsewhere("digraph { c }", "svg")


def test_places_are_in_points_from_the_upper_left_corner():
    dot = (
        'digraph { rankdir=LR; node [shape=box, fixedsize=true, width=1, height=0.5, label=""]; '
        'subgraph cluster_0 { id="f"; 0 } 0 -> 1 [id="7"]; 0 -> 1 [id="8"] }'
    )
    found = json.loads(layout.draw_elsewhere(dot, "places"))
    assert set(found) == {"size", "nodes", "lines", "frames"}
    (x0, y0, wide, tall), (x1, y1, *_) = found["nodes"]["0"], found["nodes"]["1"]
    assert (wide, tall) == (72, 36)
    assert x0 < x1
    assert found["lines"].keys() == {"7", "8"}
    assert all(path.startswith("M") and "L" in path for path in found["lines"].values())
    left, top, w, h = found["frames"]["f"]
    assert left <= x0 - 36 < x0 + 36 <= left + w
    assert top <= y0 - 18 < y0 + 18 <= top + h
    assert 0 <= y1 <= found["size"][1]


def test_a_layout_that_takes_long_can_be_ended():
    dots = [f"{k} -> {k * 7 % 1009}; {k} -> {k * 11 % 1013}" for k in range(1500)]
    dot = "digraph { " + "; ".join(dots) + " }"
    failed: list[str] = []

    def draw() -> None:
        try:
            layout.draw_elsewhere(dot, "places")
        except ChildError as end:
            failed.append(str(end))

    drawing = threading.Thread(target=draw)
    drawing.start()
    while drawing.is_alive():
        layout.end(dot)
        drawing.join(0.05)
    assert failed == ["graph layout failed: it was ended"]
    assert json.loads(layout.draw_elsewhere("digraph { c }", "places"))["nodes"]
