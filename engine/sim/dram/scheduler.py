"""First-ready first-come-first-served scheduling of one channel, clock by clock but for the gaps.

At every clock a controller may issue one command.  Among those that every timing constraint
allows, it issues the column command (a row hit) of the oldest access; where there is none, the
activate or precharge of the oldest.  Only the oldest matching access of each bank competes, so a
bank has one *candidate*: a column command where its open row is wanted, an activate where no row
is open, otherwise a precharge.  Each keeps the first clock its bank and bank group allow; the
constraints between any two banks are applied as candidates are compared.

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

from engine.sim.dram.admission import arrivals, patience, turn
from engine.sim.dram.candidates import (
    find_best,
    propose,
    propose_activate,
    propose_all,
    propose_column,
)
from engine.sim.dram.lists import finish_access
from engine.sim.dram.state import (
    ACT,
    ACTIVATE,
    AT_BANKS,
    AT_KEYS,
    AT_TIMES,
    AT_TRACE,
    B_ACT,
    B_BYPASSED,
    B_COL,
    B_CONFLICT,
    B_FRESH,
    B_GROUP,
    B_HEAD,
    B_HIT,
    B_PRE,
    B_ROW,
    B_TAIL,
    BANK,
    BANK_BITS,
    BANK_MASK,
    BANKS,
    BL,
    C_ACT,
    C_ACT0,
    C_ACT1,
    C_ACT2,
    C_ACT3,
    C_ACTIVATES,
    C_CHOSEN,
    C_COL,
    C_COL_W,
    C_DONE_READS,
    C_DUE,
    C_GROUPS,
    C_HITS,
    C_INDEX,
    C_MODE,
    C_NEXT,
    C_NOW,
    C_PRECHARGES,
    C_READS,
    C_REFRESHES,
    C_SINCE,
    C_TURN,
    C_WHEN,
    C_WRITES,
    CCD_L,
    CCD_S,
    CL,
    CLOSED,
    CWL,
    FAW,
    FREE_NODE,
    G_ACT,
    G_COL,
    GROUP,
    N_NEXT,
    N_PREV,
    N_ROW,
    N_SLOT,
    PRE,
    PREA,
    RAS,
    RC,
    RCD,
    RD,
    RDA,
    READ,
    REF,
    REFI,
    RFC,
    ROW_COMMAND,
    RP,
    RRD_L,
    RRD_S,
    RTP,
    RTW,
    TRACE,
    TRACE_SIZE,
    TRACED,
    WR,
    WRITE,
    WTR_L,
    WTR_S,
)
from engine.sim.layout import Int


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


def matching(m: Int, entry: Int, row: Int) -> Int:
    """The first access from ``entry`` on that wants that row; 0 if there is none."""
    while entry != 0 and m[entry + N_ROW] != row:
        entry = m[entry + N_NEXT]
    return entry


def activate(m: Int, c: Int, b: Int, t: Int) -> None:
    """ACT: open the row that a bank's oldest access wants."""
    mode = m[c + C_MODE]
    p = c + m[AT_BANKS] + b * BANK
    oldest = m[p + B_HEAD + mode]
    row = m[oldest + N_ROW]
    m[p + B_ROW] = row
    m[p + B_HIT + mode] = oldest
    m[p + B_HIT + 1 - mode] = matching(m, m[p + B_HEAD + 1 - mode], row)
    m[p + B_ACT] = t + m[RC]
    m[p + B_COL] = t + m[RCD]
    m[p + B_PRE] = t + m[RAS]
    m[p + B_FRESH] = 1 + m[p + B_CONFLICT]
    m[p + B_CONFLICT] = 0
    m[p + B_BYPASSED] = 0
    m[c + C_ACT0] = m[c + C_ACT1]
    m[c + C_ACT1] = m[c + C_ACT2]
    m[c + C_ACT2] = m[c + C_ACT3]
    m[c + C_ACT3] = t
    m[c + C_ACT] = max(t + m[RRD_S], m[c + C_ACT0] + m[FAW])
    g = m[p + B_GROUP]
    same = t + m[RRD_L]
    m[c + C_GROUPS + g * GROUP + G_ACT] = same
    times = c + m[AT_TIMES] + (g << m[BANK_BITS])
    keys = c + m[AT_KEYS] + (g << m[BANK_BITS])
    for k in range(1 << m[BANK_BITS]):
        limit = same if m[keys + k] & ACTIVATE else 0
        m[times + k] = max(m[times + k], limit)
    m[c + C_ACTIVATES] += 1
    record(m, c, t, ACT, b, row)
    propose_column(m, c, b, p, oldest)


def precharge(m: Int, c: Int, b: Int, t: Int) -> None:
    """PRE: close a bank's row, as its oldest access wants another."""
    p = c + m[AT_BANKS] + b * BANK
    record(m, c, t, PRE, b, m[p + B_ROW])
    close(m, p, t)
    m[p + B_CONFLICT] = 1
    m[c + C_PRECHARGES] += 1
    propose_activate(m, c, b, p, m[p + B_HEAD + m[c + C_MODE]])


def close(m: Int, p: Int, t: Int) -> None:
    """The row of a bank closes at clock ``t``."""
    m[p + B_ROW] = -1
    m[p + B_HIT] = 0
    m[p + B_HIT + 1] = 0
    m[p + B_ACT] = max(m[p + B_ACT], t + m[RP])


def leave(m: Int, p: Int, mode: Int) -> Int:
    """Take a bank's hit out of its queue and find the next one; its slot."""
    entry = m[p + B_HIT + mode]
    before, after = m[entry + N_PREV], m[entry + N_NEXT]
    if before == 0:
        m[p + B_HEAD + mode] = after
    else:
        m[before + N_NEXT] = after
        m[p + B_BYPASSED] += 1
    if after == 0:
        m[p + B_TAIL + mode] = before
    else:
        m[after + N_PREV] = before
    m[p + B_HIT + mode] = matching(m, after, m[p + B_ROW])
    m[entry + N_NEXT] = m[FREE_NODE]
    m[FREE_NODE] = entry
    return m[entry + N_SLOT]


def column(m: Int, c: Int, b: Int, t: Int) -> None:
    """RD or WR, or one with auto-precharge: serve a bank's oldest hit."""
    mode = m[c + C_MODE]
    p = c + m[AT_BANKS] + b * BANK
    row = m[p + B_ROW]
    slot = leave(m, p, mode)
    m[c + C_READS + mode] -= 1
    m[c + C_TURN] -= 1
    m[c + C_DONE_READS + mode] += 1
    m[c + C_HITS + m[p + B_FRESH]] += 1
    m[p + B_FRESH] = 0
    group = c + C_GROUPS + m[p + B_GROUP] * GROUP
    same = t + m[CCD_L]
    m[c + C_COL + mode] = t + m[CCD_S]
    m[group + G_COL + mode] = same
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
    record(m, c, t, (RDA if m[CLOSED] else RD) + mode, b, row)
    if m[CLOSED]:
        close(m, p, m[p + B_PRE])
    times = c + m[AT_TIMES] + (m[p + B_GROUP] << m[BANK_BITS])
    keys = c + m[AT_KEYS] + (m[p + B_GROUP] << m[BANK_BITS])
    for k in range(1 << m[BANK_BITS]):
        limit = 0 if m[keys + k] & ROW_COMMAND else same
        m[times + k] = max(m[times + k], limit)
    propose(m, c, b)
    finish_access(m, slot, end)


def refresh(m: Int, c: Int, event: Int) -> None:
    """PREA and REF as soon as they are due; ``event`` is when anything else would happen.

    Those that fall into a gap with nothing queued are taken together.
    """
    t = max(m[c + C_NOW], m[c + C_DUE])
    closable = 0
    any_open = False
    banks = c + m[AT_BANKS]
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
    propose_all(m, c)


def issue(m: Int, c: Int, t: Int) -> None:
    """Issue the best candidate at clock ``t``."""
    key = m[c + C_CHOSEN]
    b = key & BANK_MASK
    if key & ACTIVATE:
        activate(m, c, b, t)
    elif key & ROW_COMMAND:
        precharge(m, c, b, t)
    else:
        column(m, c, b, t)
    m[c + C_NOW] = t + 1
    m[c + C_WHEN] = -1


def run(m: Int, c: Int, until: Int) -> None:
    """Decide all commands of a channel before clock ``until``."""
    while True:
        if m[c + C_DUE] <= m[c + C_NOW]:
            refresh(m, c, m[c + C_NOW])
            continue
        change = arrivals(m, c)
        if m[c + C_WRITES] > 0 or m[c + C_MODE] == WRITE:
            turn(m, c)
            change = min(change, patience(m, c))
        if m[c + C_WHEN] < 0:
            find_best(m, c)
        t = m[c + C_WHEN]
        event = min(change, t)
        if event >= until:
            m[c + C_NEXT] = event
            return
        if m[c + C_DUE] <= event:
            refresh(m, c, event)
        elif change <= t:
            m[c + C_NOW] = change
        else:
            issue(m, c, t)
