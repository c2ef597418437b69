"""Fuseloom's engine: from a sparse program to a simulated dataflow graph, and what it costs.

::

    import fuseloom as fl
    program = fl.parse(text)
    compiled = fl.compile(program, "fuse T1..H; fuse T5..Y")
    fl.estimate(compiled, data).cycles
    fl.simulate(compiled, data).check()
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "parse": ("engine.program", "parse"),
    "Program": ("engine.program", "Program"),
    "StoredTensor": ("engine.program", "StoredTensor"),
    "evaluate": ("engine.program", "evaluate"),
    "Schedule": ("engine.dataflow.fusion.schedule", "Schedule"),
    "fuse": ("engine.dataflow.fusion.fuse", "fuse"),
    "compile": ("engine.dataflow.compiler", "compile_program"),
    "Compilation": ("engine.dataflow.compiler", "Compilation"),
    "to_dot": ("engine.dataflow.samml.dot", "to_dot"),
    "Limits": ("engine.dataflow.sim.reports", "Limits"),
    "Machine": ("engine.dataflow.sim.machine", "Machine"),
    "Observe": ("engine.dataflow.sim.observe", "Observe"),
    "simulate": ("engine.dataflow.sim.program_runs", "simulate"),
    "estimate": ("engine.dataflow.cost", "estimate"),
    "explore": ("engine.explore.sweep", "explore"),
    "Space": ("engine.explore.sweep", "Space"),
    "Base": ("engine.explore.sweep", "Base"),
    "autoschedule": ("engine.explore.autoschedule", "autoschedule"),
    "best_orders": ("engine.dataflow.orders", "best_orders"),
    "what_if": ("engine.dataflow.what_if", "what_if"),
    "capacity_pareto": ("engine.dataflow.what_if", "capacity_pareto"),
    "load": ("engine.models", "load"),
    "from_torch": ("engine.frontends.torch", "from_torch"),
    "from_mlir": ("engine.frontends.mlir", "from_mlir"),
    "to_mlir": ("engine.frontends.mlir", "to_mlir"),
    "import_sam": ("engine.dataflow.samml.exchange", "import_sam_text"),
    "export_sam": ("engine.dataflow.samml.exchange", "export_sam"),
    "import_tortilla": ("engine.dataflow.samml.exchange", "import_tortilla"),
    "export_tortilla": ("engine.dataflow.samml.exchange", "export_tortilla"),
    "run_imported": ("engine.dataflow.sim.imported_runs", "run_imported"),
    "FuseloomError": ("engine.errors", "FuseloomError"),
}
_ROOMS = {
    **{room: f"engine.{room}" for room in ("models", "program", "results", "dataflow")},
    **{
        room: f"engine.dataflow.{room}"
        for room in ("fusion", "table", "samml", "sim", "cost", "orders")
    },
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Import on first use, so that a part of the engine costs only what it needs."""
    if name in _PUBLIC:
        module, attribute = _PUBLIC[name]
        return getattr(import_module(module), attribute)
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    raise AttributeError(f"module 'engine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*__all__, *_ROOMS))
