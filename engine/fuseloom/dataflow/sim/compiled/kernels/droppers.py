"""Droppers of empty fibers and of empty values (``docs/spec/machine.md`` §7.1, §7.2)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    INPUT,
    KIND,
    ROOM,
    SLOPE,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from fuseloom.dataflow.sim.compiled.rings import (
    copied,
    even,
    free_at,
    has,
    head,
    is_leaf,
    number,
    put,
    put_one,
    rising,
    room,
    starved,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import DROP_DISAGREES, VALDROP_DISAGREES
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import fail, hold, leave, no_room, release, stall, waited

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
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            p = s.run[head(s, u)]
            t, si = stall(s, INPUT, t, p.t, si)
            k = p.x & KIND
            if k == STOP:
                nd.phase = _PUT_OUTER if nd.after_coordinate or literal else _LONE_STOP
            elif k == DONE:
                nd.phase = _LAST
            else:
                nd.phase = _FIBER
            nd.nonempty = 0
        if nd.phase == _LONE_STOP or nd.phase == _LAST:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            t, si = stall(s, INPUT, t, s.run[r].t, si)
            k = s.run[r].x & KIND
            if nd.phase == _LONE_STOP:
                if k != STOP or s.run[r].v != s.run[head(s, u)].v + 1:
                    return fail(nd, t, DROP_DISAGREES)
            elif k != DONE and not literal:
                return fail(nd, t, DROP_DISAGREES)
            hold(s, nd, i, r)
            take_one(s, i, t)
            nd.then = _PUT_OUTER
            nd.phase = _PUT_OUTER if nd.phase == _LAST and k != DONE else _HELD
        while nd.phase == _FIBER:  # without a cycle: the run leaves with the slope of the later
            if not has(s, i):
                break
            r = head(s, i)
            p = s.run[r]
            x, first = p.x, p.t
            k = x & KIND
            if k == DONE:
                return fail(nd, max(t, first), DROP_DISAGREES)
            a = max(t, first)
            m = room(s, o1)
            if m == 0:
                if not no_room(s, nd, i, o1):
                    break
                t, si = stall(s, INPUT, t, a, si)
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.then = _PUT_OUTER if k == STOP else _FIBER
                nd.nonempty |= k != STOP
                nd.phase = _HELD
                break
            si += waited(s, INPUT, t, a)
            t = max(a, free_at(s, o1))
            so += waited(s, ROOM, a, t)
            m = min(m, p.n)
            slope, again = 0, t
            if m > 1:
                if x & SLOPE and first < t:
                    m = min(m, t - first + 1)
                m = even(s, o1, t, m)
                if x & SLOPE and first == t:
                    slope, again = 1, t + 1
                    si += waited(s, INPUT, t, t + m - 1)
                elif rising(s, o1, t):
                    slope = 1
                    so += waited(s, ROOM, t, t + m - 1)
            put(s, o1, m, t + 1, t + 1, (x & ~SLOPE) | (SLOPE if slope else 0), copied(s, o1, r, m))
            take(s, i, m, a, again, slope)
            t += slope * (m - 1)
            if k == STOP:
                nd.phase = _PUT_OUTER
            else:
                nd.nonempty = 1
        if nd.phase == _FIBER:
            if has(s, i):
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            return leave(nd, t, si, so, WAIT_INPUT, i)
        if nd.phase == _HELD:
            if room(s, o1) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            t, so = release(s, nd, o1, t, so)
            nd.phase = nd.then
        if nd.phase == _PUT_OUTER:
            r = head(s, u)
            k = s.run[r].x & KIND
            if nd.nonempty or not is_leaf(k):
                if room(s, o2) == 0:
                    return leave(nd, t, si, so, WAIT_OUTPUT, o2)
                t, so = stall(s, ROOM, t, free_at(s, o2), so)
                put_one(s, o2, t + 1, k, number(s, r, 0), zero)
            if k == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            take_one(s, u, t)
            nd.after_coordinate = k != STOP
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
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k, v = s.run[r].x & KIND, s.run[r].v
            a = max(t, s.run[r].t)
            m = room(s, o1) if k != EMPTY else s.run[r].n
            if k != EMPTY:
                m = min(m, room(s, o2))
            if not has(s, j) or m == 0:
                if not (nd.eager or starved(s, i) or (has(s, j) and starved(s, j))):
                    if not has(s, j):
                        return leave(nd, t, si, so, WAIT_INPUT, j)
                    return leave(nd, t, si, so, WAIT_OUTPUT, o1 if room(s, o1) == 0 else o2)
                t, si = stall(s, INPUT, t, a, si)
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.phase = _SECOND
                continue
            q = head(s, j)
            kj = s.run[q].x & KIND
            alike = is_leaf(k) and is_leaf(kj)
            b = max(a, s.run[q].t)
            if not alike and (k != kj or v != s.run[q].v):
                return fail(nd, b, VALDROP_DISAGREES)
            m = min(m, s.run[r].n, s.run[q].n)
            t, si = stall(s, INPUT, t, b, si)
            if k != EMPTY:
                t1 = max(t, free_at(s, o1))
                t = max(t1, free_at(s, o2))
                so += waited(s, ROOM, b, t)
                x = (s.run[r].x & ~SLOPE) | SLOPE
                y = (s.run[q].x & ~SLOPE) | SLOPE
                put(s, o1, m, t1 + 1, t + 1, x, copied(s, o1, r, m))
                put(s, o2, m, t + 1, t + 1, y, copied(s, o2, q, m))
            take(s, i, m, a, t + 1, 1)
            take(s, j, m, b, t + 1, 1)
            if k == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += m
            continue
        if nd.phase == _SECOND:
            if not has(s, j):
                return leave(nd, t, si, so, WAIT_INPUT, j)
            q = head(s, j)
            t, si = stall(s, INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & KIND
            nd.crd_kind, nd.crd = kj, number(s, q, 0)
            alike = is_leaf(nd.hk) and is_leaf(kj)
            if not alike and (nd.hk != kj or nd.hv != nd.crd):
                return fail(nd, t, VALDROP_DISAGREES)
            take_one(s, j, t)
            if nd.hk == EMPTY:
                t += 1
                nd.phase = _BOTH
                continue
            nd.phase = _PUT_VAL
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
