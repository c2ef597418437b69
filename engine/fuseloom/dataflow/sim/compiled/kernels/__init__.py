"""Kernels of the simulation itself: the scheduler, what observes a run, and the memory's replay.

Those of the primitives are with their golden models, in :mod:`fuseloom.dataflow.primitives`.
"""

from fuseloom.dataflow.sim.compiled.cache import KERNELS, CompiledKernel
from fuseloom.dataflow.sim.compiled.kernels import observer, replaying, scheduler

__all__ = ["KERNELS", "CompiledKernel", "observer", "replaying", "scheduler"]
