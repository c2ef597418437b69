"""Droppers of empty fibers and of empty values (``docs/spec/machine.md`` §7.1, §7.2)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_OUTER, _FIBER, _HELD, _LONE_STOP, _PUT_OUTER, _LAST = range(6)
# Next outer token; pass the inner fiber; put the held inner token; take the inner stop of an
# empty outer fiber; put the outer token; take the inner end.

_CRDDROP = slots(
    literal="p0",  # as the reference machine: an empty outer fiber's inner stop is left unread
    phase="s0",  # what comes next, one of those above
    nonempty="s1",  # the inner fiber has something
    after_coordinate="s2",  # the last outer token was one
    then="s3",  # phase after the held token is put
)


@kernel("crddrop", _CRDDROP, lambda s: {"literal": s.quirks.drop_ignores_empty_outer_fiber})
def crddrop(node: Int, table: Int) -> Int:
    """Drop outer coordinates whose inner fiber is empty."""
    s = state_of(table)
    nd = node_of(s, node, _CRDDROP)
    i, u, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so, literal = nd.clk, nd.si, nd.so, nd.literal
    nd.ht = 0
    zero = np.float32(0)
    while True:
        if nd.phase == _OUTER:
            if not rings.has(s, u):
                return visits.leave(nd, t, si, so, waits.INPUT, u)
            p = s.run[rings.head(s, u)]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            k = p.x & runs.KIND
            if k == runs.STOP:
                nd.phase = _PUT_OUTER if nd.after_coordinate or literal else _LONE_STOP
            elif k == runs.DONE:
                nd.phase = _LAST
            else:
                nd.phase = _FIBER
            nd.nonempty = 0
        if nd.phase == _LONE_STOP or nd.phase == _LAST:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            t, si = visits.stall(s, waits.INPUT, t, s.run[r].t, si)
            k = s.run[r].x & runs.KIND
            if nd.phase == _LONE_STOP:
                if k != runs.STOP or s.run[r].v != s.run[rings.head(s, u)].v + 1:
                    return visits.fail(nd, t, rules.DROP_DISAGREES)
            elif k != runs.DONE and not literal:
                return visits.fail(nd, t, rules.DROP_DISAGREES)
            visits.hold(s, nd, i, r)
            rings.take_one(s, i, t)
            nd.then = _PUT_OUTER
            nd.phase = _PUT_OUTER if nd.phase == _LAST and k != runs.DONE else _HELD
        while nd.phase == _FIBER:  # without a cycle: the run leaves with the slope of the later
            if not rings.has(s, i):
                break
            r = rings.head(s, i)
            p = s.run[r]
            x, first = p.x, p.t
            k = x & runs.KIND
            if k == runs.DONE:
                return visits.fail(nd, max(t, first), rules.DROP_DISAGREES)
            a = max(t, first)
            m = rings.room(s, o1)
            if m == 0:
                if not visits.no_room(s, nd, i, o1):
                    break
                t, si = visits.take_held(s, nd, i, r, t, a, si)
                nd.then = _PUT_OUTER if k == runs.STOP else _FIBER
                nd.nonempty |= k != runs.STOP
                nd.phase = _HELD
                break
            t, si, so = visits.begin(s, o1, t, a, si, so)
            m = min(m, p.n)
            slope, again = 0, t
            if m > 1:
                if x & runs.SLOPE and first < t:
                    m = min(m, t - first + 1)
                m = rings.even(s, o1, t, m)
                if x & runs.SLOPE and first == t:
                    slope, again = 1, t + 1
                    si += visits.waited(s, waits.INPUT, t, t + m - 1)
                elif rings.rising(s, o1, t):
                    slope = 1
                    so += visits.waited(s, waits.ROOM, t, t + m - 1)
            x = (x & ~runs.SLOPE) | (runs.SLOPE if slope else 0)
            rings.put(s, o1, m, t + 1, t + 1, x, rings.copied(s, o1, r, m))
            rings.take(s, i, m, a, again, slope)
            t += slope * (m - 1)
            if k == runs.STOP:
                nd.phase = _PUT_OUTER
            else:
                nd.nonempty = 1
        if nd.phase == _FIBER:
            if rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.ROOM, o1)
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        if nd.phase == _HELD:
            if rings.room(s, o1) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o1)
            t, so = visits.release(s, nd, o1, t, so)
            nd.phase = nd.then
        if nd.phase == _PUT_OUTER:
            r = rings.head(s, u)
            k = s.run[r].x & runs.KIND
            if nd.nonempty or not rings.is_leaf(k):
                if rings.room(s, o2) == 0:
                    return visits.leave(nd, t, si, so, waits.ROOM, o2)
                t, so = visits.put_token(s, o2, t, so, k, rings.number(s, r, 0), zero)
            if k == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            rings.take_one(s, u, t)
            nd.after_coordinate = k != runs.STOP
            nd.phase = _OUTER
            t += 1


_BOTH, _SECOND, _PUT_VAL, _PUT_CRD = range(4)
# Take a value and its coordinate; only the coordinate, as the value is held; put the held value;
# put its coordinate.

_VALDROP = slots(
    phase="s0",  # what comes next, one of those above
    crd_kind="s1",  # of the held value's coordinate
    crd="s2",  # its number
)


@kernel("valdrop", _VALDROP)
def valdrop(node: Int, table: Int) -> Int:
    """Drop empty values with their coordinates."""
    s = state_of(table)
    nd = node_of(s, node, _VALDROP)
    i, j, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    zero = np.float32(0)
    while True:
        if nd.phase == _BOTH:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            k, v = s.run[r].x & runs.KIND, s.run[r].v
            a = max(t, s.run[r].t)
            m = rings.room(s, o1) if k != runs.EMPTY else s.run[r].n
            if k != runs.EMPTY:
                m = min(m, rings.room(s, o2))
            if not rings.has(s, j) or m == 0:
                if not visits.goes_ahead(s, nd, i, j):
                    if not rings.has(s, j):
                        return visits.leave(nd, t, si, so, waits.INPUT, j)
                    return visits.leave(
                        nd, t, si, so, waits.ROOM, o1 if rings.room(s, o1) == 0 else o2
                    )
                t, si = visits.take_held(s, nd, i, r, t, a, si)
                nd.phase = _SECOND
                continue
            q = rings.head(s, j)
            kj = s.run[q].x & runs.KIND
            alike = rings.is_leaf(k) and rings.is_leaf(kj)
            b = max(a, s.run[q].t)
            if not alike and (k != kj or v != s.run[q].v):
                return visits.fail(nd, b, rules.VALDROP_DISAGREES)
            m = min(m, s.run[r].n, s.run[q].n)
            t, si = visits.stall(s, waits.INPUT, t, b, si)
            if k != runs.EMPTY:
                t, so = visits.pass_pair(s, o1, r, o2, q, m, t, so)
            rings.take(s, i, m, a, t + 1, 1)
            rings.take(s, j, m, b, t + 1, 1)
            if k == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            t += m
            continue
        if nd.phase == _SECOND:
            if not rings.has(s, j):
                return visits.leave(nd, t, si, so, waits.INPUT, j)
            q = rings.head(s, j)
            t, si = visits.stall(s, waits.INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & runs.KIND
            nd.crd_kind, nd.crd = kj, rings.number(s, q, 0)
            alike = rings.is_leaf(nd.hk) and rings.is_leaf(kj)
            if not alike and (nd.hk != kj or nd.hv != nd.crd):
                return visits.fail(nd, t, rules.VALDROP_DISAGREES)
            rings.take_one(s, j, t)
            if nd.hk == runs.EMPTY:
                t += 1
                nd.phase = _BOTH
                continue
            nd.phase = _PUT_VAL
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
