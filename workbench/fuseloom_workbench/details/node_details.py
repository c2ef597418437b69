"""The details of the selected cell or graph node: meaning, ports, expected and measured."""

from __future__ import annotations

from typing import Any

import panel as pn

from fuseloom_workbench.base.assets import style
from fuseloom_workbench.base.page_backend import PageBackend, backend_of
from fuseloom_workbench.state.session import Session


class NodeDetails(pn.viewable.Viewer):
    """The details of the session's selection.

    Examples
    --------
    >>> session = Session()
    >>> details = NodeDetails(session)
    >>> session.select_cell("A", "k")
    >>> "compressed level scanner" in details.html()
    True
    """

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        self.backend = backend_of(session)
        super().__init__(**params)
        self.backend.want("details")
        self._pane = pn.pane.HTML(
            self.html(),
            stylesheets=[style("details/node_details")],
            sizing_mode="stretch_width",
            margin=0,
            css_classes=["node-details"],
        )
        self.backend.param.watch(lambda *_: self._show(), "version")

    def _show(self) -> None:
        if self._pane.object != self.html():
            self._pane.object = self.html()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane

    def html(self) -> str:
        """The selection in HTML; everything from a user's program is escaped."""
        return self.backend.part("details") or ""
