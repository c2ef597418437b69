"""The next command of each bank of a channel, and the choice of the bank that goes first.

A candidate is one number (:mod:`fuseloom.dataflow.dram.state`): the first clock at which every
constraint allows its command, as far as commands so far tell, then what decides among equals.
"""

from __future__ import annotations

from fuseloom.dataflow.dram.state import (
    ACTIVATE,
    B_ACT,
    B_BYPASSED,
    B_COL,
    B_GROUP,
    B_PRE,
    B_ROW,
    BANK,
    BANK_BITS,
    BANK_MASK,
    BANKS,
    C_ACT,
    C_BANKS,
    C_BASE,
    C_BEST,
    C_CANDIDATES,
    C_COL,
    C_MODE,
    C_NOW,
    CAP,
    COLUMN,
    FOREVER,
    G_ACT,
    G_COL,
    KEY_BITS,
    KEY_MASK,
    N_AGE,
    NEVER,
    Q_HEAD,
    Q_HIT,
    QUEUE,
    ROW_COMMAND,
    Int,
)


def stamp(m: Int, c: Int, t: Int) -> Int:
    """A clock as candidates carry it."""
    return max(t - m[c + C_BASE], 0) << KEY_BITS


def clock(m: Int, c: Int, candidate: Int) -> Int:
    """The clock of a candidate."""
    t = m[c + C_BASE] + (candidate >> KEY_BITS)
    return FOREVER if candidate >= NEVER else t


def to_column(m: Int, c: Int, b: Int, p: Int, hit: Int) -> Int:
    """The candidate of a bank with a row open that is wanted."""
    mode = m[c + C_MODE]
    shared = max(m[c + C_COL + mode], m[c + m[p + B_GROUP] + G_COL + mode])
    return stamp(m, c, max(m[p + B_COL], shared)) | m[hit + N_AGE] | COLUMN | b


def to_activate(m: Int, c: Int, b: Int, p: Int, oldest: Int) -> Int:
    """The candidate of a bank with no row open."""
    shared = max(m[c + C_ACT], m[c + m[p + B_GROUP] + G_ACT])
    t = max(m[p + B_ACT], shared)
    return stamp(m, c, t) | ROW_COMMAND | m[oldest + N_AGE] | ACTIVATE | b


def candidate(m: Int, c: Int, b: Int) -> Int:
    """Return the next command of a bank."""
    mode = m[c + C_MODE]
    p = c + C_BANKS + b * BANK
    q = p + QUEUE * mode
    oldest = m[q + Q_HEAD]
    hit = m[q + Q_HIT]
    if oldest == q:
        return NEVER | b
    if m[p + B_ROW] < 0:
        return to_activate(m, c, b, p, oldest)
    if hit != 0 and (hit == oldest or m[p + B_BYPASSED] < m[CAP]):
        return to_column(m, c, b, p, hit)
    return stamp(m, c, m[p + B_PRE]) | ROW_COMMAND | m[oldest + N_AGE] | b


def propose_all(m: Int, c: Int) -> None:
    """Work out every bank's candidate anew."""
    m[c + C_BEST] = -1
    for b in range(m[BANKS]):
        m[c + C_CANDIDATES + b] = candidate(m, c, b)


def propose(m: Int, c: Int, b: Int) -> None:
    """Work out the candidate of a bank anew to which an access came; it may be the best.

    That it takes the place of the best, which may then be another, is rare.
    """
    new = candidate(m, c, b)
    m[c + C_CANDIDATES + b] = new
    best = m[c + C_BEST]
    if best & BANK_MASK == b:
        m[c + C_BEST] = -1
    else:
        now = stamp(m, c, m[c + C_NOW])
        m[c + C_BEST] = min(best, max(new, now | new & KEY_MASK))


def find_best(m: Int, c: Int) -> Int:
    """Find the candidate to issue next."""
    now = stamp(m, c, m[c + C_NOW])
    best = NEVER
    for b in range(m[BANKS]):
        each = m[c + C_CANDIDATES + b]
        best = min(best, max(each, now | each & KEY_MASK))
    m[c + C_BEST] = best
    return best


def settle(m: Int, c: Int, b: Int, new: Int, kind: Int, near: Int, far: Int) -> None:
    """After a command, the best candidate: put off what it forbids, find what to issue next.

    ``new`` is what its bank ``b`` would do next.  Candidates of its ``kind`` (COLUMN, ACTIVATE;
    0: none) come ``near`` clocks after it at the earliest in the bank's group, ``far`` in others.
    Commands wait for this loop: it has no branches, and ``new`` comes in as late as possible.
    """
    now = (m[c + C_BEST] | KEY_MASK) + 1
    after = now + (far - 1 << KEY_BITS)
    more = near - far << KEY_BITS
    group = 1 << m[BANK_BITS]
    new = max(new, now | new & KEY_MASK)
    best = NEVER
    for k in range(m[BANKS]):
        other = k ^ b
        each = m[c + C_CANDIDATES + k]
        limit = after + (more if other < group else 0)
        limit = limit if each & kind else now
        each = max(each, limit | each & KEY_MASK)
        best = min(best, each if other else NEVER)
        m[c + C_CANDIDATES + k] = each if other else new
    m[c + C_BEST] = min(best, new)
