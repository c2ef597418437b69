"""How sparse accumulators put the tree they have gathered (``samml.md`` §2.12, §2.13).

The whole tree goes at one clock; only missing slots hold it up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.sim.compiled import trees
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.layout import (
    LEAF,
    MEM,
    RING,
    STEP,
    STOP,
    WAIT_DRAIN,
    WAIT_OUTPUT,
    Int,
    State,
)
from engine.dataflow.sim.compiled.rings import (
    even,
    free_at,
    leave,
    put,
    put_one,
    rising,
    room,
    slot,
)
from engine.dataflow.sim.compiled.trees import COUNT, KEYS, ORDER, SUMS

GENERIC, REFERENCE, ROW = range(3)
"""Which twin it follows: that of any order, the reference's of order 2, that of order 1."""

OPEN, PAIR, PAIR_SECOND, CLOSE, CLOSE_SECOND, CLOSED = range(6)
"""Phases (``s0``): put the coordinates that open fibers, an innermost coordinate and its sum (or
the second of the two), the stops that close fibers (or the second of the innermost); all is put."""

GOES_ON = -1
"""What :func:`flush` returns for a status when the tree is put."""


@inline
def begin_flush(s: State, nd: Any, closing: Int) -> None:
    """Put the tree in order; the stop of that level closes it.  An empty one has stops only."""
    trees.sort(s, nd.p0)
    nd.s3 = closing
    nd.s4, nd.s6 = 0, 0
    nd.s5 = 0
    nd.s0 = OPEN
    if s.ints[nd.p0 + COUNT] == 0:
        nd.s0 = CLOSE
        nd.s6 = -1
        nd.s5 = 0 if nd.p2 == GENERIC else nd.p1 - 1


@inline
def _put_pairs(s: State, nd: Any, oc: Int, ov: Int, m: Int, t1: Int, t2: Int) -> None:
    """Put ``m`` innermost coordinates and sums; the first at ``t1``, ``t2``, the rest at ``t2``."""
    f, order, size = nd.p0, nd.p1, nd.p4
    u, w = slot(s, oc), slot(s, ov)
    for e in range(m):
        entry = s.ints[s.ints[f + ORDER] + nd.s4 + e]
        s.ints[u + e] = s.ints[s.ints[f + KEYS] + entry * order + order - 1]
        total = s.ints[f + SUMS] + entry * size
        if s.ch[ov].val:
            s.floats[w + e] = s.floats[total]
        elif nd.p6:
            made = trees.tile(s, nd.p6)
            s.ints[w + e] = made
            for k in range(size):
                s.floats[made * size + k] = s.floats[total + k]
    first_c, first_v = (t2, t1) if nd.p2 == REFERENCE else (t1, t2)
    put(s, oc, m, first_c + 1, t2 + 1, LEAF | STEP | MEM | RING, u)
    put(s, ov, m, first_v + 1, t2 + 1, LEAF | STEP | MEM | RING, w)


@inline
def _alike(s: State, nd: Any, limit: Int) -> Int:
    """How many entries from the next on differ in the innermost coordinate only."""
    f = nd.p0
    count = min(limit, s.ints[f + COUNT] - nd.s4)
    order = s.ints[f + ORDER] + nd.s4
    n = 1
    while n < count:
        if trees.first_difference(s, f, s.ints[order + n - 1], s.ints[order + n]) < nd.p1 - 1:
            break
        n += 1
    return n


@inline
def flush(s: State, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Put the tree as far as there is room: the clock, stalls for output, and the status."""
    f, order, mode = nd.p0, nd.p1, nd.p2
    outs = nd.outs
    oc, ov = s.ints[outs + order - 1], s.ints[outs + order]
    zero = np.float32(0)
    while nd.s0 < CLOSED:
        if nd.s0 == PAIR:
            one, two = (ov, oc) if mode == REFERENCE else (oc, ov)
            m = min(room(s, one), room(s, two))
            if nd.p6:
                m = min(m, trees.unused(s, nd.p6))
                if trees.unused(s, nd.p6) == 0:
                    return t, so, leave(nd, t, si, so, WAIT_DRAIN, ov)
            if m > 0:
                t1 = max(t, free_at(s, one))
                t2 = max(t1, free_at(s, two))
                m = even(s, two, t2, even(s, one, t2, m))
                if rising(s, one, t2) or rising(s, two, t2):
                    m = 1
                m = _alike(s, nd, m)
                so += t2 - t
                t = t2
                _put_pairs(s, nd, oc, ov, m, t1, t2)
                nd.s4 += m
                nd.s0 = CLOSE
            else:
                nd.s0 = PAIR_SECOND
                nd.s2 = 0
        if nd.s0 == PAIR_SECOND:
            while nd.s2 < 2:
                c = ov if (nd.s2 == 1) != (mode == REFERENCE) else oc
                if room(s, c) == 0:
                    return t, so, leave(nd, t, si, so, WAIT_OUTPUT, c)
                a = max(t, free_at(s, c))
                so += a - t
                t = a
                entry = s.ints[s.ints[f + ORDER] + nd.s4]
                total = s.ints[f + SUMS] + entry * nd.p4
                last = s.ints[s.ints[f + KEYS] + entry * order + order - 1]
                if c == ov and nd.p6:
                    if trees.unused(s, nd.p6) == 0:
                        return t, so, leave(nd, t, si, so, WAIT_DRAIN, ov)
                    last = trees.tile(s, nd.p6)
                    for k in range(nd.p4):
                        s.floats[last * nd.p4 + k] = s.floats[total + k]
                put_one(s, c, t + 1, LEAF, last, s.floats[total])
                nd.s2 += 1
            nd.s4 += 1
            nd.s0 = CLOSE
        if nd.s0 == CLOSE and nd.s6 >= 0:  # what the next entry, or none, closes
            same = order
            if nd.s4 < s.ints[f + COUNT]:
                entries = s.ints[f + ORDER] + nd.s4
                same = trees.first_difference(s, f, s.ints[entries - 1], s.ints[entries])
                nd.s6 = same
                nd.s0 = PAIR if same == order - 1 else CLOSE_SECOND
            else:
                nd.s6 = -1
                nd.s0 = CLOSE_SECOND
            nd.s5 = order - 1
            nd.s2 = 0
        elif nd.s0 == CLOSE:  # an empty tree
            nd.s0 = CLOSE_SECOND
            nd.s2 = 0
        while nd.s0 == CLOSE_SECOND:
            innermost = nd.s5 == order - 1
            level = nd.s5 - nd.s6 - 1
            if nd.s6 < 0:
                level = nd.s3 + nd.s5
            c = s.ints[outs + nd.s5]
            if innermost and (nd.s2 == 1) == (mode == GENERIC):
                c = ov
            empty = s.ints[f + COUNT] == 0
            if empty and mode == REFERENCE:
                c, level, innermost = s.ints[outs], nd.s3, False
            if room(s, c) == 0:
                return t, so, leave(nd, t, si, so, WAIT_OUTPUT, c)
            a = max(t, free_at(s, c))
            so += a - t
            t = a
            put_one(s, c, t + 1, STOP, level, zero)
            if innermost and nd.s2 == 0:
                nd.s2 = 1
            elif empty and mode == GENERIC:
                nd.s5 += 1
                nd.s2 = 0
                if nd.s5 == order:
                    nd.s0 = CLOSED
            elif empty:
                nd.s0 = CLOSED
            else:
                nd.s5 -= 1
                nd.s2 = 0
                if nd.s5 == nd.s6:
                    nd.s0 = CLOSED if nd.s6 < 0 else OPEN
        while nd.s0 == OPEN:
            if nd.s5 == order - 1:
                nd.s0 = PAIR
                break
            c = s.ints[outs + nd.s5]
            if room(s, c) == 0:
                return t, so, leave(nd, t, si, so, WAIT_OUTPUT, c)
            a = max(t, free_at(s, c))
            so += a - t
            t = a
            entry = s.ints[s.ints[f + ORDER] + nd.s4]
            put_one(s, c, t + 1, LEAF, s.ints[s.ints[f + KEYS] + entry * order + nd.s5], zero)
            nd.s5 += 1
    return t, so, GOES_ON
