"""Requests in, answers out.

A driver pushes requests and advances the memory when nothing else can happen before the next
answer::

    push(m, time, port, address, size, write, tag)
    for k in range(advance(m)):
        tag, time = answer_tag(m, k), answer_time(m, k)

Answers come in no particular order, but all the memory did until then was decided before any
request could be felt that is issued at or after the earliest of them.  So a driver may react to
an answer of cycle ``c`` with requests of cycles ``c`` and later, in any order of pushes; a later
:func:`advance` never gives an answer earlier than those.  Requests of one cycle are served by
kind (reads first), then port, then order of pushes.
"""

from __future__ import annotations

from fuseloom.dataflow.dram.lists import (
    answer,
    bare,
    clock_of,
    cycle_of,
    drop_first,
    free_node,
    insert,
    new_node,
)
from fuseloom.dataflow.dram.scheduler import run
from fuseloom.dataflow.dram.state import (
    ACCESS_BITS,
    AFTER,
    ANSWERS,
    AT_ANSWERS,
    AT_CHANNELS,
    AT_EVENTS,
    BYTES,
    C_DONE_READS,
    C_FREE,
    C_HEAD,
    C_MARK,
    C_PLACE,
    CH_MASK,
    CH_MASK2,
    CH_SHIFT,
    CH_SHIFT2,
    CHANNELS,
    DRAM,
    EARLIEST,
    FOREVER,
    FREE_SLOT,
    IDEAL,
    INTERVAL,
    KIND,
    LATENCY,
    MIN_LATENCY,
    N_ADDRESS,
    N_ARRIVAL,
    N_COUNT,
    N_KEY,
    N_SLOT,
    N_WRITE,
    OFFSET,
    QUEUES,
    S_END,
    S_ISSUE,
    S_LEFT,
    S_NEXT,
    S_TAG,
    SOONEST,
    STAMP,
    STRIDE,
    Int,
)

# ---------------------------------------------------------------------------- requests


def enlist(m: Int, c: Int, key: Int, arrival: Int, slot: Int, address: Int, write: Int) -> Int:
    """Put an access into a channel's list; its node."""
    node = new_node(m)
    m[node + N_KEY] = key
    m[node + N_ARRIVAL] = arrival
    m[node + N_SLOT] = slot
    m[node + N_ADDRESS] = address
    m[node + N_COUNT] = 1
    m[node + N_WRITE] = write
    insert(m, c, node)
    return node


def channel_of(m: Int, a: Int) -> Int:
    """Number of the channel an access goes to."""
    return (a >> m[CH_SHIFT] & m[CH_MASK]) | (a >> m[CH_SHIFT2] & m[CH_MASK2])


def place(m: Int, number: Int, key: Int, arrival: Int, slot: Int, address: Int, write: Int) -> Int:
    """Put an access into the list of a channel of a DRAM, which it may wake; its node."""
    c = m[AT_CHANNELS] + number * m[STRIDE]
    node = enlist(m, c, key, arrival, slot, address, write)
    at = m[AT_EVENTS] + number
    m[at] = min(m[at], arrival)
    return node


def split(m: Int, key: Int, arrival: Int, slot: Int, address: Int, size: Int, write: Int) -> None:
    """Deal the accesses of a request to the channels."""
    first = address >> m[ACCESS_BITS]
    last = (address + size - 1) >> m[ACCESS_BITS]
    m[slot + S_LEFT] = last - first + 1
    if first == last:
        place(m, channel_of(m, first), key, arrival, slot, first, write)
        return
    m[STAMP] += 1
    stamp = m[STAMP]
    for a in range(first, last + 1):
        number = channel_of(m, a)
        c = m[AT_CHANNELS] + number * m[STRIDE]
        if m[c + C_MARK] == stamp:
            m[m[c + C_PLACE] + N_COUNT] += 1
        else:
            m[c + C_MARK] = stamp
            m[c + C_PLACE] = place(m, number, key, arrival, slot, a, write)


def push(m: Int, time: Int, port: Int, address: Int, size: Int, write: Int, tag: Int) -> None:
    """A request of a port, issued at machine cycle ``time``.

    Parameters
    ----------
    m : array
        The memory.
    time : int
        Machine cycle; not before the earliest answer of the last :func:`advance`.
    port : int
        Reader or writer port, numbered separately; decides among requests of one cycle.
    address, size : int
        Bytes from ``address`` on.  Where the memory is queues, ``size`` counts words of 4
        bytes, and the address means nothing.
    write : int
        0 reads, 1 writes.
    tag : int
        Comes back with the answer.
    """
    m = bare(m)
    size = max(size, 1)
    slot = m[FREE_SLOT]
    m[FREE_SLOT] = m[slot + S_NEXT]
    m[slot + S_TAG] = tag
    m[slot + S_ISSUE] = time << 1 | write
    m[slot + S_LEFT] = size
    m[slot + S_END] = 0
    m[BYTES] += size * 4 if m[KIND] == QUEUES else size
    key = (time << 1 | write) << 16 | port
    if m[KIND] == DRAM:
        split(m, key, clock_of(m, time), slot, address, size, write)
    else:
        enlist(m, m[AT_CHANNELS], key, time, slot, 0, write)


# ---------------------------------------------------------------------------- answers


def advance_ideal(m: Int) -> None:
    """Answer everything."""
    c = m[AT_CHANNELS]
    while m[c + C_HEAD] != c:
        node = m[c + C_HEAD]
        slot = m[node + N_SLOT]
        m[c + C_DONE_READS + (m[slot + S_ISSUE] & 1)] += 1
        drop_first(m, c)
        free_node(m, node)
        answer(m, slot, (m[slot + S_ISSUE] >> 1) + m[LATENCY])


def serve_batch(m: Int) -> None:
    """Deal the words of all bundles of the earliest cycle to the queues."""
    base = m[AT_CHANNELS]
    tau = m[m[base + C_HEAD] + N_ARRIVAL]
    i = 0
    while m[base + C_HEAD] != base and m[m[base + C_HEAD] + N_ARRIVAL] == tau:
        node = m[base + C_HEAD]
        slot = m[node + N_SLOT]
        last = 0
        for _ in range(m[slot + S_LEFT]):
            m[OFFSET] = (m[OFFSET] + i) % m[CHANNELS]
            i += 1
            c = base + m[OFFSET] * m[STRIDE]
            start = max(tau + 2, m[c + C_FREE])
            m[c + C_FREE] = start + m[INTERVAL]
            m[c + C_DONE_READS + (m[slot + S_ISSUE] & 1)] += 1
            last = max(last, start + m[AFTER])
        drop_first(m, base)
        free_node(m, node)
        answer(m, slot, last)
    m[OFFSET] = (m[OFFSET] + i) % m[CHANNELS]


def advance_queues(m: Int) -> None:
    """Serve batches as long as no answer can lead to an earlier one."""
    c = m[AT_CHANNELS]
    while m[c + C_HEAD] != c and m[m[c + C_HEAD] + N_ARRIVAL] < m[EARLIEST]:
        serve_batch(m)


def soonest_event(m: Int) -> Int:
    """Clock of the next event of any channel."""
    event = FOREVER
    at = m[AT_EVENTS]
    for k in range(m[CHANNELS]):
        event = min(event, m[at + k])
    return event


def advance_dram(m: Int) -> None:
    """Run all channels, in windows within which no answer can be felt, up to the first answer.

    Whatever is decided from clock ``s`` on is answered at ``cycle_of(s + SOONEST)`` at the
    earliest, and what is asked then is in the controller at ``clock_of`` that.
    """
    while True:
        event = soonest_event(m)
        if event >= FOREVER:
            return
        until = clock_of(m, cycle_of(m, event + m[SOONEST]))
        if m[EARLIEST] < FOREVER:
            felt = clock_of(m, m[EARLIEST])
            if event >= felt:
                return
            until = min(until, felt)
        at = m[AT_EVENTS]
        for k in range(m[CHANNELS]):
            if m[at + k] < until:
                run(m, k, until)


def advance(m: Int) -> Int:
    """Run the memory until a request is answered; how many are. 0: none was pending."""
    m = bare(m)
    m[ANSWERS] = 0
    m[EARLIEST] = FOREVER
    if m[KIND] == DRAM:
        advance_dram(m)
    elif m[KIND] == IDEAL:
        advance_ideal(m)
    else:
        advance_queues(m)
    return m[ANSWERS]


def answer_tag(m: Int, k: Int) -> Int:
    """Tag of answer ``k`` of the last :func:`advance`."""
    m = bare(m)
    return m[m[AT_ANSWERS] + 2 * k]


def answer_time(m: Int, k: Int) -> Int:
    """Machine cycle of answer ``k`` of the last :func:`advance`."""
    m = bare(m)
    return m[m[AT_ANSWERS] + 2 * k + 1]


# ---------------------------------------------------------------------------- bounds


def min_latency(m: Int) -> Int:
    """Machine cycles from any request to its answer, at least; 1 or more."""
    return m[MIN_LATENCY]


def earliest(m: Int) -> Int:
    """No pending request is answered before this machine cycle; FOREVER if none is pending."""
    m = bare(m)
    if m[KIND] == DRAM:
        event = soonest_event(m)
        return FOREVER if event >= FOREVER else cycle_of(m, event + m[SOONEST])
    c = m[AT_CHANNELS]
    node = m[c + C_HEAD]
    return FOREVER if node == c else m[node + N_ARRIVAL] + m[MIN_LATENCY]
