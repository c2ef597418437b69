"""Simulation: takes a dataflow graph with its data and a machine; gives a run exact to the cycle.

Every primitive exists twice: as a generator that specifies it (``fuseloom.dataflow.sim.golden``,
run by ``fuseloom.dataflow.sim.golden.interpreter``) and as a compiled kernel (run by
``fuseloom.dataflow.sim.compiled``).  ``explain`` says why a run took its cycles, ``conformance``
replays reference vectors.
"""

from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import Engine, run_graph
from fuseloom.dataflow.sim.output import output_tensor
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.sim.trace import NodeTrace, Trace

__all__ = [
    "BoundGraph",
    "Engine",
    "EngineResult",
    "NodeTrace",
    "Trace",
    "bind",
    "output_tensor",
    "run_graph",
]
