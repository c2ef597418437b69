"""Panels of figures as plots."""

from __future__ import annotations

import pytest

from fuseloom.experiments.recipe import Panel, Series
from fuseloom_workbench.figures.plot import mark, moved, plot_of

BARS = Panel(
    "bars", "bars",
    (Series("ours", ("a", "b"), (2.0, None), "ours", ("one", "two")),
     Series("paper", ("a", "b"), (3.0, 4.0), "paper")),
    y="speed-up over unfused",
)  # fmt: skip
LINES = Panel("lines", "lines", (Series("ours", (1, 2), (1.0, 2.0), "ours", ("1", "2")),), log="xy")


def test_bars_stand_beside_each_other() -> None:
    plot = plot_of(BARS, lambda label: None)
    ours, paper = plot.renderers
    assert ours.data_source.data["x"] == [pytest.approx(-0.2)]
    assert paper.data_source.data["x"] == [pytest.approx(0.2), pytest.approx(1.2)]
    assert plot.xaxis[0].major_label_overrides == {0: "a", 1: "b"}


def test_points_of_ours_can_be_chosen() -> None:
    chosen: list[str] = []
    plot = plot_of(LINES, chosen.append)
    source = plot.renderers[0].data_source
    source.selected.indices = [1]
    source.selected.indices = []
    assert chosen == ["2"]


def test_a_point_moves_with_its_cycles() -> None:
    assert moved(BARS, "one", 2.0) == (pytest.approx(-0.2), 1.0)
    assert moved(BARS, "two", 2.0) is None
    assert moved(BARS, "three", 2.0) is None
    assert moved(LINES, "1", 2.0) is None
    plot = plot_of(BARS, lambda label: None)
    first = mark(plot, (0.0, 1.0))
    assert mark(plot, (0.0, 2.0)) is first
    assert first.data_source.data["y"] == [2.0]
