"""The loud label of data that only resemble the data set of their name."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn

from engine.models.datasets import VARIABLE
from workbench.assets import style
from workbench.records import standin_text
from workbench.session import Session


class DataLabel(pn.viewable.Viewer):
    """A warning across the page while the data are a stand-in; nothing otherwise.

    Examples
    --------
    >>> DataLabel(Session("gcn", "karate")).html()
    ''
    """

    def __init__(self, session: Session | None = None, **params: Any) -> None:
        self.session = session if session is not None else Session()
        super().__init__(**params)
        self._pane = pn.pane.HTML(
            "",
            stylesheets=[style("data_label")],
            sizing_mode="stretch_width",
            margin=0,
            css_classes=["data-label"],
        )
        self.session.param.watch(lambda *_: self._show(), "answers")
        self._show()

    def _show(self) -> None:
        self._pane.param.update(object=self.html(), visible=self.session.built.loaded.standin)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane

    def html(self) -> str:
        """The label in HTML, empty for real data."""
        loaded = self.session.built.loaded
        if not loaded.standin:
            return ""
        return (
            f"<div class='label' role='note'><b>⚠ {escape(standin_text(loaded.label))}.</b> "
            f"It is {escape(loaded.origin)}, with about as many nodes, edges and two-hop paths, "
            f"so that it costs about the same. For the real graph, start the workbench with "
            f"<code>{VARIABLE}</code> naming the folder of its files.</div>"
        )
