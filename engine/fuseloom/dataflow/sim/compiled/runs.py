"""The flags of a run: the kind of its tokens, and how timestamps and data go on in it."""

from __future__ import annotations

LEAF, STOP, EMPTY, DONE, REPEAT, SIGNAL_STOP = range(6)
"""Kinds of tokens, as :mod:`fuseloom.dataflow.sim.tokens` encodes them."""

KIND = 7  # mask of the kind,
SLOPE = 8  # timestamps advance by 1 per token,
STEP = 16  # so does the datum,
MEM = 32  # the datum is an offset into a pool,
RING = 64  # ... namely into the channel's own ring,
UNUSUAL = 128  # a number stamped a cycle after its put, or an empty token as late as a number
