"""The primitives' executable specifications, one module per family.

Importing this package registers every golden model.
"""

from fuseloom.dataflow.samml.catalogue import require_registered
from fuseloom.dataflow.sim.golden import (
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
from fuseloom.dataflow.sim.golden import tile_arithmetic as tiles
from fuseloom.dataflow.sim.golden.registry import (
    IMPLEMENTATIONS,
    Implementation,
    golden_model,
    implementation,
)

__all__ = [
    "IMPLEMENTATIONS",
    "Implementation",
    "accumulators",
    "droppers",
    "golden_model",
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
    "values",
    "writers",
]

require_registered(
    "golden model", __name__, IMPLEMENTATIONS, lambda e: {e.name, e.memory.stalled or e.name}
)
