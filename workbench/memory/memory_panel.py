"""What the machine's memory did in the run of the region shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import (
    ColumnDataSource,
    FactorRange,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
    SaveTool,
    Span,
)
from bokeh.plotting import figure

from workbench.base.assets import style
from workbench.base.desk import Desk, desk_of
from workbench.base.help import marked
from workbench.base.quantities import count
from workbench.state.session import Session

NO_RUN = "<p class='quiet'>Not measured in this configuration yet. Press Run to measure it.</p>"
NO_MEMORY = (
    "<p class='quiet'>This machine has no memory: every word comes at once. Choose hbm2 or ddr4 "
    "as the machine, on the left, then run.</p>"
)
HEIGHT = 230
GIGA = 1e9
_READS, _WRITES = "#0072B2", "#D55E00"


class MemoryPanel(pn.viewable.Viewer):
    """Figures of the memory, its latencies and the bandwidth of its channels."""

    def __init__(self, session: Session | Desk | None = None, **params: Any) -> None:
        self.desk = desk_of(session)
        super().__init__(**params)
        self.desk.want("memory")
        self._shown: Any = None
        self._text = pn.pane.HTML(
            "", stylesheets=[style("memory/memory_panel")], sizing_mode="stretch_width", margin=0
        )
        self._layout = pn.Column(self._text, sizing_mode="stretch_width", margin=0)
        self.desk.param.watch(lambda *_: self.refresh(), "turn")
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @cached_property
    def _plots(self) -> pn.Row:
        """The plots, made when there is something to show: most of a page's time to open."""
        self.latencies = ColumnDataSource({"bin": [], "reads": [], "writes": []})
        self.channels = ColumnDataSource({"channel": [], "rate": [], "share": [], "hits": []})
        self._bins, self._numbers = FactorRange(), FactorRange()
        self._counts, self._rates = Range1d(0, 1), Range1d(0, 1)
        self._peak = Span(
            location=0, dimension="width", line_dash="dashed", line_color="#7b8694", line_width=2
        )
        return pn.Row(
            *(
                pn.Column(
                    pn.pane.Bokeh(plot, height=HEIGHT, sizing_mode="stretch_width"),
                    sizing_mode="stretch_width",
                    styles={"flex": "1 1 400px", "min-width": "0"},
                )
                for plot in (self._latency_plot(), self._rate_plot())
            ),
            sizing_mode="stretch_width",
            styles={"gap": "12px", "flex-wrap": "wrap"},
        )

    def _latency_plot(self) -> Any:
        plot = figure(
            title="Latency of requests",
            x_range=self._bins,
            y_range=self._counts,
            x_axis_label="machine cycles from request to answer",
            y_axis_label="requests",
            tools=[SaveTool(filename="fuseloom-latency")],
            height=HEIGHT,
            sizing_mode="stretch_width",
        )
        plot.vbar_stack(
            ["reads", "writes"],
            x="bin",
            width=0.85,
            source=self.latencies,
            color=[_READS, _WRITES],
            legend_label=["reads", "writes"],
        )
        plot.add_tools(
            HoverTool(
                tooltips=[
                    ("cycles", "@bin"),
                    ("reads", "@reads{0,0} requests"),
                    ("writes", "@writes{0,0} requests"),
                ]
            )
        )
        plot.legend.background_fill_alpha = 0.6
        return _plain(plot)

    def _rate_plot(self) -> Any:
        plot = figure(
            title="Bandwidth by channel",
            x_range=self._numbers,
            y_range=self._rates,
            x_axis_label="channel",
            y_axis_label="GB/s",
            tools=[SaveTool(filename="fuseloom-bandwidth")],
            height=HEIGHT,
            sizing_mode="stretch_width",
        )
        plot.vbar(x="channel", top="rate", width=0.8, source=self.channels, color="#009E73")
        plot.add_layout(self._peak)
        plot.add_tools(
            HoverTool(
                tooltips=[
                    ("channel", "@channel"),
                    ("bandwidth", "@rate{0.00} GB/s (@share{0.0 %} of the peak)"),
                    ("row hits", "@hits{0.0 %} of the accesses"),
                ]
            )
        )
        self._title = plot.title
        return _plain(plot)

    def refresh(self) -> None:
        """Show the region's run, if there is one and its machine has a memory."""
        view = self.desk.part("memory")
        if view is None or view is self._shown:
            return
        self._shown = view
        memory = view["memory"]
        if memory is not None and len(self._layout) == 1:
            self._layout.append(self._plots)
        for part in self._layout[1:]:
            part.visible = memory is not None
        if memory is None:
            self._text.object = NO_RUN if view["there"] else NO_MEMORY
            return
        self._text.object = memory_html(view["region"], memory)
        histograms = memory["read_histogram"], memory["write_histogram"]
        bins = max(map(len, histograms))
        names = [f"{1 << k:,}–{(2 << k) - 1:,}" if k else "1" for k in range(bins)]
        reads, writes = ([*h, *[0] * (bins - len(h))] for h in histograms)
        used = [k for k in range(bins) if reads[k] or writes[k]]
        kept = range(min(used, default=0), bins)
        most = max((r + w for r, w in zip(reads, writes, strict=True)), default=0)
        self._counts.end = 1.1 * max(most, 1)
        self._bins.factors = [names[k] for k in kept]
        self.latencies.data = {
            "bin": [names[k] for k in kept],
            "reads": [reads[k] for k in kept],
            "writes": [writes[k] for k in kept],
        }
        channels = memory["channels"]
        peak = (memory["peak"] or np.inf) / GIGA / max(len(channels), 1)
        self._numbers.factors = [str(k) for k in range(len(channels))]
        limited = bool(np.isfinite(peak))
        self._peak.update(location=peak if limited else 0, visible=limited)
        each = f"peak {peak:,.1f} GB/s each" if limited else "no limit"
        self._title.text = f"Bandwidth by channel ({each})"
        fastest = max((c["bandwidth"] / GIGA for c in channels), default=0.0)
        # a peak far above all bars would leave nothing to see of them
        self._rates.end = 1.15 * max(fastest, 1e-9)
        self.channels.data = {
            "channel": [str(k) for k in range(len(channels))],
            "rate": [c["bandwidth"] / GIGA for c in channels],
            "share": [c["share"] for c in channels],
            "hits": [
                c["hits"] / max(1, c["hits"] + c["misses"] + c["conflicts"]) for c in channels
            ],
        }


def _plain(plot: Any) -> Any:
    plot.toolbar.logo = None
    plot.xgrid.visible = False
    plot.yaxis.formatter = NumeralTickFormatter(format="0,0.[00]")
    if plot.legend:
        plot.legend.label_text_font_size = "12px"
        plot.legend.location = "top_right"
    return plot


def memory_html(region: str, memory: Mapping[str, Any]) -> str:
    """The figures of a memory, with units."""
    limited = memory["peak"] is not None
    rows = any(c["hits"] + c["misses"] + c["conflicts"] for c in memory["channels"])
    peak = f"{memory['peak'] / GIGA:,.1f} GB/s" if limited else "no limit"
    figures = [
        ("memory.bandwidth", "achieved bandwidth", f"{memory['bandwidth'] / GIGA:,.2f} GB/s"),
        (
            "memory.bandwidth",
            "share of the peak",
            f"{memory['share']:.1%} of {peak}" if limited else peak,
        ),
        (
            "memory.hits",
            "row hits",
            f"{memory['hit_rate']:.1%} of the accesses" if rows else "it has no rows",
        ),
        ("memory.latency", "mean read latency", f"{memory['read_latency']:,.1f} cycles"),
        ("memory.latency", "mean write latency", f"{memory['write_latency']:,.1f} cycles"),
        ("memory.requests", "requests", f"{memory['reads']:,} reads, {memory['writes']:,} writes"),
        (
            "memory.moved",
            "moved",
            f"{count(memory['bytes'], 'bytes')} ({count(memory['requested'], 'bytes')} asked for)",
        ),
        (
            "memory.time",
            "time",
            f"{memory['seconds'] * 1e6:,.2f} µs for {count(memory['cycles'], 'cycles')}",
        ),
    ]
    items = "".join(
        f"<div {marked(key)}><dt>{name}</dt><dd>{escape(text)}</dd></div>"
        for key, name, text in figures
    )
    return (
        f"<h4>{escape(region)}: memory {escape(memory['name'])}</h4>"
        f"<dl class='figures'>{items}</dl>"
    )
