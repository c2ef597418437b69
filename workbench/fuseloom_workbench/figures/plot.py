"""A panel of a figure as a Bokeh plot: ours beside the paper's, each point of ours to be chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from bokeh.models import ColumnDataSource, HoverTool, Range1d, Span, TapTool
from bokeh.plotting import figure

from fuseloom.experiments.recipe import Panel, Series
from fuseloom_workbench.base.tokens import tokens

HEIGHT = 300
SERIES = ("run-partial", "run-full", "run-other", "run-unfused")
"""Colours of series by place; what the paper printed is paler, in the same ones."""
YOURS = "run-own"
MARKERS = ("circle", "square", "diamond", "triangle")
PALE = 0.35
FONT = 'Roboto, system-ui, "DejaVu Sans", sans-serif'
Choose = Callable[[str], None]


def is_relative(panel: Panel) -> bool:
    """Return whether a panel shows factors, of which 1 means no change."""
    return panel.y.startswith("speed-up")


def has_points(panel: Panel) -> bool:
    """Return whether there is anything to draw."""
    return any(y is not None for series in panel.series for y in series.y)


def plot_of(panel: Panel, choose: Choose, theme: str = "light") -> Any:
    """The plot of a panel that is no text.

    Where it shows factors there is a line at 1; bars of factors on a logarithmic axis begin there.

    Parameters
    ----------
    choose : callable
        Called with the label of a point of ours that is clicked.
    theme : str
        ``light`` or ``dark``, as for :func:`paint`.
    """
    logarithmic = {"x_axis_type": "log" if "x" in panel.log else "linear",
                   "y_axis_type": "log" if "y" in panel.log else "linear"}  # fmt: skip
    plot = figure(
        title=panel.title,
        height=HEIGHT,
        sizing_mode="stretch_width",
        x_axis_label=panel.x,
        y_axis_label=panel.y,
        tools=["tap", "reset", "save"],
        output_backend="canvas",
        **logarithmic,
    )
    plot.toolbar.logo = None
    names = _names(panel)
    for number, series in enumerate(panel.series):
        _add(plot, panel, series, number, names, choose)
    if panel.kind == "bars":
        plot.xaxis.ticker = [*range(len(names))]
        plot.xaxis.major_label_overrides = {k: str(name) for k, name in enumerate(names)}
        plot.x_range = Range1d(-0.6, len(names) - 0.4)
        if len(names) > 6:
            plot.xaxis.major_label_orientation = 0.8
        if "y" not in panel.log:
            plot.y_range.start = 0
    if is_relative(panel):
        plot.add_layout(Span(location=1, dimension="width", line_width=1.5, name="no change"))
    if panel.kind == "lines" and "x" in panel.log:
        plot.xaxis.ticker = names
    plot.add_tools(HoverTool(tooltips=[("", "@name"), ("x", "@shown"), ("y", "@y{0,0.[0000]}"),
                                       ("point", "@label")]))  # fmt: skip
    if plot.legend:
        plot.legend.click_policy = "hide"
        plot.add_layout(plot.legend[0], "above")
        plot.legend.orientation = "horizontal"
        plot.legend.ncols = min(len(panel.series), 3)
        plot.legend.update(background_fill_alpha=0, border_line_color=None, padding=0, margin=4)
    tap = plot.select_one(TapTool)
    if tap is not None:
        plot.toolbar.active_tap = tap
    paint(plot, theme)
    return plot


def paint(plot: Any, theme: str) -> None:
    """Draw a plot in the colours of the workbench.

    Parameters
    ----------
    theme : str
        ``light`` or ``dark``.
    """
    colour = tokens(theme)
    plot.update(
        background_fill_color=colour["pane"],
        border_fill_color=colour["pane"],
        outline_line_color=None,
    )
    plot.title.update(text_color=colour["ink"], text_font=FONT, text_font_size="13px")
    for axis in plot.axis:
        axis.update(
            axis_line_color=colour["line2"],
            major_tick_line_color=colour["line2"],
            minor_tick_line_color=None,
            major_label_text_color=colour["ink2"],
            major_label_text_font=FONT,
            axis_label_text_color=colour["ink2"],
            axis_label_text_font=FONT,
            axis_label_text_font_style="normal",
        )
    for grid in plot.grid:
        grid.grid_line_color = colour["line"]
    for legend in plot.legend:
        legend.update(
            label_text_color=colour["ink"], label_text_font=FONT, label_text_font_size="12px"
        )
    for span in plot.select({"name": "no change"}):
        span.line_color = colour["ink3"]
    for drawn in plot.renderers:
        if drawn.glyph.tags:
            mine = colour[drawn.glyph.tags[0]]
            drawn.glyph.line_color = mine
            if hasattr(drawn.glyph, "fill_color"):
                drawn.glyph.fill_color = mine


def _names(panel: Panel) -> list[Any]:
    return list(panel.series[0].x) if panel.series else []


def _add(
    plot: Any, panel: Panel, series: Series, number: int, names: Sequence[Any], choose: Choose
) -> None:
    whose = [s for s in panel.series if s.whose == series.whose]
    place = whose.index(series)
    colour, published = SERIES[place % len(SERIES)], series.whose == "paper"
    labels = series.labels or tuple("" for _ in series.x)
    rows = [
        (place_of(panel, number, k, x), y, str(x), label)
        for k, (x, y, label) in enumerate(zip(series.x, series.y, labels, strict=True))
        if x is not None and y is not None
    ]
    if not rows:
        return
    xs, ys, shown, found = (list(column) for column in zip(*rows, strict=True))
    source = ColumnDataSource(
        {"x": xs, "y": ys, "shown": shown, "label": found, "name": [series.name] * len(xs)}
    )
    given = {"source": source, "legend_label": series.name, "tags": [colour]}
    filled = {"fill_alpha": PALE if published else 1.0, **given}
    if panel.kind == "bars":
        plot.vbar("x", 0.8 / len(panel.series), "y", _foot(panel), **filled)
    else:
        if panel.kind == "lines":
            plot.line("x", "y", line_dash="dashed" if published else "solid", **given)
        marker = "x" if published else MARKERS[place % len(MARKERS)]
        plot.scatter("x", "y", marker=marker, size=10, **filled)
    if series.labels:

        def clicked(attribute: str, old: list[int], new: list[int]) -> None:
            if new:
                choose(found[new[0]])

        source.selected.on_change("indices", clicked)


def _foot(panel: Panel) -> float:
    """The position at which bars begin."""
    if "y" not in panel.log:
        return 0.0
    if is_relative(panel):
        return 1.0
    least = min((y for series in panel.series for y in series.y if y), default=1.0)
    return float(10.0 ** (math.ceil(math.log10(least)) - 1))


def place_of(panel: Panel, number: int, k: int, x: Any) -> Any:
    """Return the position of a point of a series: bars are side by side."""
    if panel.kind != "bars":
        return x
    width = 0.8 / len(panel.series)
    return k - 0.4 + (number + 0.5) * width


def moved(panel: Panel, label: str, factor: float) -> tuple[Any, float] | None:
    """Return the new position of a point when its cycles change by a factor.

    None where the panel does not have it, or its numbers do not follow from cycles alone.
    """
    if not is_relative(panel):
        return None
    for number, series in enumerate(panel.series):
        for k, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            if series.labels[k : k + 1] == (label,) and y is not None:
                return place_of(panel, number, k, x), y / factor
    return None


def mark(plot: Any, at: tuple[Any, float], theme: str = "light") -> Any:
    """Draw the visitor's own point, in place of an earlier one."""
    found = plot.select_one({"name": "yours"})
    if found is None:
        found = plot.scatter(
            [at[0]], [at[1]], marker="star", size=18,
            name="yours", legend_label="yours", tags=[YOURS],
        )  # fmt: skip
        paint(plot, theme)
    else:
        found.data_source.data = {"x": [at[0]], "y": [at[1]]}
    return found
