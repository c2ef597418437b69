"""Droppers of stops and of zeros (``docs/spec/machine.md`` §7.3, §7.4)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

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
            t, so, status = visits.put_held(s, nd, o, t, si, so, 1)
            if status != visits.GOES_ON:
                return status
            nd.holding = 0
            continue
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        r = rings.head(s, i)
        x, n = s.run[r].x, s.run[r].n
        k = x & runs.KIND
        a = max(t, s.run[r].t)
        if k == runs.STOP and not nd.begun:
            si += visits.waited(s, waits.INPUT, t, a)
            t = a + 1
            rings.take_one(s, i, a)
            continue
        m = rings.room(s, o)
        if m == 0 and not visits.no_room(s, nd, i, o):
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        nd.begun = k != runs.STOP
        t, si = visits.stall(s, waits.INPUT, t, a, si)
        if m == 0:
            visits.hold(s, nd, i, r)
            rings.take_one(s, i, t)
            nd.holding = 1
            continue
        m = min(m, n)
        t = max(a, rings.free_at(s, o))
        so += visits.waited(s, waits.ROOM, a, t)
        rings.pass_on(s, o, r, m, t + 1, t + 1)  # x
        rings.take(s, i, m, a, t + 1, 1)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += m


@inline
def _is_zero(s: SimulationState, c: Int, r: Int, e: Int, size: Int) -> Int:
    """Return whether value ``e`` of a run is zero, or a tile of ``size`` numbers all zero."""
    step = e if s.run[r].x & runs.STEP else 0
    if s.ch[c].val:
        return s.floats[s.run[r].v + step] == 0
    start = rings.number(s, r, e) * size
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
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            k = s.run[r].x & runs.KIND
            a = max(t, s.run[r].t)
            drops = k == runs.LEAF and _is_zero(s, i, r, 0, size)
            m = s.run[r].n if drops else min(rings.room(s, o1), rings.room(s, o2))
            if not rings.has(s, j) or m == 0:
                if not visits.goes_ahead(s, nd, i, j):
                    if not rings.has(s, j):
                        return visits.leave(nd, t, si, so, waits.INPUT, j)
                    return visits.leave(
                        nd, t, si, so, waits.ROOM, o1 if rings.room(s, o1) == 0 else o2
                    )
                m = 0
            if m == 0 or k != runs.LEAF:
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                visits.hold(s, nd, i, r)
                nd.is_zero = drops
                rings.take_one(s, i, t)
                nd.phase = _SECOND
            else:
                q = rings.head(s, j)
                b = max(a, s.run[q].t)
                m = min(m, s.run[r].n, s.run[q].n)
                e = 1
                while e < m and _is_zero(s, i, r, e, size) == drops:
                    e += 1
                m = e
                t, si = visits.stall(s, waits.INPUT, t, b, si)
                if not drops:
                    t, so = visits.pass_pair(s, o1, r, o2, q, m, t, so)
                rings.take(s, i, m, a, t + 1, 1)
                rings.take(s, j, m, b, t + 1, 1)
                t += m
                continue
        if nd.phase == _SECOND:
            if not rings.has(s, j):
                return visits.leave(nd, t, si, so, waits.INPUT, j)
            q = rings.head(s, j)
            t, si = visits.stall(s, waits.INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & runs.KIND
            nd.crd_kind, nd.crd = kj, rings.number(s, q, 0)
            rings.take_one(s, j, t)
            nd.phase = _PUT_VAL
            if nd.hk == runs.LEAF:
                if nd.is_zero:
                    nd.phase = _BOTH
            elif nd.hk == runs.EMPTY and not literal:
                nd.phase = _BOTH
            elif (nd.hk != kj or (kj == runs.STOP and nd.hv != nd.crd)) and not literal:
                return visits.fail(nd, t, rules.VALDROP_DISAGREES)
            elif nd.discards_stop and nd.hk != runs.DONE:
                nd.discards_stop = 0
                nd.phase = _BOTH
                continue
            else:
                nd.discards_stop = literal
            if nd.phase == _BOTH:
                t += 1
                continue
        if nd.phase == _PUT_VAL:
            if rings.room(s, o1) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o1)
            t, so = visits.release(s, nd, o1, t, so)
            nd.phase = _PUT_CRD
        if rings.room(s, o2) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, o2)
        t, so = visits.put_token(s, o2, t, so, nd.crd_kind, nd.crd, zero)
        nd.phase = _BOTH
        if nd.hk == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += 1
