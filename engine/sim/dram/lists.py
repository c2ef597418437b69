"""What the other functions share: clocks, lists of accesses, answers.

Everything here and in the modules up to :mod:`engine.sim.dram.controller` is plain Python over
the array of :mod:`engine.sim.dram.state`; :mod:`engine.sim.dram.compiled` has the same functions
as machine code.
"""

from __future__ import annotations

from engine.sim.dram.state import (
    ANSWERS,
    AT_ANSWERS,
    BACK,
    BINS,
    C_HEAD,
    C_TAIL,
    CYCLE_PS,
    DONE_READS,
    EARLIEST,
    FREE_NODE,
    FREE_SLOT,
    FRONT,
    HISTOGRAM,
    LAST,
    LATENCY_READS,
    N_KEY,
    N_NEXT,
    N_PREV,
    S_END,
    S_LEFT,
    S_NEXT,
    S_TAG,
    S_TIME,
    S_WRITE,
    TCK_PS,
)
from engine.sim.layout import Int


def bare(m: Int, start: Int, count: Int) -> Int:
    """The array itself; as machine code, :func:`engine.sim.layout.view`, of unchecked indices."""
    return m


def part(m: Int, start: Int, count: Int) -> Int:
    """A slice to read from; as machine code, :func:`engine.sim.layout.view`."""
    return m[start : start + count]


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
    """Floor of the binary logarithm; 0 for less than 1."""
    k = 0
    if number >= 1 << 32:
        number >>= 32
        k += 32
    if number >= 1 << 16:
        number >>= 16
        k += 16
    if number >= 1 << 8:
        number >>= 8
        k += 8
    if number >= 1 << 4:
        number >>= 4
        k += 4
    if number >= 1 << 2:
        number >>= 2
        k += 2
    return k + (number >= 2)


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
    while before != 0 and m[before + N_KEY] > key:
        before = m[before + N_PREV]
    if before == 0:
        after = m[c + C_HEAD]
        m[c + C_HEAD] = node
    else:
        after = m[before + N_NEXT]
        m[before + N_NEXT] = node
    m[node + N_PREV] = before
    m[node + N_NEXT] = after
    if after == 0:
        m[c + C_TAIL] = node
    else:
        m[after + N_PREV] = node


def drop_first(m: Int, c: Int) -> None:
    """Take the first node out of a channel's list."""
    after = m[m[c + C_HEAD] + N_NEXT]
    m[c + C_HEAD] = after
    if after == 0:
        m[c + C_TAIL] = 0
    else:
        m[after + N_PREV] = 0


def answer(m: Int, slot: Int, cycle: Int) -> None:
    """A request is complete: list it, count it, free its slot."""
    at = m[AT_ANSWERS] + 2 * m[ANSWERS]
    m[at] = m[slot + S_TAG]
    m[at + 1] = cycle
    m[ANSWERS] += 1
    m[EARLIEST] = min(m[EARLIEST], cycle)
    m[LAST] = max(m[LAST], cycle)
    write = m[slot + S_WRITE]
    latency = cycle - m[slot + S_TIME]
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
