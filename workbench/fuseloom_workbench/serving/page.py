"""The page that a server gives to each visitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import panel as pn
import panel_material_ui as pmui

from fuseloom.wording import counted
from fuseloom_workbench.explorer import TITLE, explorer
from fuseloom_workbench.service.journal import note
from fuseloom_workbench.service.served_backend import ServedBackend
from fuseloom_workbench.service.supervisor import Supervisor, supervisor


def served_page(at: Supervisor | None = None) -> Any:
    """A page of its own for the visitor whose document is being made.

    Where as many are open as there may be, one that says so.
    """
    at = at if at is not None else supervisor()
    if len(at.clients) >= at.budgets.sessions:
        note("page_refused", open=len(at.clients))
        return _full(at.budgets.sessions)
    backend = ServedBackend(at)
    if pn.state.curdoc is not None:
        pn.state.curdoc.config.notify_connection_status = False  # the page says it itself
        # a closed page is noticed only after a while, but then its work must end
        pn.state.on_session_destroyed(lambda *_: backend.close())
        for name, *arguments in asked(pn.state.session_args):
            backend.ask(name, *arguments)
    return explorer(backend)


def figures() -> Any:
    """A page of the paper's figures for the visitor whose document is being made."""
    from fuseloom_workbench.figures.page import figures_page

    return figures_page()


def networks() -> Any:
    """A page of sparse tensor networks for the visitor whose document is being made."""
    from fuseloom_workbench.networks.page import networks_page

    return networks_page()


PAGES: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {"explorer": served_page, "figures": figures, "networks": networks}
)
"""The pages of a server by name; those besides the explorer are imported when they are visited."""


def asked(given: Mapping[str, Sequence[bytes]]) -> list[tuple[Any, ...]]:
    """The requests that the page's own address makes, as those of other pages do.

    ``?model=gcn&data=karate&preset=full``; ``schedule`` holds the text of one, ``program`` that of
    a program on the same data, ``machine`` the name of one or its text, any other name is a size or
    density of the model.  What is none is refused as any request is.
    """
    words = {name: values[0].decode("utf-8", "replace") for name, values in given.items() if values}
    model = words.pop("model", None)
    if model is None:
        return []
    requests: list[tuple[Any, ...]] = [("choose", model)]
    data, preset = words.pop("data", None), words.pop("preset", None)
    program, schedule = words.pop("program", None), words.pop("schedule", None)
    machine = words.pop("machine", None)
    if data is not None:
        requests.append(("choose_data", data))
    if words:
        requests.append(("set_options", words))
    if machine is not None:
        requests.append(("set_machine", machine))
    if program is not None:
        requests.append(("set_program", program))
    if schedule is not None:
        requests.append(("set_schedule", schedule))
    elif preset is not None:
        requests.append(("preset", preset))
    return requests


def _full(number: int) -> Any:
    text = f"This server has {counted(number, 'page')} open, its limit. Try again later."
    return pmui.Page(title=TITLE, main=[pmui.Alert(text, severity="warning")])
