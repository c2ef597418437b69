"""The primitives' compiled kernels, one module per family, as their twins are.

Importing this package imports numba and registers every kernel; nothing is compiled yet.
"""

from engine.samml.catalogue import CATALOGUE
from engine.sim.cache import KERNELS, Kernel
from engine.sim.kernels import (
    accumulators,
    aligners,
    droppers,
    joiners,
    lanes,
    masks,
    observer,
    read_ports,
    reducers,
    repeaters,
    replayers,
    routing,
    scanners,
    scheduler,
    shaping,
    sources,
    spacc,
    stalling,
    tile_functions,
    tile_reducers,
    tiles,
    values,
    write_ports,
    writers,
)
from engine.sim.primitives.registry import register_kernel
from engine.table.cells import MAX_ACCUMULATOR_ORDER

for _name in KERNELS.keys() & CATALOGUE.keys():
    register_kernel(_name, KERNELS[_name])
for _order in range(2, MAX_ACCUMULATOR_ORDER + 1):
    register_kernel(f"spacc{_order}", KERNELS["spacc"])
register_kernel("tilefold", KERNELS["tile_unary"])

__all__ = [
    "KERNELS",
    "Kernel",
    "accumulators",
    "aligners",
    "droppers",
    "joiners",
    "lanes",
    "masks",
    "observer",
    "read_ports",
    "reducers",
    "repeaters",
    "replayers",
    "routing",
    "scanners",
    "scheduler",
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
]
