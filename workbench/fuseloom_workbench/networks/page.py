"""The page of sparse tensor networks, on a question of its visitor's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import panel as pn
import panel_material_ui as pmui

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.page import backed_page, beside, card, session_arguments, words_of
from fuseloom_workbench.networks.asked import NetworkQuestion
from fuseloom_workbench.networks.backend import NetworkBackend, from_address
from fuseloom_workbench.networks.panels import (
    Beside,
    NestView,
    NetworkView,
    QuestionForm,
    SolutionsTable,
)


def network_bench(shown: NetworkBackend | NetworkQuestion | None = None) -> pn.Column:
    """All views of a network, on a page or in a notebook.

    Parameters
    ----------
    shown : NetworkBackend or NetworkQuestion, optional
        The running example of the paper by default.
    """
    backend = shown if isinstance(shown, NetworkBackend) else NetworkBackend(shown)
    return pn.Column(
        card(QuestionForm(backend)),
        beside(
            pn.Column(
                card(NetworkView(backend)),
                card(Beside(backend)),
                sizing_mode="stretch_width",
                margin=0,
                styles={"gap": "12px", "flex": "1.15 1 520px", "min-width": "0"},
            ),
            card(NestView(backend), flex="1 1 440px"),
        ),
        card(SolutionsTable(backend)),
        sizing_mode="stretch_width",
        styles={"gap": "12px", "padding": "12px 16px"},
    )


def asked_of(given: Mapping[str, Sequence[bytes]]) -> tuple[NetworkQuestion, str]:
    """Return the question of a page's address, and its fault.

    Examples
    --------
    >>> asked_of({"network": [b"TTMc"]})[0].name
    'TTMc'
    >>> asked_of({"density": [b"7"]})[1]
    'a density is above 0 and at most 1 (hint: write e.g. 0.1)'
    """
    words = words_of(given)
    try:
        return from_address(words), ""
    except FuseloomError as reason:
        return NetworkQuestion.shipped(), str(reason)


def networks_page(
    shown: NetworkBackend | NetworkQuestion | None = None, pages: Sequence[str] = ()
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
    backend = shown if isinstance(shown, NetworkBackend) else NetworkBackend(shown)
    return backed_page("networks", backend, network_bench, pages, wrong)
