"""The flush of a sparse accumulator's tree (``docs/spec/machine.md`` §6.3, §6.4).

The whole tree goes at one clock; only missing slots hold it up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import rings, runs, trees, visits, waits
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState
from fuseloom.dataflow.sim.compiled.slots import slots

GENERIC, REFERENCE, ROW = range(3)
"""Which golden model it follows: that of any order, the reference's of order 2, that of order 1."""

OPEN, PAIR, PAIR_SECOND, CLOSE, CLOSE_SECOND, CLOSED = range(6)
"""Phases: put the coordinates that open fibers, an innermost coordinate and its sum (or
the second of the two), the stops that close fibers (or the second of the innermost); all is put."""

FLUSHED = slots(
    tree="p0",  # in the integers: where it is described
    order="p1",  # coordinates of a key
    golden="p2",  # which one it follows
    elements="p4",  # numbers in a value
    pool="p6",  # where tiles of that size are free; 0: values are numbers
    phase="s0",  # what comes next, one of those above or of the accumulator's own
    turn="s2",  # which of two or more streams is next, in phases that go through some
    stop_level="s3",  # of the stop that closes the tree
    entry="s4",  # next to put
    entry_level="s5",  # of that entry, at hand
    differs="s6",  # first level at which it differs from the entry before; -1: all are put
)
"""The slots of an accumulator that describe the tree to be put."""


@inline
def begin_flush(s: SimulationState, nd: Any, closing: Int) -> None:
    """Put the tree in order; the stop of that level closes it.  An empty one has stops only."""
    trees.sort(s, nd.tree)
    nd.stop_level = closing
    nd.entry, nd.differs = 0, 0
    nd.entry_level = 0
    nd.phase = OPEN
    if s.ints[nd.tree + trees.COUNT] == 0:
        nd.phase = CLOSE
        nd.differs = -1
        nd.entry_level = 0 if nd.golden == GENERIC else nd.order - 1


@inline
def _put_pairs(s: SimulationState, nd: Any, oc: Int, ov: Int, m: Int, t1: Int, t2: Int) -> None:
    """Put ``m`` innermost coordinates and sums; the first at ``t1``, ``t2``, the rest at ``t2``."""
    f, order, size = nd.tree, nd.order, nd.elements
    u, w = rings.slot(s, oc), rings.slot(s, ov)
    for e in range(m):
        entry = s.ints[s.ints[f + trees.ORDER] + nd.entry + e]
        s.ints[u + e] = s.ints[s.ints[f + trees.KEYS] + entry * order + order - 1]
        total = s.ints[f + trees.SUMS] + entry * size
        if s.ch[ov].val:
            s.floats[w + e] = s.floats[total]
        elif nd.pool:
            made = trees.tile(s, nd.pool)
            s.ints[w + e] = made
            for k in range(size):
                s.floats[made * size + k] = s.floats[total + k]
    first_c, first_v = (t2, t1) if nd.golden == REFERENCE else (t1, t2)
    rings.put(s, oc, m, first_c + 1, t2 + 1, runs.LEAF | runs.STEP | runs.MEM | runs.RING, u)
    rings.put(s, ov, m, first_v + 1, t2 + 1, runs.LEAF | runs.STEP | runs.MEM | runs.RING, w)


@inline
def _alike(s: SimulationState, nd: Any, limit: Int) -> Int:
    """Count the entries from the next one on that differ in the innermost coordinate only."""
    f = nd.tree
    count = min(limit, s.ints[f + trees.COUNT] - nd.entry)
    order = s.ints[f + trees.ORDER] + nd.entry
    n = 1
    while n < count:
        if trees.first_difference(s, f, s.ints[order + n - 1], s.ints[order + n]) < nd.order - 1:
            break
        n += 1
    return n


@inline
def flush(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Put the tree as far as there is room: the clock, stalls for output, and the status.

    The status is :data:`GOES_ON` when all is put.
    """
    f, order, mode = nd.tree, nd.order, nd.golden
    outs = nd.outs
    oc, ov = s.ints[outs + order - 1], s.ints[outs + order]
    zero = np.float32(0)
    while nd.phase < CLOSED:
        if nd.phase == PAIR:
            one, two = (ov, oc) if mode == REFERENCE else (oc, ov)
            m = min(rings.room(s, one), rings.room(s, two))
            if nd.pool:
                m = min(m, trees.unused(s, nd.pool))
                if trees.unused(s, nd.pool) == 0:
                    return t, so, visits.leave(nd, t, si, so, waits.DRAIN, ov)
            if m > 0:
                t1 = max(t, rings.free_at(s, one))
                t2 = max(t1, rings.free_at(s, two))
                m = rings.even(s, two, t2, rings.even(s, one, t2, m))
                if rings.rising(s, one, t2) or rings.rising(s, two, t2):
                    m = 1
                m = _alike(s, nd, m)
                so += visits.waited(s, waits.ROOM, t, t2)
                t = t2
                _put_pairs(s, nd, oc, ov, m, t1, t2)
                nd.entry += m
                nd.phase = CLOSE
            else:
                nd.phase = PAIR_SECOND
                nd.turn = 0
        if nd.phase == PAIR_SECOND:
            while nd.turn < 2:
                c = ov if (nd.turn == 1) != (mode == REFERENCE) else oc
                if rings.room(s, c) == 0:
                    return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
                t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
                entry = s.ints[s.ints[f + trees.ORDER] + nd.entry]
                total = s.ints[f + trees.SUMS] + entry * nd.elements
                last = s.ints[s.ints[f + trees.KEYS] + entry * order + order - 1]
                if c == ov and nd.pool:
                    if trees.unused(s, nd.pool) == 0:
                        return t, so, visits.leave(nd, t, si, so, waits.DRAIN, ov)
                    last = trees.tile(s, nd.pool)
                    for k in range(nd.elements):
                        s.floats[last * nd.elements + k] = s.floats[total + k]
                rings.put_one(s, c, t + 1, runs.LEAF, last, s.floats[total])
                nd.turn += 1
            nd.entry += 1
            nd.phase = CLOSE
        if nd.phase == CLOSE and nd.differs >= 0:  # what the next entry, or none, closes
            same = order
            if nd.entry < s.ints[f + trees.COUNT]:
                entries = s.ints[f + trees.ORDER] + nd.entry
                same = trees.first_difference(s, f, s.ints[entries - 1], s.ints[entries])
                nd.differs = same
                nd.phase = PAIR if same == order - 1 else CLOSE_SECOND
            else:
                nd.differs = -1
                nd.phase = CLOSE_SECOND
            nd.entry_level = order - 1
            nd.turn = 0
        elif nd.phase == CLOSE:  # an empty tree
            nd.phase = CLOSE_SECOND
            nd.turn = 0
        while nd.phase == CLOSE_SECOND:
            innermost = nd.entry_level == order - 1
            level = nd.entry_level - nd.differs - 1
            if nd.differs < 0:
                level = nd.stop_level + nd.entry_level
            c = s.ints[outs + nd.entry_level]
            if innermost and (nd.turn == 1) == (mode == GENERIC):
                c = ov
            empty = s.ints[f + trees.COUNT] == 0
            if empty and mode == REFERENCE:
                c, level, innermost = s.ints[outs], nd.stop_level, False
            if rings.room(s, c) == 0:
                return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
            t, so = visits.put_token(s, c, t, so, runs.STOP, level, zero)
            if innermost and nd.turn == 0:
                nd.turn = 1
            elif empty and mode == GENERIC:
                nd.entry_level += 1
                nd.turn = 0
                if nd.entry_level == order:
                    nd.phase = CLOSED
            elif empty:
                nd.phase = CLOSED
            else:
                nd.entry_level -= 1
                nd.turn = 0
                if nd.entry_level == nd.differs:
                    nd.phase = CLOSED if nd.differs < 0 else OPEN
        while nd.phase == OPEN:
            if nd.entry_level == order - 1:
                nd.phase = PAIR
                break
            c = s.ints[outs + nd.entry_level]
            if rings.room(s, c) == 0:
                return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
            entry = s.ints[s.ints[f + trees.ORDER] + nd.entry]
            key = s.ints[f + trees.KEYS] + entry * order
            rings.put_one(s, c, t + 1, runs.LEAF, s.ints[key + nd.entry_level], zero)
            nd.entry_level += 1
    return t, so, visits.GOES_ON
