"""Layout of the buffer in which a replayer keeps a subtree."""

from __future__ import annotations

DATA, DATA_COUNT, DATA_ROOM, RUNS, RUN_COUNT, RUN_ROOM, IS_NUMBER = range(7)
"""Offsets in a buffer's description: data of leaves, and runs of (tokens, flags, datum)."""
