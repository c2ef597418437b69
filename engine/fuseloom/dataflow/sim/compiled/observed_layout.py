"""Layout of what an observed run keeps behind its table (``kernels/observer.py``)."""

from __future__ import annotations

from fuseloom.dataflow.sim.compiled.layout import CTL_SIZE, NOTE_COUNT, NOTE_STEP

(
    OBS_BINS,  # bins of each timeline
    OBS_SHIFT,  # cycles per bin are that power of two
    OBS_NODES,  # where the nodes' records are
    OBS_CHANNELS,  # where the channels' records are
    OBS_ROWS,  # where the timelines are: ROWS per node, then one per channel
    OBS_ROW_COUNT,
    OBS_NODE_COUNT,
    OBS_LOG,  # where the ring of log records is
    OBS_LIMIT,  # records it holds; 0: no log
    OBS_LOGGED,  # records written so far,
    OBS_NEXT,  # and where in the ring the next goes
    OBS_DROPPED,  # the latest clock in records that are no longer in the ring; -1: all are
    OBS_NOTES,  # where the notes of a visit are
    OBS_LACKING,  # whether a visit may bring more takes than some channel's past has room for
    OBS_WAITS,  # where the noted waits are,
    OBS_SIGNED,  # up to where they say whose they are,
    OBS_WAITS_END,  # and from where on there might be too little room for those of one more visit
) = range(CTL_SIZE, CTL_SIZE + 17)
OBS_START = CTL_SIZE + 17

ROWS = 4
"""Timelines of a node: busy, waiting for input, for room, for memory."""

NODE_WORDS = 6
WATCHED = 4
"""Clock, stalls for input, for output and for memory at the last harvest; of a broadcast that puts
at most one token a cycle while it delays none, the input and its ``rs`` at the last harvest."""

(
    LATENCY,  # cycles from the put of a number to its timestamp
    PACED,  # whether no two tokens are put in one cycle
    MOST,  # tokens at once as far as the notes tell
    LATEST,  # clock of the last put among them
    HOT,  # last token that was noted because it lay so long
    PAST, PAST_MASK, PAST_HEAD, PAST_TAIL,  # ring of noted takes to which puts may still come
    SEEN_RUNS, SEEN_TAKES,  # with a log: of the channel, at the last harvest
    PUT_COUNT, TAKE_COUNT,  # and tokens harvested
) = range(13)  # fmt: skip
CHANNEL_WORDS = 13

PAST_WORDS = 2  # first token and step, clock; another run begins where it ends
PAST_STEP = 21  # bits of the step
PAST_PER_TOKEN = 2  # most runs that a token brings: its own, and one of tokens before that
UNKNOWN = (1 << PAST_STEP) - 1  # as a step: these tokens are not noted
STEPS = (1 << (NOTE_COUNT - NOTE_STEP)) - 1

LOG_WORDS = 5  # 4 * channel + 2 * has the channel's latency + is a take; first token; t, n, d
