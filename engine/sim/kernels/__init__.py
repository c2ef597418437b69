"""The primitives' compiled kernels, one module per family, as their twins are.

Importing this package imports numba and registers every kernel; nothing is compiled yet.
"""

from engine.samml.catalogue import CATALOGUE
from engine.sim.cache import KERNELS, Kernel
from engine.sim.kernels import (
    accumulators,
    droppers,
    joiners,
    lanes,
    observer,
    reducers,
    repeaters,
    routing,
    scanners,
    scheduler,
    sources,
    values,
    writers,
)
from engine.sim.primitives.registry import register_kernel

for _name in KERNELS.keys() & CATALOGUE.keys():
    register_kernel(_name, KERNELS[_name])

__all__ = [
    "KERNELS",
    "Kernel",
    "accumulators",
    "droppers",
    "joiners",
    "lanes",
    "observer",
    "reducers",
    "repeaters",
    "routing",
    "scanners",
    "scheduler",
    "sources",
    "values",
    "writers",
]
