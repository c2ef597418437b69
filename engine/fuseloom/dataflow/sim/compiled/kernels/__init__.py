"""The primitives' compiled kernels, one module per family, as their golden models are.

Importing this package imports numba and registers every kernel; nothing is compiled yet.
"""

from fuseloom.dataflow.samml.catalogue import require_registered
from fuseloom.dataflow.sim.compiled.cache import KERNELS, CompiledKernel
from fuseloom.dataflow.sim.compiled.kernels import (
    accumulators,
    aligners,
    droppers,
    joiners,
    lanes,
    loads,
    masks,
    observer,
    read_ports,
    reducers,
    repeaters,
    replayers,
    replaying,
    routing,
    scanners,
    scheduler,
    searchers,
    shaping,
    sources,
    spacc,
    stalling,
    tile_functions,
    tile_reducers,
    values,
    write_ports,
    writers,
    zeros,
)
from fuseloom.dataflow.sim.compiled.kernels import tile_arithmetic as tiles

__all__ = [
    "KERNELS",
    "CompiledKernel",
    "accumulators",
    "aligners",
    "droppers",
    "joiners",
    "lanes",
    "loads",
    "masks",
    "observer",
    "read_ports",
    "reducers",
    "repeaters",
    "replayers",
    "replaying",
    "routing",
    "scanners",
    "scheduler",
    "searchers",
    "shaping",
    "sources",
    "spacc",
    "stalling",
    "tile_functions",
    "tile_reducers",
    "tiles",
    "values",
    "write_ports",
    "writers",
    "zeros",
]

require_registered(
    "kernel",
    __name__,
    KERNELS,
    lambda entry: entry.kernels.names.union(filter(None, [entry.memory.stalled])),
)
