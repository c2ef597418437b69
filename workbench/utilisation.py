"""What every node of the region shown did over time, as a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    FactorRange,
    HoverTool,
    LinearColorMapper,
    NumeralTickFormatter,
    Range1d,
    SaveTool,
)
from bokeh.plotting import figure

from workbench.assets import style
from workbench.desk import Desk, desk_of
from workbench.look import ACTIVITIES
from workbench.session import Session

ROW = 15
"""Height of a node's row, in pixels."""
_COLUMNS = ("x", "width", "node", "share", "cycles", "from", "to")
_RAMP = [f"#d9480f{round(255 * t):02x}" for t in np.linspace(0, 1, 64)]
"""From nothing to orange-red, on the ground of either theme."""


class Utilisation(pn.viewable.Viewer):
    """A row per node, a column per bin of time; the colour is the share of the bin's cycles."""

    def __init__(self, session: Session | Desk | None = None, **params: Any) -> None:
        self.desk = desk_of(session)
        super().__init__(**params)
        self.desk.want("timeline")
        self._shown: Any = None
        self._note = pn.pane.HTML(
            "", stylesheets=[style("memory_panel")], sizing_mode="stretch_width", margin=0
        )
        self._layout = pn.Column(self._note, sizing_mode="stretch_width", margin=0)
        self.desk.param.watch(lambda *_: self.refresh(), "turn")
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @cached_property
    def source(self) -> ColumnDataSource:
        return ColumnDataSource({name: [] for name in _COLUMNS})

    @cached_property
    def choice(self) -> pmui.RadioButtonGroup:
        """What of a node's time is shown."""
        choice = pmui.RadioButtonGroup(
            label="Activity",
            size="small",
            options={text: key for key, text in ACTIVITIES.items()},
            value="busy",
            margin=(0, 0, 6, 0),
            sizing_mode="stretch_width",
            max_width=900,
        )
        choice.param.watch(lambda event: self.desk.ask("look_at", event.new), "value")
        return choice

    @cached_property
    def _pane(self) -> pn.pane.Bokeh:
        return pn.pane.Bokeh(self._plot, sizing_mode="stretch_width")

    @cached_property
    def _plot(self) -> Any:
        """The plot, made when there is something to show: most of a page's time to open."""
        self._x, self._y = Range1d(0, 1), FactorRange()
        plot = figure(
            x_range=self._x,
            y_range=self._y,
            x_axis_label="cycle of the region's run",
            tools=["xpan", "xwheel_zoom", "reset", SaveTool(filename="fuseloom-utilisation")],
            active_scroll=None,
            sizing_mode="stretch_width",
            height=200,
            output_backend="canvas",
        )
        mapper = LinearColorMapper(palette=_RAMP, low=0, high=1)
        plot.rect(
            "x",
            "node",
            width="width",
            height=0.94,
            source=self.source,
            fill_color={"field": "share", "transform": mapper},
            line_color=None,
        )
        plot.add_tools(
            HoverTool(
                tooltips=[
                    ("node", "@node"),
                    ("cycles", "@from{0,0} to @to{0,0}"),
                    ("spent", "@cycles{0,0} cycles (@share{0 %})"),
                ]
            )
        )
        plot.add_layout(
            ColorBar(
                color_mapper=mapper,
                title="of the bin",
                formatter=NumeralTickFormatter(format="0 %"),
                width=12,
            ),
            "right",
        )
        plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
        plot.toolbar.logo = None
        plot.grid.visible = False
        plot.yaxis.major_label_text_font_size = "10px"
        return plot

    def refresh(self) -> None:
        """Show the region's run, if there is one."""
        view = self.desk.part("timeline")
        if view is None or view is self._shown:
            return
        self._shown = view
        there = "names" in view
        self._note.object = view["note"]
        if there and len(self._layout) == 1:
            self._layout.extend([self.choice, self._pane])
        for part in self._layout[1:]:
            part.visible = there
        if not there:
            return
        total = max(view["total"], 1)
        self._y.factors = list(reversed(view["names"]))
        self._x.update(start=0, end=total, bounds=(0, total))
        self._plot.height = 90 + ROW * len(view["names"])
        self.source.data = rectangles(view)


def rectangles(view: Mapping[str, Any]) -> dict[str, Any]:
    """One rectangle per node and bin of time."""
    cycles = np.asarray(view["cycles"], dtype=float)
    names, width = view["names"], view["width"]
    start = np.arange(cycles.shape[1]) * width
    stop = np.minimum(start + width, max(view["total"], 1))
    start, stop = start[start < stop], stop[start < stop]
    cycles = cycles[:, : len(start)]
    number = len(names)
    return {
        "x": np.tile((start + stop) / 2, number),
        "width": np.tile(stop - start, number),
        "node": np.repeat(names, len(start)),
        "share": (cycles / (stop - start)).ravel(),
        "cycles": cycles.ravel(),
        "from": np.tile(start, number),
        "to": np.tile(stop, number),
    }
