"""The table of a run: its control words, and what an observed run keeps behind them."""

from __future__ import annotations

ORDER, COUNT, LEFT, LAST, VISITS, PORTS, MEMORY, NEXT_NOTE, NEXT_WAIT = range(7, 16)
SIZE = 16
"""The table: addresses of the first seven arrays; where in the integers the order of visits is
and how long; nodes not ended; node visited last; visits so far; where in the integers the ports
of the memory are; address of the kernel that lets it answer, 0 where there is none;
where in the table the next note goes, and the next wait; 0 where no waits are to be noted."""

WAIT_WORDS, WAIT_NODE = 3, 2
"""A noted wait: clock before it, why, clock after it; first bit of the node in the second, which
is one more than its number, and 0 while the visit lasts."""

NOTE_CHANNEL, NOTE_TOKEN, NOTE_STAMP, NOTE_TAKE, NOTE_THEN, NOTE_RUN = range(6)
NOTE_WORDS = 6
"""A noted take: channel, number of the first token and its timestamp; clock at which it was taken,
and the second; tokens, cycles from each to the next from the second on, slope, and whether they
have their producer's latency, in bits."""

NOTE_LATE, NOTE_STEP, NOTE_COUNT = 1, 4, 34
"""Mask of the latter; first bit of the cycles, and of the tokens."""

(
    BINS,  # bins of each timeline
    SHIFT,  # cycles per bin are that power of two
    NODES,  # where the nodes' records are
    CHANNELS,  # where the channels' records are
    ROWS,  # where the timelines are: NODE_ROWS per node, then one per channel
    ROW_COUNT,
    NODE_COUNT,
    LOG,  # where the ring of log records is
    LIMIT,  # records it holds; 0: no log
    LOGGED,  # records written so far,
    NEXT_RECORD,  # and where in the ring the next goes
    DROPPED,  # the latest clock in records that are no longer in the ring; -1: all are
    NOTES,  # where the notes of a visit are
    LACKING,  # whether a visit may bring more takes than some channel's past has room for
    WAITS,  # where the noted waits are,
    SIGNED,  # up to where they say whose they are,
    WAITS_END,  # and from where on there might be too little room for those of one more visit
) = range(SIZE, SIZE + 17)
START = SIZE + 17

NODE_ROWS = 4
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
