"""The page of deep fusion, on a module that comes with the program or on HLO text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import panel as pn
import panel_material_ui as pmui

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.page import backed_page, beside, card, session_arguments, words_of
from fuseloom_workbench.kernels.asked import KernelsQuestion
from fuseloom_workbench.kernels.backend import KernelsBackend, from_address
from fuseloom_workbench.kernels.panels import (
    EndToEndView,
    KernelCodes,
    KernelCounts,
    KernelsForm,
    LayeredGraph,
    ModuleText,
    SchedulePicker,
    SharedMemoryMap,
)


def kernels_bench(shown: KernelsBackend | KernelsQuestion | None = None) -> pn.Column:
    """All views of a module that is fused, on a page or in a notebook.

    Parameters
    ----------
    shown : KernelsBackend or KernelsQuestion, optional
        Softmax of scores times values by default.
    """
    backend = shown if isinstance(shown, KernelsBackend) else KernelsBackend(shown)
    return pn.Column(
        card(KernelsForm(backend)),
        card(LayeredGraph(backend)),
        beside(
            card(SchedulePicker(backend), flex="1 1 460px"),
            card(SharedMemoryMap(backend), flex="1 1 460px"),
        ),
        card(KernelCodes(backend)),
        beside(
            card(KernelCounts(backend), flex="1.2 1 480px"),
            card(EndToEndView(backend), flex="1 1 440px"),
        ),
        card(ModuleText(backend)),
        sizing_mode="stretch_width",
        styles={"gap": "12px", "padding": "12px 16px"},
    )


def asked_of(given: Mapping[str, Sequence[bytes]]) -> tuple[KernelsQuestion, str]:
    """The question of a page's address, and its fault.

    Examples
    --------
    >>> asked_of({"example": [b"rnn"], "products": [b"all"]})[0].products
    'all'
    >>> asked_of({"example": [b"rn"]})[1]
    "'rn' is no example (hint: did you mean 'rnn'?)"
    """
    try:
        return from_address(words_of(given)), ""
    except FuseloomError as reason:
        return KernelsQuestion(), str(reason)


def kernels_page(
    shown: KernelsBackend | KernelsQuestion | None = None, pages: Sequence[str] = ()
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
    backend = shown if isinstance(shown, KernelsBackend) else KernelsBackend(shown)
    return backed_page("kernels", backend, kernels_bench, pages, wrong)
