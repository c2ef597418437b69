"""Opening a page costs the server half a second: what is equal for all is done once, and in turn.

While a page is being made nothing else is, so between two of them others are served.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import time
from collections.abc import Callable, Hashable
from typing import Any

import panel as pn
import panel.io.server
import param
from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from bokeh.settings import settings
from panel.io.state import set_curdoc

from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.explorer import explorer
from fuseloom_workbench.serving.allocator import give_back

PAUSE = 0.2
"""Seconds between two pages in which others are served."""
REMEMBERED = 20
TIDY = 8.0
"""Seconds after a page has closed in which others that close with it are waited for."""


class InTurn(Handler):
    """Makes pages one after another, with a pause after each."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = asyncio.Lock()
        self._free = 0.0
        self._tidying = Tidying()

    async def on_session_destroyed(self, _: Any) -> None:
        self._tidying.later()

    async def on_session_created(self, _: Any) -> None:
        async with self._lock:  # waiting for a lock is in order of coming
            while (wait := self._free - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            # the page is made before anything else runs; modify_document comes after that
            self._free = time.monotonic() + PAUSE

    def modify_document(self, _: Document) -> None:
        self._free = time.monotonic() + PAUSE


def remember_resources() -> None:
    """Find out once, and not for each page, which files a page of its kind needs."""
    find = panel.io.server.bundle_resources
    if find.__module__ != __name__:
        panel.io.server.bundle_resources = remembering(find)


def remembering(find: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; for roots with models of the same kinds, with the same answer."""
    known: dict[Hashable, Any] = {}

    def found(roots: Any, resources: Any, **more: Any) -> Any:
        kinds = frozenset(type(model) for root in roots for model in root.references())
        key = kinds, resources.mode, resources.root_url, pn.state.rel_path, *sorted(more.items())
        if key not in known:
            if len(known) >= REMEMBERED:
                known.clear()
            known[key] = find(roots, resources, **more)
        bundle = copy.copy(known[key])
        for name, value in vars(bundle).items():
            if isinstance(value, list):  # whoever gets it may add to it
                setattr(bundle, name, list(value))
        return bundle

    return found


class _NoRun(param.Parameterized):
    """The state of a page's simulation before there is any."""

    running = param.Boolean(False)
    share = param.Number(0.0)
    status = param.String("")
    failed = param.Boolean(False)
    limit = param.Number(0.0)
    searched = param.Dict({})


def rehearse() -> None:
    """Make a page nobody sees: everything is imported then, and the first visitor waits for less.

    What is in memory after it stays; later collections pass over it, and take milliseconds.
    """
    settings.perform_document_validation.set_value(False)  # it tells authors of their faults
    document = Document()
    with set_curdoc(document):
        explorer(PageBackend(_NoRun())).server_doc(document)
    document.to_json()
    document.clear()
    gc.collect()
    gc.freeze()


class Tidying:
    """Gives the memory of closed pages back, some seconds after the first of them.

    A page is cycles of objects, and what they held lies between what others hold: without this the
    process stays as large as it was with most pages open.
    """

    def __init__(self) -> None:
        self._due = False

    def later(self) -> None:
        """A page has closed; called within the server's loop."""
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(TIDY, self._tidy)

    def _tidy(self) -> None:
        self._due = False
        gc.collect()
        give_back()
