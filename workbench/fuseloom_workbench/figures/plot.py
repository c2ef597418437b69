"""A panel of a figure as a Bokeh plot: ours beside the paper's, each point of ours to be chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bokeh.models import ColumnDataSource, HoverTool, Range1d, TapTool
from bokeh.plotting import figure

from fuseloom.experiments.recipe import Panel, Series

HEIGHT = 320
OURS = ("#0072B2", "#009E73", "#CC79A7", "#D55E00")
PAPER = ("#8fb8d8", "#8fcdb4", "#e0b6cf", "#e8b08a")
MARKERS = ("circle", "square", "diamond", "triangle")
YOURS = "#E69F00"
Choose = Callable[[str], None]


def plot_of(panel: Panel, choose: Choose) -> Any:
    """The plot of a panel that is no text.

    Parameters
    ----------
    choose : callable
        Called with the label of a point of ours that is clicked.
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
    if panel.kind == "lines" and "x" in panel.log:
        plot.xaxis.ticker = names
    plot.add_tools(HoverTool(tooltips=[("", "@name"), ("x", "@shown"), ("y", "@y{0,0.[0000]}"),
                                       ("point", "@label")]))  # fmt: skip
    if plot.legend:
        plot.legend.click_policy = "hide"
        plot.legend.background_fill_alpha = 0.6
        plot.legend.label_text_font_size = "11px"
        plot.add_layout(plot.legend[0], "below")
        plot.legend.orientation = "horizontal"
        plot.legend.ncols = 2
    tap = plot.select_one(TapTool)
    if tap is not None:
        plot.toolbar.active_tap = tap
    return plot


def _names(panel: Panel) -> list[Any]:
    return list(panel.series[0].x) if panel.series else []


def _add(
    plot: Any, panel: Panel, series: Series, number: int, names: Sequence[Any], choose: Choose
) -> None:
    whose = [s for s in panel.series if s.whose == series.whose]
    place = whose.index(series)
    colour = (PAPER if series.whose == "paper" else OURS)[place % len(OURS)]
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
    given = {"source": source, "color": colour, "legend_label": series.name}
    if panel.kind == "bars":
        width = 0.8 / len(panel.series)
        plot.vbar("x", width, "y", 0.001 if "y" in panel.log else 0, **given)
    else:
        if panel.kind == "lines":
            dash = "dashed" if series.whose == "paper" else "solid"
            plot.line("x", "y", line_dash=dash, **given)
        marker = "x" if series.whose == "paper" else MARKERS[place % len(MARKERS)]
        plot.scatter("x", "y", marker=marker, size=10, **given)
    if series.labels:

        def clicked(attribute: str, old: list[int], new: list[int]) -> None:
            if new:
                choose(found[new[0]])

        source.selected.on_change("indices", clicked)


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
    if not panel.y.startswith("speed-up"):
        return None
    for number, series in enumerate(panel.series):
        for k, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            if series.labels[k : k + 1] == (label,) and y is not None:
                return place_of(panel, number, k, x), y / factor
    return None


def mark(plot: Any, at: tuple[Any, float]) -> Any:
    """Draw the visitor's own point, in place of an earlier one."""
    found = plot.select_one({"name": "yours"})
    if found is None:
        return plot.scatter(
            [at[0]], [at[1]], marker="star", size=18, color=YOURS, line_color="black",
            name="yours", legend_label="yours",
        )  # fmt: skip
    found.data_source.data = {"x": [at[0]], "y": [at[1]]}
    return found
