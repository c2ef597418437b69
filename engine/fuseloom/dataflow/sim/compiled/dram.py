"""The functions of the memory as machine code, for kernels and drivers to call.

They are the very functions of :mod:`fuseloom.dataflow.dram.replay` and the modules below it,
bound to compiled helpers instead of each other.  Nothing is compiled before a caller is.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from fuseloom.dataflow.dram import admission, candidates, controller, lists, scheduler
from fuseloom.dataflow.dram import replay as replaying
from fuseloom.dataflow.sim.compiled import layout
from fuseloom.dataflow.sim.compiled.inlining import inline


def _compile(*modules: ModuleType) -> dict[str, Any]:
    """Functions of the modules by name; each is bound to those before it."""
    names: dict[str, Any] = {}
    for module in modules:
        own = {
            name: item
            for name, item in vars(module).items()
            if isinstance(item, FunctionType) and item.__module__ == module.__name__
        }
        for name, item in vars(module).items():
            if name not in own and name not in names:
                names[name] = item
        for name, function in own.items():
            copy = FunctionType(function.__code__, names, name, function.__defaults__)
            names[name] = layout.pointer if name == "bare" else inline(copy)
    return names


_FUNCTIONS = _compile(lists, candidates, admission, scheduler, controller, replaying)

push: Any = _FUNCTIONS["push"]
advance: Any = _FUNCTIONS["advance"]
answer_tag: Any = _FUNCTIONS["answer_tag"]
answer_time: Any = _FUNCTIONS["answer_time"]
min_latency: Any = _FUNCTIONS["min_latency"]
earliest: Any = _FUNCTIONS["earliest"]
replay_requests: Any = _FUNCTIONS["replay_requests"]
