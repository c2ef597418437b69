"""The activity of the machine's memory in the run of the region shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.state.session import Session

HEIGHT = 340
"""Pixels of the panel where it is alone."""


class MemoryPanel(SessionComponent):
    """Figures of the memory, latencies of its requests, and what each of its channels did.

    Parameters
    ----------
    session : Session or PageBackend, optional
        Shared by the components of a page; a new one by default.

    Examples
    --------
    >>> panel = MemoryPanel(Session("gcn", "karate"))
    >>> panel.view["there"], panel.view["memory"]
    (False, None)
    """

    _esm = script(
        "base/scales", "costs/marks", "costs/saving", "memory/plots", "memory/memory_panel"
    )
    _stylesheets = [style("memory/memory_panel")]
    part = "memory"

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        if "sizing_mode" not in params and "height" not in params:
            params["height"] = HEIGHT
        super().__init__(session, **params)

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "machine", "name": str(name)}:
                self.backend.ask("set_machine", name)
