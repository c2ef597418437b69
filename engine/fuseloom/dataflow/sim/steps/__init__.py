"""A run to step through: every token with its times, and what each node just did, in words.

``recorder`` runs a graph and keeps it, ``recording`` is what was kept, ``scene`` and ``words``
say what a node did in a cycle, ``story`` what it waited for between, ``chunks`` make JSON of it
for a page, ``regions`` records regions of compiled programs.
"""

from fuseloom.dataflow.sim.steps.recorder import MOST_CYCLES, MOST_TOKENS, RecordingLimits, record
from fuseloom.dataflow.sim.steps.recording import NEVER, Recording, StreamRecord
from fuseloom.dataflow.sim.steps.regions import bound_region, record_graph, record_region
from fuseloom.dataflow.sim.steps.story import Doing, Moment, story

__all__ = [
    "MOST_CYCLES",
    "MOST_TOKENS",
    "NEVER",
    "Doing",
    "Moment",
    "Recording",
    "RecordingLimits",
    "StreamRecord",
    "bound_region",
    "record",
    "record_graph",
    "record_region",
    "story",
]
