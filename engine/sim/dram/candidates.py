"""What each bank of a channel would do next, and which bank goes first."""

from __future__ import annotations

from engine.sim.dram.lists import part
from engine.sim.dram.state import (
    ACTIVATE,
    AGE_SHIFT,
    AT_BANKS,
    AT_KEYS,
    AT_TIMES,
    B_ACT,
    B_BYPASSED,
    B_COL,
    B_GROUP,
    B_HEAD,
    B_HIT,
    B_PRE,
    B_ROW,
    BANK,
    BANK_MASK,
    BANKS,
    C_ACT,
    C_CHOSEN,
    C_COL,
    C_GROUPS,
    C_MODE,
    C_NOW,
    C_WHEN,
    CAP,
    FAR,
    FOREVER,
    G_ACT,
    G_COL,
    GROUP,
    KEY_BITS,
    N_AGE,
    ROW_COMMAND,
)
from engine.sim.layout import Int


def set_candidate(m: Int, c: Int, b: Int, t: Int, key: Int) -> None:
    """A bank's candidate: first clock its bank and group allow, and its key without the bank."""
    m[c + m[AT_TIMES] + b] = t
    m[c + m[AT_KEYS] + b] = key | b


def propose_column(m: Int, c: Int, b: Int, p: Int, hit: Int) -> None:
    """The candidate of a bank with a row open that is wanted."""
    g = c + C_GROUPS + m[p + B_GROUP] * GROUP
    t = max(m[p + B_COL], m[g + G_COL + m[c + C_MODE]])
    set_candidate(m, c, b, t, m[hit + N_AGE] << AGE_SHIFT)


def propose_activate(m: Int, c: Int, b: Int, p: Int, oldest: Int) -> None:
    """The candidate of a bank with no row open."""
    g = c + C_GROUPS + m[p + B_GROUP] * GROUP
    t = max(m[p + B_ACT], m[g + G_ACT])
    set_candidate(m, c, b, t, ROW_COMMAND | ACTIVATE | m[oldest + N_AGE] << AGE_SHIFT)


def propose(m: Int, c: Int, b: Int) -> None:
    """Work out a bank's candidate anew."""
    mode = m[c + C_MODE]
    p = c + m[AT_BANKS] + b * BANK
    oldest = m[p + B_HEAD + mode]
    hit = m[p + B_HIT + mode]
    if oldest == 0:
        set_candidate(m, c, b, FOREVER, ROW_COMMAND)
    elif m[p + B_ROW] < 0:
        propose_activate(m, c, b, p, oldest)
    elif hit != 0 and (hit == oldest or m[p + B_BYPASSED] < m[CAP]):
        propose_column(m, c, b, p, hit)
    else:
        key = ROW_COMMAND | m[oldest + N_AGE] << AGE_SHIFT
        set_candidate(m, c, b, m[p + B_PRE], key)


def propose_all(m: Int, c: Int) -> None:
    """Work out every bank's candidate anew."""
    m[c + C_WHEN] = -1
    for b in range(m[BANKS]):
        propose(m, c, b)


def find_best(m: Int, c: Int) -> None:
    """Find the candidate to issue next: of the earliest clock, the least key."""
    now = m[c + C_NOW]
    column = max(now, m[c + C_COL + m[c + C_MODE]])
    activate = max(now, m[c + C_ACT])
    times = part(m, c + m[AT_TIMES], m[BANKS])
    keys = part(m, c + m[AT_KEYS], m[BANKS])
    least = FAR << KEY_BITS
    for b in range(len(keys)):
        key = keys[b]
        first = now if key & ROW_COMMAND else column
        first = activate if key & ACTIVATE else first
        wait = min(max(times[b], first) - now, FAR)
        least = min(least, wait << KEY_BITS | key)
    wait = least >> KEY_BITS
    m[c + C_WHEN] = FOREVER if wait >= FAR else now + wait
    m[c + C_CHOSEN] = least & ((1 << KEY_BITS) - 1)


def compare(m: Int, c: Int, b: Int) -> None:
    """A bank has a new candidate: it may be the best."""
    when, chosen = m[c + C_WHEN], m[c + C_CHOSEN]
    if when < 0:
        return
    if when < FOREVER and chosen & BANK_MASK == b:
        m[c + C_WHEN] = -1
        return
    key = m[c + m[AT_KEYS] + b]
    t = max(m[c + m[AT_TIMES] + b], m[c + C_NOW])
    if key & ACTIVATE:
        t = max(t, m[c + C_ACT])
    elif key < ROW_COMMAND:
        t = max(t, m[c + C_COL + m[c + C_MODE]])
    if t < when or (t == when and key < chosen):
        m[c + C_WHEN] = t
        m[c + C_CHOSEN] = key
