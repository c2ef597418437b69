"""The page that a server gives to each visitor."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from workbench.explorer import TITLE, explorer
from workbench.service.desk import ServedDesk
from workbench.service.hub import Hub, hub
from workbench.service.journal import note


def served_page(at: Hub | None = None) -> Any:
    """A page of its own for the visitor whose document is being made.

    Where as many are open as there may be, one that says so.
    """
    at = at if at is not None else hub()
    if len(at.clients) >= at.budgets.sessions:
        note("page_refused", open=len(at.clients))
        return _full(at.budgets.sessions)
    desk = ServedDesk(at)
    if pn.state.curdoc is not None:
        pn.state.curdoc.config.notify_connection_status = False  # the page says it itself
        # a closed page is noticed only after a while, but then its work must end
        pn.state.on_session_destroyed(lambda *_: desk.close())
    return explorer(desk)


def _full(number: int) -> Any:
    text = f"This server has {number} pages open, which is as many as it may. Try again later."
    return pmui.Page(title=TITLE, main=[pmui.Alert(text, severity="warning")])
