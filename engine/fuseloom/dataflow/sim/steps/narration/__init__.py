"""Words for what each primitive does, by families; importing this registers all."""

from fuseloom.dataflow.samml.catalogue import require_registered
from fuseloom.dataflow.sim.steps.narration import (
    accumulators,
    droppers,
    joiners,
    ports,
    reducers,
    repeaters,
    routing,
    scanners,
    shaping,
    values,
)
from fuseloom.dataflow.sim.steps.scene import WORDS, narrate

__all__ = [
    "WORDS",
    "accumulators",
    "droppers",
    "joiners",
    "narrate",
    "ports",
    "reducers",
    "repeaters",
    "routing",
    "scanners",
    "shaping",
    "values",
]

require_registered("sentence", __name__, WORDS, lambda entry: {entry.name})
