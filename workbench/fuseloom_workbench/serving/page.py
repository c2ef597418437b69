"""The page that a server gives to each visitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import panel as pn
import panel_material_ui as pmui

from fuseloom.wording import counted
from fuseloom_workbench.base.page import headed_page, words_of
from fuseloom_workbench.explorer import explorer
from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.served_backend import ServedBackend
from fuseloom_workbench.service.supervisor import Supervisor, supervisor
from fuseloom_workbench.state.addresses import requests_of


def served_page(at: Supervisor | None = None, pages: Sequence[str] = ()) -> Any:
    """A page of its own for the visitor whose document is being made.

    Where as many are open as there may be, one that says so.

    Parameters
    ----------
    pages : sequence of str
        Names of the pages that its server has.
    """
    at = at if at is not None else supervisor()
    if len(at.clients) >= at.budgets.sessions:
        note("page_refused", open=len(at.clients))
        return _full(at.budgets.sessions, pages)
    backend = ServedBackend(at)
    if pn.state.curdoc is not None:
        pn.state.curdoc.config.notify_connection_status = False  # the page says it itself
        # a closed page is noticed only after a while, but then its work must end
        pn.state.on_session_destroyed(lambda *_: backend.close())
        for name, *arguments in requests_of(words_of(pn.state.session_args)):
            backend.ask(name, *arguments)
    return explorer(backend, pages)


def figures(pages: Sequence[str] = ()) -> Any:
    """A page of the paper's figures for the visitor whose document is being made."""
    from fuseloom_workbench.figures.page import figures_page

    return figures_page(pages=pages)


def networks(pages: Sequence[str] = ()) -> Any:
    """A page of sparse tensor networks for the visitor whose document is being made."""
    from fuseloom_workbench.networks.page import networks_page

    return networks_page(pages=pages)


def patterns(pages: Sequence[str] = ()) -> Any:
    """A page of access patterns for the visitor whose document is being made."""
    from fuseloom_workbench.patterns.page import patterns_page

    return patterns_page(pages=pages)


def calls(pages: Sequence[str] = ()) -> Any:
    """A page of library calls for the visitor whose document is being made."""
    from fuseloom_workbench.calls.page import calls_page

    return calls_page(pages=pages)


def kernels(pages: Sequence[str] = ()) -> Any:
    """A page of deep fusion for the visitor whose document is being made."""
    from fuseloom_workbench.kernels.page import kernels_page

    return kernels_page(pages=pages)


def compare(pages: Sequence[str] = ()) -> Any:
    """A page of one program by every system for the visitor whose document is being made."""
    from fuseloom_workbench.systems.page import systems_page

    return systems_page(pages=pages)


PAGES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "explorer": served_page,
        "figures": figures,
        "networks": networks,
        "patterns": patterns,
        "calls": calls,
        "kernels": kernels,
        "compare": compare,
    }
)
"""The pages of a server by name; those besides the explorer are imported when they are visited."""


def page_of(name: str, pages: Sequence[str]) -> Callable[[], Any]:
    """Return what makes a page of that name, on a server that has pages of those names."""
    make = PAGES[name]
    return lambda: make(pages=pages)  # Panel calls a function, and shows any other object


def _full(number: int, pages: Sequence[str]) -> Any:
    text = f"This server has {counted(number, 'page')} open, its limit. Try again later."
    return headed_page("explorer", [pmui.Alert(text, severity="warning")], pages)
