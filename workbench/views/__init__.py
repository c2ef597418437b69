"""What the page shows of a session, as plain data; whoever holds the session makes it.

:data:`PARTS` are made anew after each answer.  Two further parts take longer and come after
them: ``graph`` (:mod:`workbench.views.graph`) and ``orders`` (:mod:`workbench.views.orders`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.session import Session
from workbench.views import (
    chain,
    choices,
    details,
    heat,
    machine,
    memory,
    path,
    run,
    runs,
    sizes,
    status,
    table,
    texts,
    timeline,
)

PARTS: Mapping[str, Callable[[Session], Any]] = {
    "status": status.view,
    "selection": status.selection,
    "choices": choices.view,
    "label": choices.label,
    "chain": chain.view,
    "table": table.view,
    "details": details.view,
    "heat": heat.view,
    "sizes": sizes.view,
    "machine": machine.view,
    "program": texts.program,
    "schedule": texts.schedule,
    "run": run.view,
    "path": path.view,
    "runs": runs.view,
    "costs": runs.costs,
    "timeline": timeline.view,
    "memory": memory.view,
}
LATER = ("graph", "orders")

__all__ = ["LATER", "PARTS"]
