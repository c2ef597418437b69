"""The primitives' executable specifications, one module per family.

Importing this package registers every generator twin.
"""

from fuseloom.dataflow.samml.catalogue import require_registered
from fuseloom.dataflow.sim.twins import (
    accumulators,
    droppers,
    joiners,
    ports,
    reducers,
    repeaters,
    routing,
    scanners,
    shaping,
    sources,
    stalling,
    values,
    writers,
)
from fuseloom.dataflow.sim.twins import tile_arithmetic as tiles
from fuseloom.dataflow.sim.twins.registry import (
    IMPLEMENTATIONS,
    Implementation,
    implementation,
    twin,
)

__all__ = [
    "IMPLEMENTATIONS",
    "Implementation",
    "accumulators",
    "droppers",
    "implementation",
    "joiners",
    "ports",
    "reducers",
    "repeaters",
    "routing",
    "scanners",
    "shaping",
    "sources",
    "stalling",
    "tiles",
    "twin",
    "values",
    "writers",
]

require_registered(
    "twin", __name__, IMPLEMENTATIONS, lambda e: {e.name, e.memory.stalled or e.name}
)
