"""Simulation: takes a dataflow graph with its data and a machine; gives a run exact to the cycle.

Every primitive exists twice: as a generator that specifies it (``engine.dataflow.sim.twins``, run
by ``engine.dataflow.sim.twins.interpreter``) and as a compiled kernel (run by
``engine.dataflow.sim.compiled``).  ``dram`` is the memory, ``explain`` says why a run took its
cycles, ``conformance`` replays reference vectors.
"""

from engine.dataflow.sim.binding import bind
from engine.dataflow.sim.bound import BoundGraph
from engine.dataflow.sim.engines import Engine, run_graph
from engine.dataflow.sim.machine import Machine, Quirks
from engine.dataflow.sim.output import output_tensor
from engine.dataflow.sim.result import EngineResult
from engine.dataflow.sim.trace import NodeTrace, Trace

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
