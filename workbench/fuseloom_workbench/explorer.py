"""The page of the fusion explorer: a bench of views on one session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from fuseloom_workbench.base.assets import style
from fuseloom_workbench.base.connection import Connection
from fuseloom_workbench.base.page import bare_page, links_of
from fuseloom_workbench.base.page_backend import PageBackend, backend_of
from fuseloom_workbench.chain.fusion_chain import FusionChain
from fuseloom_workbench.compare.compare_panel import comparison
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.details.node_details import NodeDetails
from fuseloom_workbench.graph.graph_view import GraphView
from fuseloom_workbench.input.data_label import DataLabel
from fuseloom_workbench.input.panels import FormatsPanel, MachinePanel, SizesPanel, UploadPanel
from fuseloom_workbench.input.text_editor import TextEditor
from fuseloom_workbench.landscape.landscape_panel import LandscapePanel
from fuseloom_workbench.memory.memory_panel import MemoryPanel
from fuseloom_workbench.orders.orders_panel import OrdersPanel
from fuseloom_workbench.running.run_panel import RunPanel
from fuseloom_workbench.search.search_panel import SearchPanel
from fuseloom_workbench.shell.bench import Bench
from fuseloom_workbench.shell.rail import Rail
from fuseloom_workbench.shell.top_bar import TopBar
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.streams.streams_view import StreamsView
from fuseloom_workbench.table.table_grid import FusionTableGrid
from fuseloom_workbench.timeline.timeline import Timeline
from fuseloom_workbench.why.panels import PathPanel, WhyBar, WhyPanel


def explorer(shown: Session | PageBackend | None = None, pages: Sequence[str] = ()) -> pmui.Page:
    """The page, on a session of its own unless one is given.

    Parameters
    ----------
    pages : sequence of str
        Names of the pages that its server has.
    """
    backend = backend_of(shown if shown is not None else Session("gcn", "karate"))
    main = [bench(backend, pages=pages), Connection(backend, height=0, margin=0)]
    return bare_page("explorer", main, [style("shell/skeleton")])


def bench(
    shown: Session | PageBackend | None = None,
    fullscreen: bool = True,
    pages: Sequence[str] = (),
) -> Bench:
    """All views of a session on one screen; in a notebook with ``fullscreen=False``."""
    backend = backend_of(shown)
    views = {
        "Graph": GraphView(backend),
        "Costs": CostsPanel(backend, css_classes=["fill"], sizing_mode="stretch_both"),
        "Landscape": LandscapePanel(backend),
        "Compare": comparison(backend),
        "Why": _stack(WhyPanel(backend), PathPanel(backend)),
        "Timeline": Timeline(backend, css_classes=["fill"], sizing_mode="stretch_both"),
        "Streams": StreamsView(backend, css_classes=["fill"], sizing_mode="stretch_both"),
        "Memory": MemoryPanel(backend, css_classes=["fill"], sizing_mode="stretch_both"),
        "Search": SearchPanel(backend),
        "Input": _stack(
            DataLabel(backend),
            UploadPanel(backend),
            _beside(TextEditor(backend, what="program"), TextEditor(backend, what="schedule")),
            FormatsPanel(backend),
            SizesPanel(backend),
            MachinePanel(backend),
        ),
    }
    run = RunPanel(backend)
    return Bench(
        run,
        top=TopBar(backend, pages=links_of(pages)),
        rail=Rail(backend),
        result=_result(run, WhyBar(backend)),
        chain=FusionChain(backend),
        table=FusionTableGrid(backend, css_classes=["fill"], sizing_mode="stretch_both"),
        orders=OrdersPanel(backend),
        details=NodeDetails(backend),
        tabs=list(views.values()),
        titles=list(views),
        fullscreen=fullscreen,
        sizing_mode="stretch_width",
        margin=0,
    )


def _result(run: RunPanel, why: WhyBar) -> pn.Row:
    """The result, and beside it why it is so."""
    run.styles = {"flex": "1 1 570px", "min-width": "0"}
    why.styles = {"flex": "3 1 420px", "min-width": "0"}
    return pn.Row(run, why, sizing_mode="stretch_width", margin=0, styles={"flex-wrap": "wrap"})


def _stack(*parts: Any) -> pn.Column:
    return pn.Column(*parts, sizing_mode="stretch_width", margin=0, styles={"gap": "12px"})


def _beside(*parts: Any) -> pn.Row:
    """Parts beside each other, or below where there is no room."""
    for part in parts:
        part.styles = {"flex": "1 1 380px", "min-width": "0"}
    return pn.Row(
        *parts, sizing_mode="stretch_width", margin=0, styles={"flex-wrap": "wrap", "gap": "16px"}
    )
