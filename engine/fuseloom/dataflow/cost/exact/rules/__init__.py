"""The execution of each primitive on coordinates, by families of the catalogue."""

from fuseloom.dataflow.cost.exact.rules import (
    droppers,
    joiners,
    reducers,
    repeaters,
    routing,
    scanners,
    shaping,
    values,
)

__all__ = [
    "droppers",
    "joiners",
    "reducers",
    "repeaters",
    "routing",
    "scanners",
    "shaping",
    "values",
]
