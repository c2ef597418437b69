"""The execution of each primitive on coordinates, a module per family of the catalogue."""

from fuseloom.dataflow.cost.exact.rules import (
    droppers,
    joiners,
    reducers,
    repeaters,
    routing,
    scanners,
    shaping,
    sources,
    values,
    writers,
)

__all__ = [
    "droppers",
    "joiners",
    "reducers",
    "repeaters",
    "routing",
    "scanners",
    "shaping",
    "sources",
    "values",
    "writers",
]
