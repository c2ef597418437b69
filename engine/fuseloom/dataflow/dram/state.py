"""The one array a memory lives in: its layout, and how it is built.

``m`` holds int64 only: a header, then request slots, nodes of lists, the list of answers, an
optional trace of commands, and one block per channel.  Pointers are indices into ``m``; 0 is
none.  A list of Python ints serves as well, and is faster for the functions as Python runs them.
"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.dram.config import PICOSECONDS, Config, Dram, Ideal, Queues
from fuseloom.dataflow.dram.mapping import Mapping
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

Int: TypeAlias = Any
"""An int64: Python's, or a compiled kernel's."""

Memory: TypeAlias = npt.NDArray[np.int64]

FOREVER = 1 << 60
IDEAL, QUEUES, DRAM = range(3)
READ, WRITE = range(2)
BINS = 40
"""Bins of the latency histogram: bin ``k`` counts latencies from ``2**k`` to ``2**(k+1) - 1``."""
MAX_BANKS = 64
"""Banks of a channel."""

# ---------------------------------------------------------------------------- header

(
    KIND, CHANNELS, AT_CHANNELS, STRIDE, FREE_SLOT, FREE_NODE, ANSWERS, AT_ANSWERS, EARLIEST,
    MIN_LATENCY, STAMP, DONE_READS, DONE_WRITES, LATENCY_READS, LATENCY_WRITES, BYTES,
    AT_TRACE, TRACE_SIZE, TRACED, LAST,
    LATENCY, INTERVAL, AFTER, OFFSET,  # ideal and queues
    CYCLE_PS, TCK_PS, FRONT, BACK, SOONEST,
    ACCESS_BITS, CHANNEL_MASK, CH_SHIFT, CH_MASK, CH_SHIFT2, CH_MASK2,
    BG_SHIFT, BG_MASK, BG_SHIFT2, BG_MASK2, BK_SHIFT, BK_MASK, BK_SHIFT2, BK_MASK2,
    ROW_SHIFT, ROW_MASK, ROW_SHIFT2, ROW_MASK2,
    BANKS, BANK_BITS, AT_EVENTS,
    CL, CWL, RCD, RP, RAS, RC, BL, CCD_S, CCD_L, RRD_S, RRD_L, FAW, WR, RTP, WTR_S, WTR_L, RTW,
    REFI, RFC,
    CLOSED, READ_ROOM, WRITE_ROOM, HIGH, LOW, PATIENCE, CAP,
)  = range(76)  # fmt: skip
HISTOGRAM = 96  # of reads, then of writes
HEADER = HISTOGRAM + 2 * BINS

# ---------------------------------------------------------------------------- requests

S_TAG, S_ISSUE, S_LEFT, S_END = range(4)
S_NEXT = S_TAG
SLOT = 4
"""A request: tag, twice the cycle of issue plus 1 if it writes, accesses left, last clock so far;
while free, the next free one."""

N_NEXT, N_PREV, N_KEY, N_ARRIVAL, N_SLOT, N_ADDRESS, N_COUNT, N_WRITE = range(8)
N_ROW, N_AGE = N_KEY, N_ARRIVAL
NODE = 8
"""Accesses of one request to one channel, in order of arrival; once it is a single one in a
queue, its row and the order in which it came.  Lists are rings through an anchor that is laid out
like a node: N_NEXT is the first, N_PREV the last."""

# ---------------------------------------------------------------------------- channels

(
    C_HEAD, C_TAIL, C_KEY, C_ARRIVAL,
    C_NOW, C_INDEX, C_BASE, C_MODE,
    C_READS, C_WRITES, C_TURN, C_SINCE, C_AGE,
    C_MARK, C_PLACE,
    C_COL, C_COL_W, C_ACT, C_LAST_ACT,
)  = range(19)  # fmt: skip
(
    C_DUE, C_FREE,
    C_DONE_READS, C_DONE_WRITES, C_HITS, C_MISSES, C_CONFLICTS,
    C_ACTIVATES, C_PRECHARGES, C_REFRESHES,
    C_BEST,
)  = range(22, 33)  # fmt: skip
C_CANDIDATES = 40
C_BANKS = C_CANDIDATES + MAX_BANKS
"""A channel: anchor of the list of what has not entered its queues, whose key is less than any and
which never arrives; clock, number, clock that candidates count from; whether it serves reads or
writes, how many of each are queued, column commands before the other kind may take over, clock at
which writes began to wait, accesses so far; request that marked it last and where; first clock of
the next read, write and activate; the last four activates, in a ring; next refresh; cycle from
which a fixed-latency queue is free; counters; best candidate (-1: to be found); candidate of each
bank; banks, then bank groups."""

G_COL, G_COL_W, G_ACT = range(3)
GROUP = 4
"""A bank group: first clock of the next read, write and activate in it."""

(
    Q_HEAD, Q_TAIL, Q_HIT, Q_ROWS,
    B_ROW, B_ACT, B_COL, B_PRE,
)  = range(8)  # fmt: skip
B_FRESH, B_CONFLICT, B_BYPASSED, B_GROUP = range(12, 16)
QUEUE = 8
BANK = 16
"""A bank: its queue of reads, that is the list's anchor, oldest access that matches the open row
or 0, and rows wanted (:func:`fuseloom.dataflow.dram.lists.want`); open row or -1; first clock
of an activate, column command and precharge; its queue of writes; what the next column command
counts as (0: hit); whether a row was closed for the next one; hits that overtook its oldest access;
its group, counted from the channel."""

WANTED = 31
"""Bits that stand for the rows of a bank."""

BANK_MASK = MAX_BANKS - 1
ACTIVATE, COLUMN = MAX_BANKS, 2 * MAX_BANKS
AGE_SHIFT = 8
ROW_COMMAND = 1 << 42
KEY_BITS = 43
KEY_MASK = (1 << KEY_BITS) - 1
SPAN = 1 << 19
NEVER = (1 << 20) - 1 << KEY_BITS
"""A bank's candidate: clock, ROW_COMMAND (after all column commands), age, COLUMN, ACTIVATE,
bank, in one number, so that the least is the one to issue; NEVER where there is none.  The clock
counts from C_BASE, which follows the channel's clock at a distance of SPAN at most; a constraint
holds for less than :data:`fuseloom.dataflow.dram.timing.MAX_TIMING` clocks."""

# ---------------------------------------------------------------------------- trace

COMMANDS = ("ACT", "PRE", "RD", "WR", "RDA", "WRA", "PREA", "REF")
ACT, PRE, RD, WR_, RDA, WRA, PREA, REF = range(8)
TRACE = 6


class DramCommand(NamedTuple):
    """A command on a channel's bus: clock, channel, name, and where (-1: all)."""

    time: int
    channel: int
    name: str
    bankgroup: int
    bank: int
    row: int


def trace(m: Memory) -> list[DramCommand]:
    """The commands recorded so far."""
    count = min(int(m[TRACED]), int(m[TRACE_SIZE]))
    start = int(m[AT_TRACE])
    records = np.asarray(m[start : start + TRACE * count]).reshape(-1, TRACE).tolist()
    return [DramCommand(t, c, COMMANDS[k], g, b, r) for t, c, k, g, b, r in records]


# ---------------------------------------------------------------------------- building


def build(config: Config, clock_hz: float, ports: int, outstanding: int, trace: int = 0) -> Memory:
    """A memory at rest.

    Parameters
    ----------
    config : Dram, Ideal or Queues
        What it is.
    clock_hz : float
        Machine cycles per second.  A cycle counts as an integer of picoseconds.
    ports : int
        Ports that ask.
    outstanding : int
        Unanswered requests per port at most.
    trace : int
        Commands to record; 0 records none.

    Raises
    ------
    SimulationError
        If a number is out of range.
    """
    if ports < 1 or ports > 1 << 16 or outstanding < 1:
        raise SimulationError(
            f"memory {config.name!r}: {counted(ports, 'port')} with "
            f"{counted(outstanding, 'request')} each",
            hint="at least one of each, at most 65536 ports",
        )
    cycle = round(PICOSECONDS / clock_hz) if clock_hz > 0 else 0
    if not 1 <= cycle <= 1 << 20:
        raise SimulationError(
            f"memory {config.name!r}: a machine clock of {clock_hz:g} Hz",
            hint="from 1 MHz to 1 THz",
        )
    channels, banks, groups, depth = 1, 0, 0, 0
    if isinstance(config, Queues):
        channels = config.channel_num
    elif isinstance(config, Dram):
        channels = config.total_channels
        groups, banks = config.bank_groups, config.bank_groups * config.banks
        depth = config.read_queue + config.write_queue
    slots = ports * outstanding
    nodes = channels * (slots + depth)
    at_slots = HEADER
    at_nodes = at_slots + slots * SLOT
    at_answers = at_nodes + nodes * NODE
    at_trace = at_answers + slots * 2
    at_events = at_trace + trace * TRACE
    at_channels = -(-(at_events + channels) // 8) * 8
    stride = -(-(C_BANKS + banks * BANK + groups * GROUP) // 8) * 8
    m = np.zeros(at_channels + channels * stride, np.int64)
    m[CHANNELS], m[AT_CHANNELS], m[STRIDE] = channels, at_channels, stride
    m[AT_ANSWERS], m[AT_TRACE], m[TRACE_SIZE] = at_answers, at_trace, trace
    m[AT_EVENTS] = at_events
    m[BANKS] = banks
    m[CYCLE_PS], m[EARLIEST] = cycle, FOREVER
    m[FREE_SLOT] = _chain(m, at_slots, slots, SLOT, S_NEXT)
    m[FREE_NODE] = _chain(m, at_nodes, nodes, NODE, N_NEXT)
    for k in range(channels):
        at = at_channels + k * stride
        m[at + C_HEAD], m[at + C_TAIL], m[at + C_KEY], m[at + C_ARRIVAL] = at, at, -1, FOREVER
        m[at + C_INDEX], m[at + C_BEST], m[at_events + k] = k, NEVER, FOREVER
    if isinstance(config, Dram):
        _set_dram(m, config)
    elif isinstance(config, Ideal):
        m[KIND], m[LATENCY], m[MIN_LATENCY] = IDEAL, config.latency, config.latency
    else:
        m[KIND], m[INTERVAL] = QUEUES, config.init_interval
        m[AFTER] = config.start_up + config.per_channel_latency + 1
        m[MIN_LATENCY] = m[AFTER] + 2
    return m


def _chain(m: Memory, start: int, count: int, size: int, link: int) -> int:
    """Link free items; the first."""
    items = start + size * np.arange(count)
    m[items[:-1] + link] = items[1:]
    return start


def _set_dram(m: Memory, config: Dram) -> None:
    timing, mapping = config.timing, Mapping.of(config)
    m[KIND] = DRAM
    m[TCK_PS] = config.tck_ps
    m[BACK] = config.controller_latency // 2
    m[FRONT] = config.controller_latency - config.controller_latency // 2
    m[SOONEST] = min(timing.cl, timing.cwl) + timing.bl
    m[MIN_LATENCY] = max(
        1,
        config.controller_latency + ceil(int(m[SOONEST]) * config.tck_ps / int(m[CYCLE_PS])),
    )
    m[ACCESS_BITS] = config.access_bytes.bit_length() - 1
    m[CHANNEL_MASK] = mapping.channel_bits
    for name, at in (
        ("channel", CH_SHIFT), ("bankgroup", BG_SHIFT), ("bank", BK_SHIFT), ("row", ROW_SHIFT)
    ):  # fmt: skip
        m[at : at + 4] = mapping.fields[name]
    m[BANK_BITS] = config.banks.bit_length() - 1
    m[CL : RFC + 1] = (
        timing.cl, timing.cwl, timing.rcd, timing.rp, timing.ras, timing.row_cycle, timing.bl,
        timing.ccd_s, timing.ccd_l, timing.rrd_s, timing.rrd_l, timing.faw, timing.wr,
        timing.rtp, timing.wtr_s, timing.wtr_l, timing.read_to_write, timing.refi, timing.rfc,
    )  # fmt: skip
    m[CLOSED] = config.policy == "closed"
    m[READ_ROOM], m[WRITE_ROOM] = config.read_queue, config.write_queue
    m[HIGH], m[LOW] = config.write_high, config.write_low
    m[PATIENCE], m[CAP] = config.write_patience, config.row_hit_cap
    for k in range(config.total_channels):
        at = int(m[AT_CHANNELS] + k * m[STRIDE])
        m[at + C_DUE] = timing.refi if config.refresh else FOREVER
        m[at + C_LAST_ACT : at + C_LAST_ACT + 4] = -FOREVER
        banks = int(m[BANKS])
        for b in range(banks):
            bank = at + C_BANKS + b * BANK
            m[at + C_CANDIDATES + b] = NEVER | b
            for queue in (bank, bank + QUEUE):
                m[queue + Q_HEAD], m[queue + Q_TAIL] = queue, queue
            m[bank + B_ROW] = -1
            m[bank + B_GROUP] = C_BANKS + banks * BANK + b // config.banks * GROUP
