"""The parts of a page, as plain data; whoever holds the session makes them.

:data:`PARTS` are made anew after each answer.  Further parts take longer and come after them:
``graph`` (:mod:`fuseloom_workbench.graph.view`), ``orders``
(:mod:`fuseloom_workbench.orders.view`), ``why`` (:mod:`fuseloom_workbench.why.view`) and, while
somebody steps through a run, ``streams``, ``streams_chunk`` and ``streams_story``
(:mod:`fuseloom_workbench.streams.view`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fuseloom_workbench.chain import view as chain
from fuseloom_workbench.costs import view as costs
from fuseloom_workbench.details import view as details
from fuseloom_workbench.graph import heat
from fuseloom_workbench.graph import view as graph
from fuseloom_workbench.input import forms
from fuseloom_workbench.input import views as given
from fuseloom_workbench.memory import view as memory
from fuseloom_workbench.running import view as run
from fuseloom_workbench.search import view as search
from fuseloom_workbench.shell import view as shell
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.table import menu
from fuseloom_workbench.table import view as table
from fuseloom_workbench.timeline import view as timeline
from fuseloom_workbench.timeline import windows
from fuseloom_workbench.why import path

PARTS: Mapping[str, Callable[[Session], Any]] = {
    "status": shell.status,
    "selection": shell.selection,
    "label": given.label,
    "trail": shell.trail,
    "rail": shell.rail,
    "chain": chain.view,
    "table": table.view,
    "menu": menu.view,
    "details": details.view,
    "heat": heat.view,
    "drawing": graph.wanted,
    "sizes": given.sizes,
    "machine": given.machine,
    "program": given.program,
    "checked": given.checked,
    "formats": forms.formats,
    "upload": given.upload,
    "schedule": given.schedule,
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
