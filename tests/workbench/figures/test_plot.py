"""Panels of figures as plots."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bokeh.models import Span

from fuseloom.experiments.recipe import Panel, Series
from fuseloom_workbench.figures.plot import has_points, mark, moved, paint, plot_of

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


def test_factors_stand_on_a_line_at_one() -> None:
    """Also on a logarithmic axis, where a bar of 0.5 hangs below it."""
    for log in ("", "y"):
        plot = plot_of(replace(BARS, log=log), lambda label: None)
        (line,) = plot.select({"name": "no change"})
        assert line.location == 1
        assert {drawn.glyph.bottom for drawn in plot.renderers} == {1.0 if log else 0.0}
    counts = replace(BARS, y="cycles", log="y", series=(replace(BARS.series[0], y=(20.0, 300.0)),))
    plot = plot_of(counts, lambda label: None)
    assert not plot.select({"name": "no change"})
    assert plot.renderers[0].glyph.bottom == 10.0  # the power of ten below all bars


def test_every_part_of_a_plot_has_the_colours_of_the_theme() -> None:
    light, dark = (plot_of(BARS, lambda label: None, theme) for theme in ("light", "dark"))
    mark(light, (0.0, 1.0))
    mark(dark, (0.0, 1.0), "dark")
    assert described(light) != described(dark)
    paint(light, "dark")
    assert described(light) == described(dark)


def described(plot) -> list[object]:
    """The colours of a plot's parts."""
    parts = [plot, plot.title, *plot.axis, *plot.grid, *plot.legend, *plot.select({"type": Span})]
    parts += [drawn.glyph for drawn in plot.renderers]
    return [
        (type(part).__name__, name, str(value))
        for part in parts
        for name, value in sorted(part.properties_with_values().items())
        if "color" in name
    ]


def test_a_panel_without_results_has_no_points() -> None:
    assert has_points(BARS)
    assert not has_points(replace(BARS, series=(replace(BARS.series[0], y=(None, None)),)))
    assert not has_points(replace(BARS, series=()))


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
