"""Droppers of stops, of zeros and of masked elements (``samml.md`` §2.16, §2.17)."""

from __future__ import annotations

import numpy as np

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.ending import finish
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    LEAF,
    MEM,
    SLOPE,
    STEP,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    State,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
    copied,
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
    room,
    starved,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import (
    DROP_DISAGREES,
    LOCATE_MISMATCH,
    NO_OUTER,
    VALDROP_DISAGREES,
)
from engine.dataflow.sim.compiled.setup import Setup


@kernel("stopdrop")
def stopdrop(node: Int, table: Int) -> Int:
    """Drop a stop if nothing came since the last; ``s0``: a token is held, ``s1``: some came."""
    s = state_of(table)
    nd = s.nd[node]
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if nd.s0:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            t = a
            nd.s0 = 0
            if nd.hk == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += 1
            continue
        if not has(s, i):
            return leave(nd, t, si, so, WAIT_INPUT, i)
        r = head(s, i)
        x, n = s.run[r].x, s.run[r].n
        k = x & KIND
        a = max(t, s.run[r].t)
        if k == STOP and not nd.s1:
            si += a - t
            t = a + 1
            take_one(s, i, a)
            continue
        m = room(s, o)
        if m == 0 and not no_room(s, nd, i, o):
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        nd.s1 = k != STOP
        si += a - t
        t = a
        if m == 0:
            hold(s, nd, i, r)
            take_one(s, i, t)
            nd.s0 = 1
            continue
        m = min(m, n)
        t = max(a, free_at(s, o))
        so += t - a
        put(s, o, m, t + 1, t + 1, (x & ~SLOPE) | SLOPE, copied(s, o, r, m))
        take(s, i, m, a, t + 1, 1)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m


@inline
def _is_zero(s: State, c: Int, r: Int, e: Int, size: Int) -> Int:
    """Whether value ``e`` of a run is zero, or a tile of ``size`` numbers all zero."""
    step = e if s.run[r].x & STEP else 0
    if s.ch[c].val:
        return s.floats[s.run[r].v + step] == 0
    start = number(s, r, e) * size
    k = 0
    while k < size and s.floats[start + k] == 0:
        k += 1
    return k == size


_BOTH, _SECOND, _PUT_VAL, _PUT_CRD = range(4)


@kernel(
    "zerodrop",
    lambda setup: {"p0": setup.quirks.zerodrop_discards_stops, "p1": setup.elements},
)
def zerodrop(node: Int, table: Int) -> Int:
    """Drop zeros with their coordinates.

    State: ``s0`` phase; the value is held, its coordinate in ``s1`` (kind) and ``s2``; ``s3``
    the next stop is to be discarded; ``s4`` the held value is zero.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, j, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so, literal, size = nd.clk, nd.si, nd.so, nd.p0, nd.p1
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.s0 == _BOTH:
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
                si += a - t
                t = a
                hold(s, nd, i, r)
                nd.s4 = drops
                take_one(s, i, t)
                nd.s0 = _SECOND
            else:
                q = head(s, j)
                b = max(a, s.run[q].t)
                m = min(m, s.run[r].n, s.run[q].n)
                e = 1
                while e < m and _is_zero(s, i, r, e, size) == drops:
                    e += 1
                m = e
                si += b - t
                t = b
                if not drops:
                    t1 = max(t, free_at(s, o1))
                    t = max(t1, free_at(s, o2))
                    so += t - b
                    x = (s.run[r].x & ~SLOPE) | SLOPE
                    y = (s.run[q].x & ~SLOPE) | SLOPE
                    put(s, o1, m, t1 + 1, t + 1, x, copied(s, o1, r, m))
                    put(s, o2, m, t + 1, t + 1, y, copied(s, o2, q, m))
                take(s, i, m, a, t + 1, 1)
                take(s, j, m, b, t + 1, 1)
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
            take_one(s, j, t)
            nd.s0 = _PUT_VAL
            if nd.hk == LEAF:
                if nd.s4:
                    nd.s0 = _BOTH
            elif nd.hk == EMPTY and not literal:
                nd.s0 = _BOTH
            elif (nd.hk != kj or (kj == STOP and nd.hv != nd.s2)) and not literal:
                return fail(nd, t, VALDROP_DISAGREES)
            elif nd.s3 and nd.hk != DONE:
                nd.s3 = 0
                nd.s0 = _BOTH
                continue
            else:
                nd.s3 = literal
            if nd.s0 == _BOTH:
                t += 1
                continue
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


def _mask(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {"p0": quirks.mask_loses_stops, "p1": quirks.ends_with_unread_input}


@inline
def _alike(s: State, r: Int, m: Int, least: Int) -> Int:
    """How many of the first ``m`` numbers are on the same side of ``least`` as the first."""
    p = s.run[r]
    if not p.x & STEP:
        return m
    if not p.x & MEM:
        return m if p.v >= least else min(m, least - p.v)
    kept = number(s, r, 0) >= least
    e = 1
    while e < m and (number(s, r, e) >= least) == kept:
        e += 1
    return e


_TAKE, _REF, _FIRST_STOP, _INNER, _LOAD, _OUTER, _CLOSE, _CLOSING, _PASS, _LEFT = range(10)
# Take an inner token; its reference; put the outer stop in front (reference machine); put the
# inner token, the reference, the outer coordinate; take the outer stop that an inner one closes
# too; put it; take the outer token (reference machine); take the end of the outer stream.


@kernel("crdmask", _mask)
def crdmask(node: Int, table: Int) -> Int:
    """Drop elements whose outer coordinate is greater.

    State: ``s0`` phase; the inner token is held; ``s1``, ``s2`` kind and number of its reference;
    ``s3`` something of the fiber was kept; ``s4``, ``s5`` kind and number of the outer token.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, u, j = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.ins + 2]
    o1, o2, o3 = s.ints[nd.outs], s.ints[nd.outs + 1], s.ints[nd.outs + 2]
    t, si, so, literal = nd.clk, nd.si, nd.so, nd.p0
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.s0 == _TAKE:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r, q = head(s, i), head(s, u)
            k, kq, least = s.run[r].x & KIND, s.run[q].x & KIND, number(s, q, 0)
            a = max(t, s.run[r].t, s.run[q].t)
            plain = k == LEAF and kq == LEAF
            keeps = plain and number(s, r, 0) >= least
            m = s.run[r].n if plain and not keeps else min(room(s, o1), room(s, o3))
            if not has(s, j) or m == 0:
                if not (nd.eager or starved(s, i) or (has(s, j) and starved(s, j))):
                    if not has(s, j):
                        return leave(nd, t, si, so, WAIT_INPUT, j)
                    return leave(nd, t, si, so, WAIT_OUTPUT, o1 if room(s, o1) == 0 else o3)
            elif plain and is_leaf(s.run[head(s, j)].x & KIND):
                w = head(s, j)
                m = _alike(s, r, min(m, s.run[r].n, s.run[w].n), least)
                b = max(a, s.run[w].t)
                si += b - t
                t = b
                if keeps:
                    nd.s3 = 1
                    t1 = max(t, free_at(s, o1))
                    t = max(t1, free_at(s, o3))
                    so += t - b
                    x = (s.run[r].x & ~SLOPE) | SLOPE
                    y = (s.run[w].x & ~SLOPE) | SLOPE
                    put(s, o1, m, t1 + 1, t + 1, x, copied(s, o1, r, m))
                    put(s, o3, m, t + 1, t + 1, y, copied(s, o3, w, m))
                take(s, i, m, a, t + 1, 1)
                take(s, j, m, b, t + 1, 1)
                t += m
                continue
            si += a - t
            t = a
            hold(s, nd, i, r)
            nd.s4, nd.s5 = kq, least
            take_one(s, i, t)
            nd.s0 = _REF
        if nd.s0 == _REF:
            if not has(s, j):
                return leave(nd, t, si, so, WAIT_INPUT, j)
            w = head(s, j)
            kj, v = s.run[w].x & KIND, number(s, w, 0)
            a = max(t, s.run[w].t)
            si += a - t
            t = a
            take_one(s, j, t)
            nd.s1, nd.s2 = kj, v
            if literal:
                nd.s0 = _FIRST_STOP
            else:
                both = is_leaf(nd.hk) and is_leaf(kj)
                if not both and (nd.hk != kj or (kj == STOP and nd.hv != v)):
                    return fail(nd, t, LOCATE_MISMATCH)
                if is_leaf(nd.hk) and (nd.hk == EMPTY or nd.s4 != LEAF):
                    return fail(nd, t, NO_OUTER)
                nd.s0 = _INNER
                if nd.hk == LEAF and nd.hv < nd.s5:
                    t += 1
                    nd.s0 = _TAKE
                    continue
        if nd.s0 == _FIRST_STOP:
            nd.s0 = _INNER
            if nd.s4 == STOP:
                if room(s, o2) == 0:
                    nd.s0 = _FIRST_STOP
                    return leave(nd, t, si, so, WAIT_OUTPUT, o2)
                a = max(t, free_at(s, o2))
                so += a - t
                t = a
                put_one(s, o2, t + 1, STOP, nd.s5, zero)
                take_one(s, u, t)
            if nd.hk == STOP:
                if not nd.s3:
                    nd.s0 = _PASS
                nd.s3 = 0
            elif nd.hk == LEAF and nd.s4 == LEAF and nd.hv < nd.s5:
                t += 1
                nd.s0 = _TAKE
                continue
            elif nd.hk != DONE:
                nd.s3 = 1
        if nd.s0 == _INNER:
            if room(s, o1) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            a = release(s, nd, o1, t)
            so += a - t
            t = a
            nd.s0 = _LOAD
        if nd.s0 == _LOAD:
            if room(s, o3) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o3)
            a = max(t, free_at(s, o3))
            so += a - t
            t = a
            if nd.hk == DONE:
                nd.s1, nd.s2 = DONE, 0
            put_one(s, o3, t + 1, nd.s1, nd.s2, zero)
            nd.s0 = _OUTER
            if is_leaf(nd.hk):
                t += 1
                nd.s0 = _TAKE
                continue
            if nd.hk == STOP and not literal and nd.s4 != LEAF:
                nd.s0 = _CLOSE
        if nd.s0 == _OUTER:
            if room(s, o2) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o2)
            a = max(t, free_at(s, o2))
            so += a - t
            t = a
            if nd.hk == DONE:
                put_one(s, o2, t + 1, DONE, 0, zero)
                if nd.p1:
                    return leave(nd, t, si, so, WAIT_NONE, 0)
                nd.s0 = _LEFT
            else:
                put_one(s, o2, t + 1, nd.s4, nd.s5, zero)
                nd.s0 = _PASS
                if not literal:
                    take_one(s, u, t)
                    nd.s0 = _CLOSE
                    if nd.hv == 0:
                        t += 1
                        nd.s0 = _TAKE
                        continue
        if nd.s0 == _CLOSE or nd.s0 == _PASS:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            p = s.run[head(s, u)]
            a = max(t, p.t)
            si += a - t
            t = a
            if nd.s0 == _PASS:
                take_one(s, u, t)
                t += 1
                nd.s0 = _TAKE
                continue
            if p.x & KIND != STOP or p.v != nd.hv - 1:
                return fail(nd, t, DROP_DISAGREES)
            take_one(s, u, t)
            nd.s0 = _CLOSING
        if nd.s0 == _CLOSING:
            if room(s, o2) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o2)
            a = max(t, free_at(s, o2))
            so += a - t
            t = a
            put_one(s, o2, t + 1, STOP, nd.hv - 1, zero)
            nd.s0 = _TAKE
            t += 1
        if nd.s0 == _LEFT:
            return finish(s, nd, u, t, si, so)
