"""The shared functions of the memory model: clocks, lists of accesses, answers.

Everything here and in the modules up to :mod:`fuseloom.dataflow.dram.controller` is plain
Python over the array of :mod:`fuseloom.dataflow.dram.state`;
:mod:`fuseloom.dataflow.sim.compiled.dram` has the same functions as machine code.
"""

from __future__ import annotations

from fuseloom.dataflow.dram.state import (
    ANSWERS,
    AT_ANSWERS,
    BACK,
    BINS,
    C_HEAD,
    C_TAIL,
    CYCLE_PS,
    DONE_READS,
    EARLIEST,
    FOREVER,
    FREE_NODE,
    FREE_SLOT,
    FRONT,
    HISTOGRAM,
    LAST,
    LATENCY_READS,
    N_KEY,
    N_NEXT,
    N_PREV,
    Q_ROWS,
    S_END,
    S_ISSUE,
    S_LEFT,
    S_NEXT,
    S_TAG,
    TCK_PS,
    WANTED,
    Int,
)


def bare(m: Int) -> Int:
    """The array itself; as machine code, :func:`fuseloom.dataflow.sim.compiled.layout.pointer`."""
    return m


def clock_of(m: Int, cycle: Int) -> Int:
    """First memory clock at which a request of that machine cycle is in the controller."""
    if m[CYCLE_PS] == m[TCK_PS]:  # no division, which costs as much as a command
        return cycle + m[FRONT]
    return ((cycle + m[FRONT]) * m[CYCLE_PS] + m[TCK_PS] - 1) // m[TCK_PS]


def cycle_of(m: Int, clock: Int) -> Int:
    """First machine cycle at which data complete at that memory clock are back."""
    if m[CYCLE_PS] == m[TCK_PS]:
        return clock + m[BACK]
    return (clock * m[TCK_PS] + m[CYCLE_PS] - 1) // m[CYCLE_PS] + m[BACK]


def log2(number: Int) -> Int:
    """Floor of the binary logarithm of a positive number.

    The compiler makes this loop one instruction, once it sees that no sign is shifted.
    """
    number &= FOREVER - 1
    k = -1
    while number > 0:
        number >>= 1
        k += 1
    return k


def row_bit(row: Int) -> Int:
    """A row's bit among those that stand for all rows."""
    return 1 << min(row & 31, WANTED - 1)


def want(m: Int, q: Int, row: Int) -> None:
    """An access to that row enters a queue.

    The low bits tell which rows are wanted by some access, the high bits, which by several:
    where none is, no other access need be looked for
    (:func:`fuseloom.dataflow.dram.scheduler.leave`). As rows share bits, and high bits stay
    until the queue is empty, they may err on that side.
    """
    rows = m[q + Q_ROWS]
    bit = row_bit(row)
    m[q + Q_ROWS] = rows | (rows & bit) << WANTED | bit


def new_node(m: Int) -> Int:
    """A node off the free list."""
    node = m[FREE_NODE]
    m[FREE_NODE] = m[node + N_NEXT]
    return node


def free_node(m: Int, node: Int) -> None:
    """Give a node back."""
    m[node + N_NEXT] = m[FREE_NODE]
    m[FREE_NODE] = node


def insert(m: Int, c: Int, node: Int) -> None:
    """Put a node into a channel's list, behind all whose key is not larger."""
    before = m[c + C_TAIL]
    key = m[node + N_KEY]
    while m[before + N_KEY] > key:
        before = m[before + N_PREV]
    link(m, before, node, m[before + N_NEXT])


def link(m: Int, before: Int, node: Int, after: Int) -> None:
    """Put a node between two."""
    m[node + N_PREV] = before
    m[node + N_NEXT] = after
    m[before + N_NEXT] = node
    m[after + N_PREV] = node


def unlink(m: Int, before: Int, after: Int) -> None:
    """Take out what is between two nodes."""
    m[before + N_NEXT] = after
    m[after + N_PREV] = before


def drop_first(m: Int, c: Int) -> None:
    """Take the first node out of a channel's list."""
    unlink(m, c, m[m[c + C_HEAD] + N_NEXT])


def answer(m: Int, slot: Int, cycle: Int) -> None:
    """A request is complete: list it, count it, free its slot."""
    at = m[AT_ANSWERS] + 2 * m[ANSWERS]
    m[at] = m[slot + S_TAG]
    m[at + 1] = cycle
    m[ANSWERS] += 1
    m[EARLIEST] = min(m[EARLIEST], cycle)
    m[LAST] = max(m[LAST], cycle)
    write = m[slot + S_ISSUE] & 1
    latency = cycle - (m[slot + S_ISSUE] >> 1)
    m[DONE_READS + write] += 1
    m[LATENCY_READS + write] += latency
    m[HISTOGRAM + BINS * write + log2(latency)] += 1
    m[slot + S_NEXT] = m[FREE_SLOT]
    m[FREE_SLOT] = slot


def finish_access(m: Int, slot: Int, end: Int) -> None:
    """One access of a request has its data by clock ``end``."""
    m[slot + S_LEFT] -= 1
    if m[slot + S_LEFT] == 0:
        answer(m, slot, cycle_of(m, max(end, m[slot + S_END])))
    else:
        m[slot + S_END] = max(end, m[slot + S_END])
