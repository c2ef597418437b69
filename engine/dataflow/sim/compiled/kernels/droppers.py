"""Droppers of empty fibers and of empty values (``samml.md`` §2.14)."""

from __future__ import annotations

import numpy as np

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    SLOPE,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
    copied,
    even,
    fail,
    free_at,
    has,
    head,
    hold,
    is_leaf,
    leave,
    no_room,
    number,
    put,
    put_one,
    release,
    rising,
    room,
    starved,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import DROP_DISAGREES, VALDROP_DISAGREES

_OUTER, _FIBER, _HELD, _LONE_STOP, _PUT_OUTER, _LAST = range(6)
# Next outer token; pass the inner fiber; put the held inner token; take the inner stop of an
# empty outer fiber; put the outer token; take the inner end.


@kernel("crddrop", lambda s: {"p0": s.quirks.drop_ignores_empty_outer_fiber})
def crddrop(node: Int, table: Int) -> Int:
    """Drop outer coordinates whose inner fiber is empty.

    State: ``s0`` phase; ``s1`` the fiber has something; ``s2`` the last outer token was a
    coordinate; ``s3`` phase after the held token is put.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, u, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so, literal = nd.clk, nd.si, nd.so, nd.p0
    nd.ht = 0
    zero = np.float32(0)
    while True:
        if nd.s0 == _OUTER:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            p = s.run[head(s, u)]
            a = max(t, p.t)
            si += a - t
            t = a
            k = p.x & KIND
            if k == STOP:
                nd.s0 = _PUT_OUTER if nd.s2 or literal else _LONE_STOP
            elif k == DONE:
                nd.s0 = _LAST
            else:
                nd.s0 = _FIBER
            nd.s1 = 0
        if nd.s0 == _LONE_STOP or nd.s0 == _LAST:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            a = max(t, s.run[r].t)
            si += a - t
            t = a
            k = s.run[r].x & KIND
            if nd.s0 == _LONE_STOP:
                if k != STOP or s.run[r].v != s.run[head(s, u)].v + 1:
                    return fail(nd, t, DROP_DISAGREES)
            elif k != DONE and not literal:
                return fail(nd, t, DROP_DISAGREES)
            hold(s, nd, i, r)
            take_one(s, i, t)
            nd.s3 = _PUT_OUTER
            nd.s0 = _PUT_OUTER if nd.s0 == _LAST and k != DONE else _HELD
        while nd.s0 == _FIBER:  # without a cycle: the run leaves with the slope of the later
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
                si += a - t
                t = a
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.s3 = _PUT_OUTER if k == STOP else _FIBER
                nd.s1 |= k != STOP
                nd.s0 = _HELD
                break
            si += a - t
            t = max(a, free_at(s, o1))
            so += t - a
            m = min(m, p.n)
            slope, again = 0, t
            if m > 1:
                if x & SLOPE and first < t:
                    m = min(m, t - first + 1)
                m = even(s, o1, t, m)
                if x & SLOPE and first == t:
                    slope, again = 1, t + 1
                    si += m - 1
                elif rising(s, o1, t):
                    slope = 1
                    so += m - 1
            put(s, o1, m, t + 1, t + 1, (x & ~SLOPE) | (SLOPE if slope else 0), copied(s, o1, r, m))
            take(s, i, m, a, again, slope)
            t += slope * (m - 1)
            if k == STOP:
                nd.s0 = _PUT_OUTER
            else:
                nd.s1 = 1
        if nd.s0 == _FIBER:
            if has(s, i):
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            return leave(nd, t, si, so, WAIT_INPUT, i)
        if nd.s0 == _HELD:
            if room(s, o1) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            a = release(s, nd, o1, t)
            so += a - t
            t = a
            nd.s0 = nd.s3
        if nd.s0 == _PUT_OUTER:
            r = head(s, u)
            k = s.run[r].x & KIND
            if nd.s1 or not is_leaf(k):
                if room(s, o2) == 0:
                    return leave(nd, t, si, so, WAIT_OUTPUT, o2)
                a = max(t, free_at(s, o2))
                so += a - t
                t = a
                put_one(s, o2, t + 1, k, number(s, r, 0), zero)
            if k == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            take_one(s, u, t)
            nd.s2 = k != STOP
            nd.s0 = _OUTER
            t += 1


_BOTH, _SECOND, _PUT_VAL, _PUT_CRD = range(4)


@kernel("valdrop")
def valdrop(node: Int, table: Int) -> Int:
    """Drop empty values with their coordinates.

    State: ``s0`` phase; the value is held in ``hk``, ``hv``, ``hf``, the coordinate in
    ``s1`` (kind) and ``s2``.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, j, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    zero = np.float32(0)
    while True:
        if nd.s0 == _BOTH:
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
                si += a - t
                t = a
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.s0 = _SECOND
                continue
            q = head(s, j)
            kj = s.run[q].x & KIND
            alike = is_leaf(k) and is_leaf(kj)
            b = max(a, s.run[q].t)
            if not alike and (k != kj or v != s.run[q].v):
                return fail(nd, b, VALDROP_DISAGREES)
            m = min(m, s.run[r].n, s.run[q].n)
            si += b - t
            t = b
            if k != EMPTY:
                t1 = max(t, free_at(s, o1))
                t = max(t1, free_at(s, o2))
                so += t - b
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
        if nd.s0 == _SECOND:
            if not has(s, j):
                return leave(nd, t, si, so, WAIT_INPUT, j)
            q = head(s, j)
            a = max(t, s.run[q].t)
            si += a - t
            t = a
            kj = s.run[q].x & KIND
            nd.s1, nd.s2 = kj, number(s, q, 0)
            alike = is_leaf(nd.hk) and is_leaf(kj)
            if not alike and (nd.hk != kj or nd.hv != nd.s2):
                return fail(nd, t, VALDROP_DISAGREES)
            take_one(s, j, t)
            if nd.hk == EMPTY:
                t += 1
                nd.s0 = _BOTH
                continue
            nd.s0 = _PUT_VAL
        if nd.s0 == _PUT_VAL:
            if room(s, o1) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            a = release(s, nd, o1, t)
            so += a - t
            t = a
            nd.s0 = _PUT_CRD
        if room(s, o2) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o2)
        a = max(t, free_at(s, o2))
        so += a - t
        t = a
        put_one(s, o2, t + 1, nd.s1, nd.s2, zero)
        nd.s0 = _BOTH
        if nd.hk == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += 1
