"""What the page shows of a session, as plain data; whoever holds the session makes it.

:data:`PARTS` are made anew after each answer.  Further parts take longer and come after them:
``graph`` (:mod:`workbench.graph.view`), ``orders`` (:mod:`workbench.orders.view`), ``why``
(:mod:`workbench.why.view`) and, while somebody steps through a run, ``streams``, ``streams_chunk``
and ``streams_story`` (:mod:`workbench.streams.view`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.chain import view as chain
from workbench.costs import view as costs
from workbench.details import view as details
from workbench.graph import heat
from workbench.graph import view as graph
from workbench.input import forms, machine, sizes, source, texts, upload
from workbench.memory import view as memory
from workbench.running import view as run
from workbench.search import view as search
from workbench.shell import view as shell
from workbench.state import status
from workbench.state.session import Session
from workbench.table import menu
from workbench.table import view as table
from workbench.timeline import view as timeline
from workbench.timeline import windows
from workbench.why import path

PARTS: Mapping[str, Callable[[Session], Any]] = {
    "status": status.view,
    "selection": status.selection,
    "label": source.label,
    "trail": shell.trail,
    "rail": shell.rail,
    "chain": chain.view,
    "table": table.view,
    "menu": menu.view,
    "details": details.view,
    "heat": heat.view,
    "drawing": graph.wanted,
    "sizes": sizes.view,
    "machine": machine.view,
    "program": texts.program,
    "checked": texts.checked,
    "formats": forms.formats,
    "upload": upload.view,
    "schedule": texts.schedule,
    "run": run.view,
    "path": path.view,
    "costs": costs.costs,
    "costs_look": costs.look,
    "timeline": timeline.view,
    "window": windows.answer,
    "memory": memory.view,
    "search": search.view,
}
LATER = ("graph", "orders", "why")

__all__ = ["LATER", "PARTS"]
