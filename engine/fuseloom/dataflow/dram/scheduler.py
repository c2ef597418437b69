"""First-ready first-come-first-served scheduling of one channel, clock by clock but for the gaps.

At every clock a controller may issue one command.  Among those that every timing constraint
allows, it issues the column command (a row hit) of the oldest access; where there is none, the
activate or precharge of the oldest.  Only the oldest matching access of each bank competes, so a
bank has one *candidate*: a column command where its open row is wanted, an activate where no row
is open, otherwise a precharge.  Each keeps the first clock that all commands so far allow: every
command puts off what it forbids in other banks, and finds the next one, in one pass over them.

A hit may overtake its bank's oldest access ``row_hit_cap`` times per open row.

Reads go first.  The controller turns to writes when it has no reads, when ``write_high`` writes
are queued (until ``write_low`` are left) or when writes waited for ``write_patience`` clocks
(until those are done); then it serves at least ``write_high - write_low`` reads, if there are.

A refresh that is due goes before everything else: precharge all, refresh all.  Nothing enters the
queues between the clock at which it is due and its command.

A write is answered when its data have been on the bus, not when it is queued.  Accesses to one
address are not kept in order: what depends on a write is asked for after its answer.
"""

from __future__ import annotations

from fuseloom.dataflow.dram.admission import (
    arrivals,
    patience,
    turn,
)
from fuseloom.dataflow.dram.candidates import (
    candidate,
    clock,
    find_best,
    propose_all,
    settle,
    to_activate,
    to_column,
)
from fuseloom.dataflow.dram.lists import (
    finish_access,
    row_bit,
    unlink,
)
from fuseloom.dataflow.dram.state import (
    ACT,
    ACTIVATE,
    AT_CHANNELS,
    AT_EVENTS,
    AT_TRACE,
    B_ACT,
    B_BYPASSED,
    B_COL,
    B_CONFLICT,
    B_FRESH,
    B_GROUP,
    B_PRE,
    B_ROW,
    BANK,
    BANK_BITS,
    BANK_MASK,
    BANKS,
    BL,
    C_ACT,
    C_ACTIVATES,
    C_BANKS,
    C_BASE,
    C_BEST,
    C_COL,
    C_COL_W,
    C_DONE_READS,
    C_DUE,
    C_HITS,
    C_INDEX,
    C_LAST_ACT,
    C_MODE,
    C_NOW,
    C_PRECHARGES,
    C_READS,
    C_REFRESHES,
    C_SINCE,
    C_TURN,
    C_WRITES,
    CCD_L,
    CCD_S,
    CL,
    CLOSED,
    COLUMN,
    CWL,
    FAW,
    FREE_NODE,
    G_ACT,
    G_COL,
    N_NEXT,
    N_PREV,
    N_ROW,
    N_SLOT,
    PRE,
    PREA,
    Q_HEAD,
    Q_HIT,
    Q_ROWS,
    QUEUE,
    RAS,
    RC,
    RCD,
    RD,
    RDA,
    READ,
    REF,
    REFI,
    RFC,
    RP,
    RRD_L,
    RRD_S,
    RTP,
    RTW,
    SPAN,
    STRIDE,
    TRACE,
    TRACE_SIZE,
    TRACED,
    WANTED,
    WR,
    WRITE,
    WTR_L,
    WTR_S,
    Int,
)


def record(m: Int, c: Int, t: Int, command: Int, b: Int, row: Int) -> None:
    """Add a command to the trace, if one is wanted; ``b`` of -1 is all banks."""
    if m[TRACE_SIZE] == 0:
        return
    if m[TRACED] < m[TRACE_SIZE]:
        at = m[AT_TRACE] + TRACE * m[TRACED]
        m[at] = t
        m[at + 1] = m[c + C_INDEX]
        m[at + 2] = command
        m[at + 3] = b >> m[BANK_BITS]
        m[at + 4] = -1 if b < 0 else b & ((1 << m[BANK_BITS]) - 1)
        m[at + 5] = row
    m[TRACED] += 1


def matching(m: Int, q: Int, entry: Int, row: Int) -> Int:
    """The first access of a queue from ``entry`` on that wants that row; 0 if there is none."""
    while entry != q and m[entry + N_ROW] != row:
        entry = m[entry + N_NEXT]
    return 0 if entry == q else entry


def activate(m: Int, c: Int, b: Int, t: Int) -> None:
    """ACT: open the row that a bank's oldest access wants."""
    mode = m[c + C_MODE]
    p = c + C_BANKS + b * BANK
    q, other = p + QUEUE * mode, p + QUEUE * (1 - mode)
    oldest = m[q + Q_HEAD]
    row = m[oldest + N_ROW]
    m[p + B_ROW] = row
    m[q + Q_HIT] = oldest
    m[other + Q_HIT] = matching(m, other, m[other + Q_HEAD], row)
    m[p + B_ACT] = t + m[RC]
    m[p + B_COL] = t + m[RCD]
    m[p + B_PRE] = t + m[RAS]
    m[p + B_FRESH] = 1 + m[p + B_CONFLICT]
    m[p + B_CONFLICT] = 0
    m[p + B_BYPASSED] = 0
    count = m[c + C_ACTIVATES]
    m[c + C_ACTIVATES] = count + 1
    m[c + C_LAST_ACT + (count & 3)] = t
    fourth = m[c + C_LAST_ACT + (count + 1 & 3)]
    far = max(m[RRD_S], fourth - t + m[FAW])
    m[c + C_ACT] = t + far
    m[c + m[p + B_GROUP] + G_ACT] = t + m[RRD_L]
    m[c + C_NOW] = t + 1
    record(m, c, t, ACT, b, row)
    settle(m, c, b, to_column(m, c, b, p, oldest), ACTIVATE, max(m[RRD_L], far), far)


def precharge(m: Int, c: Int, b: Int, t: Int) -> None:
    """PRE: close a bank's row, as its oldest access wants another."""
    p = c + C_BANKS + b * BANK
    record(m, c, t, PRE, b, m[p + B_ROW])
    close(m, p, t)
    m[p + B_CONFLICT] = 1
    m[c + C_PRECHARGES] += 1
    m[c + C_NOW] = t + 1
    settle(m, c, b, to_activate(m, c, b, p, m[p + QUEUE * m[c + C_MODE] + Q_HEAD]), 0, 0, 0)


def close(m: Int, p: Int, t: Int) -> None:
    """The row of a bank closes at clock ``t``."""
    m[p + B_ROW] = -1
    m[p + Q_HIT] = 0
    m[p + QUEUE + Q_HIT] = 0
    m[p + B_ACT] = max(m[p + B_ACT], t + m[RP])


def leave(m: Int, p: Int, q: Int, row: Int) -> Int:
    """Take a bank's hit out of its queue and find the next one; its slot."""
    entry = m[q + Q_HIT]
    before, after = m[entry + N_PREV], m[entry + N_NEXT]
    unlink(m, before, after)
    m[p + B_BYPASSED] += before != q
    rows = m[q + Q_ROWS]
    bit = row_bit(row)
    hit = 0
    if rows >> WANTED & bit:
        hit = matching(m, q, after, row)
        rows = 0 if before == after else rows
    else:
        rows -= bit
    m[q + Q_ROWS] = rows
    m[q + Q_HIT] = hit
    m[entry + N_NEXT] = m[FREE_NODE]
    m[FREE_NODE] = entry
    return m[entry + N_SLOT]


def column(m: Int, c: Int, b: Int, t: Int) -> None:
    """RD or WR, or one with auto-precharge: serve a bank's oldest hit."""
    mode = m[c + C_MODE]
    p = c + C_BANKS + b * BANK
    row = m[p + B_ROW]
    slot = leave(m, p, p + QUEUE * mode, row)
    m[c + C_READS + mode] -= 1
    m[c + C_TURN] -= 1
    m[c + C_DONE_READS + mode] += 1
    m[c + C_HITS + m[p + B_FRESH]] += 1
    m[p + B_FRESH] = 0
    group = c + m[p + B_GROUP]
    m[c + C_COL + mode] = t + m[CCD_S]
    m[group + G_COL + mode] = t + m[CCD_L]
    if mode == READ:
        end = t + m[CL] + m[BL]
        free = t + m[RTP]
        m[c + C_COL_W] = max(m[c + C_COL_W], t + m[RTW])
    else:
        end = t + m[CWL] + m[BL]
        free = end + m[WR]
        m[c + C_COL] = max(m[c + C_COL], end + m[WTR_S])
        m[group + G_COL] = max(m[group + G_COL], end + m[WTR_L])
        m[c + C_SINCE] = t
    m[p + B_PRE] = max(m[p + B_PRE], free)
    m[c + C_NOW] = t + 1
    record(m, c, t, (RDA if m[CLOSED] else RD) + mode, b, row)
    if m[CLOSED]:
        close(m, p, m[p + B_PRE])
    settle(m, c, b, candidate(m, c, b), COLUMN, m[CCD_L], m[CCD_S])
    finish_access(m, slot, end)


def refresh(m: Int, c: Int, event: Int) -> None:
    """PREA and REF as soon as they are due; ``event`` is when anything else would happen.

    Those that fall into a gap with nothing queued are taken together.
    """
    t = max(m[c + C_NOW], m[c + C_DUE])
    closable = 0
    any_open = False
    banks = c + C_BANKS
    for b in range(m[BANKS]):
        p = banks + b * BANK
        closable = max(closable, m[p + B_PRE])
        if m[p + B_ROW] >= 0:
            any_open = True
    if any_open:
        t = max(t, closable)
        record(m, c, t, PREA, -1, -1)
        for b in range(m[BANKS]):
            p = banks + b * BANK
            if m[p + B_ROW] >= 0:
                close(m, p, t)
                m[c + C_PRECHARGES] += 1
        t += 1
    for b in range(m[BANKS]):
        t = max(t, m[banks + b * BANK + B_ACT])
    record(m, c, t, REF, -1, -1)
    m[c + C_DUE] += m[REFI]
    m[c + C_REFRESHES] += 1
    idle = m[c + C_READS] + m[c + C_WRITES] == 0 and m[TRACE_SIZE] == 0
    if idle and m[c + C_DUE] >= t + m[RFC] and m[c + C_DUE] <= event:
        more = (event - m[c + C_DUE]) // m[REFI] + 1
        m[c + C_DUE] += more * m[REFI]
        m[c + C_REFRESHES] += more
        t = m[c + C_DUE] - m[REFI]
    for b in range(m[BANKS]):
        m[banks + b * BANK + B_ACT] = t + m[RFC]
    m[c + C_NOW] = t + 1
    rebase(m, c, t + 1)


def issue(m: Int, c: Int, t: Int) -> None:
    """Issue the best candidate at clock ``t``."""
    best = m[c + C_BEST]
    b = best & BANK_MASK
    if best & ACTIVATE:
        activate(m, c, b, t)
    elif best & COLUMN:
        column(m, c, b, t)
    else:
        precharge(m, c, b, t)


def rebase(m: Int, c: Int, base: Int) -> None:
    """Let candidates count from a clock, before which no command is to come."""
    m[c + C_BASE] = base
    propose_all(m, c)


def run(m: Int, number: Int, until: Int) -> None:
    """Decide all commands of a channel before clock ``until``, or of its next SPAN clocks."""
    c = m[AT_CHANNELS] + number * m[STRIDE]
    at = m[AT_EVENTS] + number
    if m[at] - m[c + C_BASE] >= SPAN:
        rebase(m, c, m[at])
    until = min(until, m[c + C_BASE] + SPAN)
    while True:
        if m[c + C_DUE] <= m[c + C_NOW]:
            refresh(m, c, m[c + C_NOW])
            continue
        change = arrivals(m, c)
        if m[c + C_WRITES] > 0 or m[c + C_MODE] == WRITE:
            turn(m, c)
            change = min(change, patience(m, c))
        best = m[c + C_BEST]
        if best < 0:
            best = find_best(m, c)
        t = clock(m, c, best)
        event = min(change, t)
        if event >= until:
            m[at] = event
            return
        if m[c + C_DUE] <= event:
            refresh(m, c, event)
        elif change <= t:
            m[c + C_NOW] = change
        else:
            issue(m, c, t)
