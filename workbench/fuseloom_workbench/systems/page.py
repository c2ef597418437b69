"""The page on which one program is fused by every system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import panel as pn
import panel_material_ui as pmui

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.page import backed_page, beside, card, session_arguments, words_of
from fuseloom_workbench.systems.asked import SystemsQuestion, from_address
from fuseloom_workbench.systems.backend import SystemsBackend
from fuseloom_workbench.systems.panels import (
    ComparedCommands,
    ComparedProgramForm,
    ComparisonBars,
    ComparisonTable,
    ProgramFilePanel,
)


def systems_bench(shown: SystemsBackend | SystemsQuestion | None = None) -> pn.Column:
    """All views of a program and its rows, on a page or in a notebook.

    Parameters
    ----------
    shown : SystemsBackend or SystemsQuestion, optional
        A layer of a graph network by default.
    """
    backend = shown if isinstance(shown, SystemsBackend) else SystemsBackend(shown)
    return pn.Column(
        beside(
            card(
                pn.Column(
                    ComparedProgramForm(backend),
                    ProgramFilePanel(backend),
                    sizing_mode="stretch_width",
                    margin=0,
                    styles={"gap": "8px"},
                ),
                flex="1 1 400px",
            ),
            card(ComparisonBars(backend), flex="1.7 1 540px"),
        ),
        card(ComparisonTable(backend)),
        card(ComparedCommands(backend)),
        sizing_mode="stretch_width",
        styles={"gap": "12px", "padding": "12px 16px"},
    )


def asked_of(given: Mapping[str, Sequence[bytes]]) -> tuple[SystemsQuestion, str]:
    """The question of a page's address, and its fault.

    Examples
    --------
    >>> asked_of({"example": [b"mttkrp"], "seed": [b"4"]})[0].seed
    4
    >>> asked_of({"example": [b"mtkrp"]})[1]
    "'mtkrp' is no example (hint: did you mean 'mttkrp'?)"
    """
    try:
        return from_address(words_of(given)), ""
    except FuseloomError as reason:
        return SystemsQuestion(), str(reason)


def systems_page(
    shown: SystemsBackend | SystemsQuestion | None = None, pages: Sequence[str] = ()
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
    backend = shown if isinstance(shown, SystemsBackend) else SystemsBackend(shown)
    backend.open_from(pages)
    return backed_page("compare", backend, systems_bench, pages, wrong)
