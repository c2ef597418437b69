"""The building blocks of teaching notebooks: drawings of fibers and streams, and exercises.

Names are imported on first use, so that drawing needs no Panel.

Examples
--------
>>> from fuseloom_workbench.notebook import streams
>>> print(streams({"crd i": "0 2 S0 D"}))
crd i  0  2  S0  D
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "notebook": "fuseloom_workbench.notebook.setup",
    "fiber_tree": "fuseloom.program.trees",
    "pattern": "fuseloom.program.patterns",
    "streams": "fuseloom.dataflow.sim.token_rows",
    "tokens_of": "fuseloom.dataflow.sim.steps.rows",
    "plot": "fuseloom.display.plots",
    "PlotMark": "fuseloom.display.plots",
    "PlotLine": "fuseloom.display.plots",
    "beside": "fuseloom.display.drawing",
    "below": "fuseloom.display.drawing",
    "bars": "fuseloom.display.bars",
    "construction": "fuseloom.dataflow.table.construction",
    "columns_of": "fuseloom.dataflow.table.part",
    "ranking": "fuseloom.dataflow.orders",
    "recomputed": "fuseloom.dataflow.why.recomputed",
    "bench": "fuseloom.dataflow.sim.conformance.bench",
    "judge": "fuseloom.dataflow.sim.conformance.judge",
    "roofline": "fuseloom_workbench.notebook.roofs",
    "compare": "fuseloom_workbench.notebook.comparing",
    "check": "fuseloom_workbench.notebook.exercises",
    "hint": "fuseloom_workbench.notebook.exercises",
    "wired": "fuseloom_workbench.notebook.wiring",
    "by_hand": "fuseloom_workbench.notebook.building",
    "run_by_hand": "fuseloom_workbench.notebook.building",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'fuseloom_workbench.notebook' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
