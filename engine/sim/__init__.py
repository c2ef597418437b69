"""Simulation of dataflow graphs, exact to the cycle, on a machine that is a parameter.

Every primitive exists twice: as a generator that specifies it (``engine.sim.primitives``, run
by ``engine.sim.interpreter``) and as a compiled kernel (run by ``engine.sim.compiled``).
"""

from engine.sim.bound import BoundGraph, bind
from engine.sim.machine import Machine, Quirks
from engine.sim.output import output_tensor
from engine.sim.result import EngineResult
from engine.sim.simulate import Engine, run_graph
from engine.sim.trace import NodeTrace, Trace

__all__ = [
    "BoundGraph",
    "Engine",
    "EngineResult",
    "Machine",
    "NodeTrace",
    "Quirks",
    "Trace",
    "bind",
    "output_tensor",
    "run_graph",
]
