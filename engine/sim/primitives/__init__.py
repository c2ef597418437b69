"""The primitives' executable specifications, one module per family.

Importing this package registers every generator twin.
"""

from engine.sim.primitives import (
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
    tiles,
    values,
    writers,
)
from engine.sim.primitives.registry import (
    IMPLEMENTATIONS,
    Implementation,
    generator_of,
    implementation,
    register_kernel,
    twin,
)

__all__ = [
    "IMPLEMENTATIONS",
    "Implementation",
    "accumulators",
    "droppers",
    "generator_of",
    "implementation",
    "joiners",
    "ports",
    "reducers",
    "register_kernel",
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
