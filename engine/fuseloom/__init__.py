"""Fuseloom: from a sparse program to a simulated dataflow graph, and what it costs.

::

    import fuseloom as fl
    program = fl.parse(text)
    compiled = fl.compile(program, "fuse T1..H; fuse T5..Y", data)
    fl.estimate(compiled, data).cycles
    fl.simulate(compiled, data).check()
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "parse": ("fuseloom.program", "parse"),
    "Program": ("fuseloom.program", "Program"),
    "StoredTensor": ("fuseloom.program", "StoredTensor"),
    "evaluate": ("fuseloom.program", "evaluate"),
    "Schedule": ("fuseloom.dataflow.fusion.schedule", "Schedule"),
    "fuse": ("fuseloom.dataflow.fusion.fuse", "fuse"),
    "compile": ("fuseloom.dataflow.orders", "compile"),
    "Compilation": ("fuseloom.dataflow.compiler", "Compilation"),
    "to_dot": ("fuseloom.dataflow.samml.dot", "to_dot"),
    "Limits": ("fuseloom.dataflow.sim.reports", "Limits"),
    "Machine": ("fuseloom.dataflow.machine", "Machine"),
    "Observe": ("fuseloom.dataflow.sim.observe", "Observe"),
    "simulate": ("fuseloom.dataflow.sim.program_runs", "simulate"),
    "estimate": ("fuseloom.dataflow.cost", "estimate"),
    "explore": ("fuseloom.exploration.sweep", "explore"),
    "Space": ("fuseloom.exploration.sweep", "Space"),
    "Base": ("fuseloom.exploration.sweep", "Base"),
    "autoschedule": ("fuseloom.exploration.autoschedule", "autoschedule"),
    "codesign": ("fuseloom.exploration.codesign", "codesign"),
    "best": ("fuseloom.exploration.best", "best"),
    "compare": ("fuseloom.comparison.compare", "compare"),
    "best_orders": ("fuseloom.dataflow.orders", "best_orders"),
    "what_if": ("fuseloom.dataflow.what_if", "what_if"),
    "capacity_pareto": ("fuseloom.dataflow.what_if", "capacity_pareto"),
    "load": ("fuseloom.models", "load"),
    "read_model": ("fuseloom.results.archive", "read_model"),
    "from_torch": ("fuseloom.exploration.torch_modules", "from_torch"),
    "from_mlir": ("fuseloom.frontends.mlir", "from_mlir"),
    "to_mlir": ("fuseloom.frontends.mlir", "to_mlir"),
    "import_sam": ("fuseloom.dataflow.samml.exchange", "import_sam"),
    "export_sam": ("fuseloom.dataflow.samml.exchange", "export_sam"),
    "import_tortilla": ("fuseloom.dataflow.samml.exchange", "import_tortilla"),
    "export_tortilla": ("fuseloom.dataflow.samml.exchange", "export_tortilla"),
    "run_imported": ("fuseloom.dataflow.sim.imported_runs", "run_imported"),
    "FuseloomError": ("fuseloom.errors", "FuseloomError"),
}
_PACKAGES = {
    **{name: f"fuseloom.{name}" for name in ("models", "program", "results", "dataflow")},
    **{
        name: f"fuseloom.dataflow.{name}"
        for name in ("fusion", "table", "samml", "sim", "cost", "orders")
    },
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Import on first use, so that a part of the engine costs only what it needs."""
    if name in _PUBLIC:
        module, attribute = _PUBLIC[name]
        return getattr(import_module(module), attribute)
    if name in _PACKAGES:
        return import_module(_PACKAGES[name])
    raise AttributeError(f"module 'fuseloom' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*__all__, *_PACKAGES))
