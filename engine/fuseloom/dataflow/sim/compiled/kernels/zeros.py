"""Droppers of stops and of zeros (``docs/spec/machine.md`` §7.3, §7.4)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    GOES_ON,
    INPUT,
    KIND,
    LEAF,
    ROOM,
    SLOPE,
    STEP,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    SimulationState,
    state_of,
)
from fuseloom.dataflow.sim.compiled.rings import (
    copied,
    free_at,
    has,
    head,
    number,
    put,
    put_one,
    room,
    starved,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import (
    VALDROP_DISAGREES,
)
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import (
    fail,
    hold,
    leave,
    no_room,
    put_held,
    release,
    stall,
    waited,
)

_STOPDROP = slots(
    holding="s0",  # a token was taken and waits for room
    begun="s1",  # something came since the last stop
)


@kernel("stopdrop", _STOPDROP)
def stopdrop(node: Int, table: Int) -> Int:
    """Drop a stop if nothing came since the last."""
    s = state_of(table)
    nd = node_of(s, node, _STOPDROP)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if nd.holding:
            t, so, status = put_held(s, nd, o, t, si, so, 1)
            if status != GOES_ON:
                return status
            nd.holding = 0
            continue
        if not has(s, i):
            return leave(nd, t, si, so, WAIT_INPUT, i)
        r = head(s, i)
        x, n = s.run[r].x, s.run[r].n
        k = x & KIND
        a = max(t, s.run[r].t)
        if k == STOP and not nd.begun:
            si += waited(s, INPUT, t, a)
            t = a + 1
            take_one(s, i, a)
            continue
        m = room(s, o)
        if m == 0 and not no_room(s, nd, i, o):
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        nd.begun = k != STOP
        t, si = stall(s, INPUT, t, a, si)
        if m == 0:
            hold(s, nd, i, r)
            take_one(s, i, t)
            nd.holding = 1
            continue
        m = min(m, n)
        t = max(a, free_at(s, o))
        so += waited(s, ROOM, a, t)
        put(s, o, m, t + 1, t + 1, (x & ~SLOPE) | SLOPE, copied(s, o, r, m))
        take(s, i, m, a, t + 1, 1)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m


@inline
def _is_zero(s: SimulationState, c: Int, r: Int, e: Int, size: Int) -> Int:
    """Return whether value ``e`` of a run is zero, or a tile of ``size`` numbers all zero."""
    step = e if s.run[r].x & STEP else 0
    if s.ch[c].val:
        return s.floats[s.run[r].v + step] == 0
    start = number(s, r, e) * size
    k = 0
    while k < size and s.floats[start + k] == 0:
        k += 1
    return k == size


_BOTH, _SECOND, _PUT_VAL, _PUT_CRD = range(4)
# Take a value and its coordinate; only the coordinate, as the value is held; put the held value;
# put its coordinate.

_ZERODROP = slots(
    literal="p0",  # as the reference machine: every second stop is discarded
    elements="p1",  # numbers in a value
    phase="s0",  # what comes next, one of those above
    crd_kind="s1",  # of the held value's coordinate
    crd="s2",  # its number
    discards_stop="s3",  # the next stop is to be discarded
    is_zero="s4",  # the held value is
)


@kernel(
    "zerodrop",
    _ZERODROP,
    lambda setup: {"literal": setup.quirks.zerodrop_discards_stops, "elements": setup.elements},
)
def zerodrop(node: Int, table: Int) -> Int:
    """Drop zeros with their coordinates."""
    s = state_of(table)
    nd = node_of(s, node, _ZERODROP)
    i, j, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so, literal, size = nd.clk, nd.si, nd.so, nd.literal, nd.elements
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.phase == _BOTH:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k = s.run[r].x & KIND
            a = max(t, s.run[r].t)
            drops = k == LEAF and _is_zero(s, i, r, 0, size)
            m = s.run[r].n if drops else min(room(s, o1), room(s, o2))
            if not has(s, j) or m == 0:
                if not (nd.eager or starved(s, i) or (has(s, j) and starved(s, j))):
                    if not has(s, j):
                        return leave(nd, t, si, so, WAIT_INPUT, j)
                    return leave(nd, t, si, so, WAIT_OUTPUT, o1 if room(s, o1) == 0 else o2)
                m = 0
            if m == 0 or k != LEAF:
                t, si = stall(s, INPUT, t, a, si)
                hold(s, nd, i, r)
                nd.is_zero = drops
                take_one(s, i, t)
                nd.phase = _SECOND
            else:
                q = head(s, j)
                b = max(a, s.run[q].t)
                m = min(m, s.run[r].n, s.run[q].n)
                e = 1
                while e < m and _is_zero(s, i, r, e, size) == drops:
                    e += 1
                m = e
                t, si = stall(s, INPUT, t, b, si)
                if not drops:
                    t1 = max(t, free_at(s, o1))
                    t = max(t1, free_at(s, o2))
                    so += waited(s, ROOM, b, t)
                    x = (s.run[r].x & ~SLOPE) | SLOPE
                    y = (s.run[q].x & ~SLOPE) | SLOPE
                    put(s, o1, m, t1 + 1, t + 1, x, copied(s, o1, r, m))
                    put(s, o2, m, t + 1, t + 1, y, copied(s, o2, q, m))
                take(s, i, m, a, t + 1, 1)
                take(s, j, m, b, t + 1, 1)
                t += m
                continue
        if nd.phase == _SECOND:
            if not has(s, j):
                return leave(nd, t, si, so, WAIT_INPUT, j)
            q = head(s, j)
            t, si = stall(s, INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & KIND
            nd.crd_kind, nd.crd = kj, number(s, q, 0)
            take_one(s, j, t)
            nd.phase = _PUT_VAL
            if nd.hk == LEAF:
                if nd.is_zero:
                    nd.phase = _BOTH
            elif nd.hk == EMPTY and not literal:
                nd.phase = _BOTH
            elif (nd.hk != kj or (kj == STOP and nd.hv != nd.crd)) and not literal:
                return fail(nd, t, VALDROP_DISAGREES)
            elif nd.discards_stop and nd.hk != DONE:
                nd.discards_stop = 0
                nd.phase = _BOTH
                continue
            else:
                nd.discards_stop = literal
            if nd.phase == _BOTH:
                t += 1
                continue
        if nd.phase == _PUT_VAL:
            if room(s, o1) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            t, so = release(s, nd, o1, t, so)
            nd.phase = _PUT_CRD
        if room(s, o2) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o2)
        t, so = stall(s, ROOM, t, free_at(s, o2), so)
        put_one(s, o2, t + 1, nd.crd_kind, nd.crd, zero)
        nd.phase = _BOTH
        if nd.hk == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += 1
