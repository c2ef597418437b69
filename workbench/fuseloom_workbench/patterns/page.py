"""The page of access patterns, on a computation of its visitor's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import panel as pn
import panel_material_ui as pmui

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.page import backed_page, beside, card, session_arguments, words_of
from fuseloom_workbench.patterns.asked import MappingQuestion
from fuseloom_workbench.patterns.backend import PatternBackend, from_address
from fuseloom_workbench.patterns.panels import (
    CallsView,
    DesignsTable,
    MappingForm,
    PatternView,
    RulesTable,
    SaturationView,
    TermEditor,
    TermsBeside,
)

_STACK = {"gap": "12px", "flex": "1 1 420px", "min-width": "0"}


def pattern_bench(shown: PatternBackend | MappingQuestion | None = None) -> pn.Column:
    """All views of a mapping, on a page or in a notebook.

    Parameters
    ----------
    shown : PatternBackend or MappingQuestion, optional
        A convolution on an array of 64 × 64 by default.
    """
    backend = shown if isinstance(shown, PatternBackend) else PatternBackend(shown)
    return pn.Column(
        card(MappingForm(backend)),
        card(CallsView(backend)),
        beside(
            pn.Column(
                card(PatternView(backend)),
                card(TermEditor(backend)),
                sizing_mode="stretch_width",
                margin=0,
                styles=_STACK,
            ),
            card(TermsBeside(backend), flex="1.3 1 520px"),
        ),
        beside(
            card(RulesTable(backend), flex="1 1 460px"),
            card(SaturationView(backend), flex="1 1 460px"),
        ),
        card(DesignsTable(backend)),
        sizing_mode="stretch_width",
        styles={"gap": "12px", "padding": "12px 16px"},
    )


def asked_of(given: Mapping[str, Sequence[bytes]]) -> tuple[MappingQuestion, str]:
    """The question of a page's address, and its fault.

    Examples
    --------
    >>> asked_of({"kernel": [b"matmul"], "rows": [b"16"]})[0].rows
    16
    >>> asked_of({"rows": [b"x"]})[1]
    'rows is an integer from 1 to 512, not x'
    """
    try:
        return from_address(words_of(given)), ""
    except FuseloomError as reason:
        return MappingQuestion(), str(reason)


def patterns_page(
    shown: PatternBackend | MappingQuestion | None = None, pages: Sequence[str] = ()
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
    backend = shown if isinstance(shown, PatternBackend) else PatternBackend(shown)
    return backed_page("patterns", backend, pattern_bench, pages, wrong)
