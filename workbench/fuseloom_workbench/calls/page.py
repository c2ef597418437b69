"""The page of library calls, on a composition that comes with the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import panel as pn
import panel_material_ui as pmui

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.page import backed_page, beside, card, session_arguments, words_of
from fuseloom_workbench.calls.asked import CallsQuestion
from fuseloom_workbench.calls.backend import CallsBackend, from_address
from fuseloom_workbench.calls.panels import (
    AnnotationsPanel,
    CallsCode,
    CallsForm,
    CallsGraph,
    CommandsPanel,
    FusionCosts,
    TilesView,
)


def calls_bench(shown: CallsBackend | CallsQuestion | None = None) -> pn.Column:
    """All views of a composition, on a page or in a notebook.

    Parameters
    ----------
    shown : CallsBackend or CallsQuestion, optional
        A softmax of rows by default.
    """
    backend = shown if isinstance(shown, CallsBackend) else CallsBackend(shown)
    return pn.Column(
        card(CallsForm(backend)),
        card(FusionCosts(backend)),
        beside(
            card(CallsGraph(backend), flex="1 1 440px"),
            card(CommandsPanel(backend), flex="1 1 420px"),
        ),
        beside(
            card(AnnotationsPanel(backend), flex="1 1 440px"),
            card(TilesView(backend), flex="1.2 1 460px"),
        ),
        card(CallsCode(backend)),
        sizing_mode="stretch_width",
        styles={"gap": "12px", "padding": "12px 16px"},
    )


def asked_of(given: Mapping[str, Sequence[bytes]]) -> tuple[CallsQuestion, str]:
    """The question of a page's address, and its fault.

    Examples
    --------
    >>> asked_of({"pipeline": [b"blur"], "tile": [b"64"]})[0].tile
    64
    >>> asked_of({"pipeline": [b"blurr"]})[1]
    "'blurr' is no pipeline (hint: did you mean 'blur'?)"
    """
    try:
        return from_address(words_of(given)), ""
    except FuseloomError as reason:
        return CallsQuestion(), str(reason)


def calls_page(
    shown: CallsBackend | CallsQuestion | None = None, pages: Sequence[str] = ()
) -> pmui.Page:
    """The page, for the visitor whose document is being made.

    Parameters
    ----------
    pages : sequence of str
        Names of the pages that its server has.
    """
    wrong = ""
    if shown is None:
        shown, wrong = asked_of(session_arguments())
    backend = shown if isinstance(shown, CallsBackend) else CallsBackend(shown)
    return backed_page("calls", backend, calls_bench, pages, wrong)
