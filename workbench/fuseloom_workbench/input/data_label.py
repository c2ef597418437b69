"""The loud label of data that only resemble the data set of their name."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn

from fuseloom.models.datasets import VARIABLE
from fuseloom_workbench.base.assets import style
from fuseloom_workbench.base.page_backend import PageBackend, backend_of
from fuseloom_workbench.state.records import standin_text
from fuseloom_workbench.state.session import Session


class DataLabel(pn.viewable.Viewer):
    """A warning across the page while the data are a stand-in; nothing otherwise.

    Examples
    --------
    >>> DataLabel(Session("gcn", "karate")).html()
    ''
    """

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        self.backend = backend_of(session)
        super().__init__(**params)
        self.backend.want("label")
        self._pane = pn.pane.HTML(
            "",
            stylesheets=[style("input/data_label")],
            sizing_mode="stretch_width",
            margin=0,
            css_classes=["data-label"],
        )
        self.backend.param.watch(lambda *_: self._show(), "version")
        self._show()

    def _show(self) -> None:
        html = self.html()
        if self._pane.object != html or self._pane.visible != bool(html):
            self._pane.param.update(object=html, visible=bool(html))

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane

    def html(self) -> str:
        """The label in HTML, empty for real data."""
        data = self.backend.part("label")
        if data is None or not data["standin"]:
            return ""
        return (
            f"<div class='label' role='note'><b>⚠ {escape(standin_text(data['label']))}.</b> "
            f"It is {escape(data['origin'])}, with about as many nodes, edges and two-hop paths, "
            f"so that it costs about the same. For the real graph, start the workbench with "
            f"<code>{VARIABLE}</code> naming the folder of its files.</div>"
        )
