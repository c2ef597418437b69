"""Accesses enter the queues of their channel; reads and writes take turns."""

from __future__ import annotations

from fuseloom.dataflow.dram.candidates import propose, propose_all
from fuseloom.dataflow.dram.lists import drop_first, link, new_node, want
from fuseloom.dataflow.dram.state import (
    AGE_SHIFT,
    B_ROW,
    BANK,
    BANK_BITS,
    BG_MASK,
    BG_MASK2,
    BG_SHIFT,
    BG_SHIFT2,
    BK_MASK,
    BK_MASK2,
    BK_SHIFT,
    BK_SHIFT2,
    C_AGE,
    C_BANKS,
    C_HEAD,
    C_MODE,
    C_NOW,
    C_READS,
    C_SINCE,
    C_TURN,
    C_WRITES,
    CHANNEL_MASK,
    FOREVER,
    HIGH,
    LOW,
    N_ADDRESS,
    N_AGE,
    N_ARRIVAL,
    N_COUNT,
    N_ROW,
    N_SLOT,
    N_WRITE,
    PATIENCE,
    Q_HIT,
    Q_TAIL,
    QUEUE,
    READ,
    READ_ROOM,
    ROW_MASK,
    ROW_MASK2,
    ROW_SHIFT,
    ROW_SHIFT2,
    WRITE,
    Int,
)

# ---------------------------------------------------------------------------- arrivals


def arrive(m: Int, c: Int, node: Int) -> None:
    """Let the first access of the list enter its queue."""
    kind = m[node + N_WRITE]
    a = m[node + N_ADDRESS]
    entry = node
    if m[node + N_COUNT] == 1:
        drop_first(m, c)
    else:
        entry = new_node(m)
        m[entry + N_SLOT] = m[node + N_SLOT]
        m[node + N_COUNT] -= 1
        mask = m[CHANNEL_MASK]
        m[node + N_ADDRESS] = (((a | mask) + 1) & ~mask) | (a & mask)
    group = (a >> m[BG_SHIFT] & m[BG_MASK]) | (a >> m[BG_SHIFT2] & m[BG_MASK2])
    bank = (a >> m[BK_SHIFT] & m[BK_MASK]) | (a >> m[BK_SHIFT2] & m[BK_MASK2])
    row = (a >> m[ROW_SHIFT] & m[ROW_MASK]) | (a >> m[ROW_SHIFT2] & m[ROW_MASK2])
    b = group << m[BANK_BITS] | bank
    p = c + C_BANKS + b * BANK
    q = p + QUEUE * kind
    m[entry + N_ROW] = row
    m[entry + N_AGE] = m[c + C_AGE]
    m[c + C_AGE] += 1 << AGE_SHIFT
    want(m, q, row)
    last = m[q + Q_TAIL]
    link(m, last, entry, q)
    is_hit = m[p + B_ROW] == row and m[q + Q_HIT] == 0
    m[q + Q_HIT] = entry if is_hit else m[q + Q_HIT]
    if kind == WRITE and m[c + C_WRITES] == 0:
        m[c + C_SINCE] = m[c + C_NOW]
    m[c + C_READS + kind] += 1
    if (is_hit or last == q) and kind == m[c + C_MODE]:
        propose(m, c, b)


def arrivals(m: Int, c: Int) -> Int:
    """Let all enter that are there and find room; the clock at which the next one can."""
    while True:
        node = m[c + C_HEAD]
        kind = m[node + N_WRITE]
        t = m[node + N_ARRIVAL]
        t = t if m[c + C_READS + kind] < m[READ_ROOM + kind] else FOREVER
        if t > m[c + C_NOW]:
            return t
        arrive(m, c, node)


# ---------------------------------------------------------------------------- reads or writes


def patience(m: Int, c: Int) -> Int:
    """Clock at which writes that wait for reads go first."""
    if m[c + C_WRITES] > 0 and m[c + C_MODE] == READ and m[c + C_TURN] <= 0:
        return m[c + C_SINCE] + m[PATIENCE]
    return FOREVER


def turn(m: Int, c: Int) -> None:
    """Change between reads and writes where that is due."""
    reads, writes = m[c + C_READS], m[c + C_WRITES]
    if m[c + C_MODE] == READ:
        if writes == 0:
            return
        if reads == 0:
            left = 0
        elif m[c + C_TURN] > 0:
            return
        elif writes >= m[HIGH]:
            left = writes - m[LOW]
        elif m[c + C_NOW] >= m[c + C_SINCE] + m[PATIENCE]:
            left = writes
        else:
            return
        m[c + C_MODE] = WRITE
        m[c + C_TURN] = left
        propose_all(m, c)
    elif writes == 0 or (reads > 0 and m[c + C_TURN] <= 0):
        m[c + C_MODE] = READ
        m[c + C_TURN] = m[HIGH] - m[LOW]
        m[c + C_SINCE] = m[c + C_NOW]
        propose_all(m, c)
