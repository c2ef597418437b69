"""What every node of the region shown did over time, as a heat map."""

from __future__ import annotations

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

from engine.results.record import RegionRecord
from workbench.assets import style
from workbench.quantities import count
from workbench.session import Session

ACTIVITIES = {
    "busy": "busy",
    "stall_input": "waiting for input",
    "stall_output": "waiting for space",
    "stall_memory": "waiting for memory",
    "idle": "idle after its end",
}
ROW = 15
"""Height of a node's row, in pixels."""
NOTHING = (
    "<p class='quiet'>No run of this configuration yet. Press Run to see what each node does.</p>"
)
_COLUMNS = ("x", "width", "node", "share", "cycles", "from", "to")
_RAMP = [f"#d9480f{round(255 * t):02x}" for t in np.linspace(0, 1, 64)]
"""From nothing to orange-red, on the ground of either theme."""


class Utilisation(pn.viewable.Viewer):
    """A row per node, a column per bin of time; the colour is the share of the bin's cycles."""

    def __init__(self, session: Session | None = None, **params: Any) -> None:
        self.session = session if session is not None else Session()
        super().__init__(**params)
        self.source = ColumnDataSource({name: [] for name in _COLUMNS})
        self._note = pn.pane.HTML(
            "", stylesheets=[style("memory_panel")], sizing_mode="stretch_width", margin=0
        )
        self.choice = pmui.RadioButtonGroup(
            label="Activity",
            size="small",
            options={text: key for key, text in ACTIVITIES.items()},
            value="busy",
            margin=(0, 0, 6, 0),
            sizing_mode="stretch_width",
            max_width=900,
        )
        self._x, self._y = Range1d(0, 1), FactorRange()
        self._plot = self._figure()
        self._pane = pn.pane.Bokeh(self._plot, sizing_mode="stretch_width")
        self._layout = pn.Column(
            self._note, self.choice, self._pane, sizing_mode="stretch_width", margin=0
        )
        self.session.param.watch(lambda *_: self.refresh(), ["answers", "region", "records"])
        self.choice.param.watch(lambda *_: self.refresh(), "value")
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _figure(self) -> Any:
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

    @property
    def region(self) -> RegionRecord | None:
        """The run of the region shown."""
        record = self.session.record
        return record.run.regions[self.session.region] if record else None

    def refresh(self) -> None:
        """Show the region's run, if there is one."""
        region = self.region
        there = region is not None and region.timeline is not None
        self._pane.visible = self.choice.visible = there
        if region is None or region.timeline is None:
            self._note.object = NOTHING
            return
        names, rows = self._rows(region)
        width = region.timeline["width"]
        ports = sum(row["owner"] != row["node"] for row in region.rows.values())
        self._note.object = (
            f"<p class='quiet'>{count(len(names) - ports, 'nodes')} in the order of the graph"
            + (f", then {count(ports, 'memory ports')}" if ports else "")
            + f"; each bin is {width:,} of {count(region.cycles, 'cycles')}.</p>"
        )
        self._y.factors = list(reversed(names))
        self._x.update(start=0, end=max(region.cycles, 1), bounds=(0, max(region.cycles, 1)))
        self._plot.height = 90 + ROW * len(names)
        self.source.data = rows

    def _rows(self, region: RegionRecord) -> tuple[list[str], dict[str, Any]]:
        """Names of the nodes, each once, and one rectangle per node and bin."""
        cycles = np.asarray(region.timeline["cycles"][self.choice.value], dtype=float)
        names = [f"{row['label']} · {number}" for number, row in region.rows.items()]
        width = region.timeline["width"]
        start = np.arange(cycles.shape[1]) * width
        stop = np.minimum(start + width, max(region.cycles, 1))
        start, stop = start[start < stop], stop[start < stop]
        cycles = cycles[:, : len(start)]
        number = len(names)
        rows = {
            "x": np.tile((start + stop) / 2, number),
            "width": np.tile(stop - start, number),
            "node": np.repeat(names, len(start)),
            "share": (cycles / (stop - start)).ravel(),
            "cycles": cycles.ravel(),
            "from": np.tile(start, number),
            "to": np.tile(stop, number),
        }
        return names, rows
