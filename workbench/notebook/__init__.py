"""What notebooks that teach are made of: drawings of fibers and streams, and checked exercises.

Names are imported on first use, so that drawing needs no Panel.

Examples
--------
>>> from workbench.notebook import streams
>>> print(streams({"crd i": "0 2 S0 D"}))
crd i  0  2  S0  D
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "notebook": "workbench.notebook.setup",
    "fiber_tree": "engine.program.trees",
    "pattern": "engine.program.patterns",
    "streams": "engine.dataflow.sim.token_rows",
    "tokens_of": "engine.dataflow.sim.steps.rows",
    "plot": "engine.display.plots",
    "Mark": "engine.display.plots",
    "Line": "engine.display.plots",
    "beside": "engine.display.drawing",
    "below": "engine.display.drawing",
    "bars": "engine.display.bars",
    "construction": "engine.dataflow.table.construction",
    "columns_of": "engine.dataflow.table.part",
    "ranking": "engine.dataflow.orders",
    "recomputed": "engine.dataflow.why.recomputed",
    "bench": "engine.dataflow.sim.conformance.bench",
    "judge": "engine.dataflow.sim.conformance.judge",
    "roofline": "workbench.notebook.roofs",
    "compare": "workbench.notebook.comparing",
    "check": "workbench.notebook.exercises",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'workbench.notebook' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
