"""What a node waits for."""

from __future__ import annotations

NONE, INPUT, ROOM, MEMORY, DRAIN = range(5)
"""Nothing, as it has ended; a token; room for one; an answer of the memory; space for what it
writes.  The first four are numbered as in :mod:`fuseloom.dataflow.sim.observe`."""
