"""The primitives' executable specifications, one module per family.

Importing this package registers every generator twin.
"""

from engine.sim.primitives import (
    accumulators,
    droppers,
    joiners,
    reducers,
    repeaters,
    routing,
    scanners,
    shaping,
    sources,
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
    "reducers",
    "register_kernel",
    "repeaters",
    "routing",
    "scanners",
    "shaping",
    "sources",
    "tiles",
    "twin",
    "values",
    "writers",
]
