"""Estimated against simulated cycles, for every configuration run so far, here or by others."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import panel as pn
from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
    SaveTool,
    TapTool,
)
from bokeh.plotting import figure

from workbench.desk import Desk, desk_of
from workbench.palette import MARKERS, OKABE_ITO
from workbench.runs_table import RunsTable
from workbench.session import Session
from workbench.views.runs import KEPT

_COLUMNS = (
    "estimated",
    "simulated",
    "name",
    "problem",
    "machine",
    "schedule",
    "check",
    "regions",
    "target",
)
_EMPTY_RANGE = (1e3, 1e6)
HEIGHT = 340


class CostPlot(pn.viewable.Viewer):
    """A log-log plot with the line of perfect estimates, and the table of runs under it."""

    def __init__(self, session: Session | Desk | None = None, **params: Any) -> None:
        self.desk = desk_of(session)
        super().__init__(**params)
        self.desk.want("costs")
        self._shown: Any = None
        self._layout = pn.Column(RunsTable(self.desk), sizing_mode="stretch_width")
        self.desk.param.watch(lambda *_: self.refresh(), "turn")
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @cached_property
    def sources(self) -> dict[str, ColumnDataSource]:
        """The points of each series."""
        sources = {name: ColumnDataSource({c: [] for c in _COLUMNS}) for name in OKABE_ITO}
        for name, source in sources.items():
            source.selected.on_change("indices", partial(self._tapped, name))
        return sources

    def _tapped(self, name: str, attr: str, old: Any, new: list[int]) -> None:
        """Go to the configuration of a point."""
        source = self.sources[name]
        targets = source.data["target"]
        chosen = [targets[k] for k in new if 0 <= k < len(targets)]
        if new:
            source.selected.indices = []  # the same point may be wanted again
        if chosen and name == KEPT:
            self.desk.ask("take_kept", chosen[0])
        elif chosen:
            self.desk.ask("recall", int(chosen[0]))

    @cached_property
    def _plot(self) -> Any:
        """The plot, made when there is something to show: most of a page's time to open."""
        self._range = Range1d(*_EMPTY_RANGE), Range1d(*_EMPTY_RANGE)
        x, y = self._range
        plot = figure(
            x_axis_type="log",
            y_axis_type="log",
            x_range=x,
            y_range=y,
            x_axis_label="estimated cycles (heuristic)",
            y_axis_label="simulated cycles",
            tools=["pan", "wheel_zoom", "box_zoom", "reset", SaveTool(filename="fuseloom-costs")],
            sizing_mode="stretch_width",
            height=HEIGHT,
            output_backend="canvas",
        )
        plot.toolbar.logo = None
        plot.xaxis.formatter = plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]a")
        plot.line(
            [1, 1e15], [1, 1e15], color="#7b8694", line_dash="dashed", legend_label="exact estimate"
        )
        for name, colour in OKABE_ITO.items():
            plot.scatter(
                "estimated",
                "simulated",
                source=self.sources[name],
                marker=MARKERS[name],
                size=13,
                color=colour,
                line_color="white",
                alpha=0.95,
                nonselection_alpha=0.95,
                legend_label=name,
                name=name,
            )
        plot.add_tools(
            HoverTool(
                tooltips=[
                    ("configuration", "@name"),
                    ("model", "@problem"),
                    ("machine", "@machine"),
                    ("regions", "@regions"),
                    ("estimated", "@estimated{0,0} cycles"),
                    ("simulated", "@simulated{0,0} cycles"),
                    ("schedule", "@schedule"),
                    ("check", "@check"),
                ],
                renderers=plot.renderers[1:],
            ),
            TapTool(renderers=plot.renderers[1:]),
        )
        plot.legend.location = "top_left"
        plot.legend.glyph_height = plot.legend.glyph_width = 24
        plot.legend.background_fill_alpha = 0.7
        return plot

    def refresh(self) -> None:
        """Show the runs there are."""
        runs = self.desk.part("costs")
        if runs is None or runs == self._shown:
            return
        self._shown = runs
        if not runs and len(self._layout) == 1:
            return
        if len(self._layout) == 1:
            plot = pn.pane.Bokeh(
                self._plot, sizing_mode="stretch_width", height=HEIGHT, max_width=1000
            )
            self._layout.insert(0, plot)
        rows: dict[str, dict[str, list[Any]]] = {
            name: {c: [] for c in _COLUMNS} for name in OKABE_ITO
        }
        seen: list[float] = []
        for run in runs:
            for column in _COLUMNS:
                rows[run["series"]][column].append(run[column])
            seen += (run["estimated"], run["simulated"])
        for name, source in self.sources.items():
            source.data = rows[name]
        low, high = (min(seen) / 2, max(seen) * 2) if seen else _EMPTY_RANGE
        for item in self._plot.legend[0].items:
            name = item.label.value
            item.visible = name not in rows or bool(rows[name]["name"])
        for axis in self._range:
            axis.update(start=low, end=high)
