"""The fusion table or the graph of a region in a figure, as the bench shows it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import panel as pn

from fuseloom.experiments.recipe import RegionAddress
from fuseloom_workbench.base.assets import style
from fuseloom_workbench.base.page_backend import LocalBackend
from fuseloom_workbench.graph.graph_view import GraphView
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.table.table_grid import FusionTableGrid

HEIGHT = 460
"""Pixels of a graph."""


def session_at(region: RegionAddress) -> Session:
    """A session with a region's program and schedule, in which it is shown.

    Raises
    ------
    ValueError
        If it has no region of that name.
    """
    session = Session(region.words["model"], region.words["data"])
    for name, *arguments in requests_of(region.words):
        carry_out(session, name, arguments)
    names = [built.name for built in session.regions]
    session.select_region(names.index(region.name))
    return session


def shown_region(title: str, kind: str, region: RegionAddress) -> pn.Column:
    """The ``table`` or the ``graph`` of a region under a title, and its address in the explorer."""
    backend = LocalBackend(session_at(region))
    drawn: Any = (
        FusionTableGrid(backend)
        if kind == "table"
        else GraphView(backend, sizing_mode="stretch_width", height=HEIGHT)
    )
    name = "" if kind == "table" else f"{title} · "  # a table has a title of its own
    link = f"explorer?{urlencode(region.words)}"
    head = f"<h3>{name}<a href='{link}' target='_blank'>open {region.name} in the explorer</a></h3>"
    return pn.Column(
        pn.pane.HTML(head, stylesheets=[style("figures/page")], margin=0),
        drawn,
        sizing_mode="stretch_width",
        margin=0,
    )
