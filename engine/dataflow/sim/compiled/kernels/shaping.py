"""Repeating outer coordinates, flattening two levels, shifting one (``samml.md`` §2.15, §2.19)."""

from __future__ import annotations

import numpy as np

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.ending import finish
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.layout import (
    DONE,
    KIND,
    LEAF,
    MEM,
    RING,
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
    slot,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import DROP_DISAGREES, NO_OUTER
from engine.dataflow.sim.compiled.setup import Setup


@inline
def shifted(s: State, o: Int, r: Int, m: Int, offset: Int) -> tuple[Int, Int]:
    """Flags and datum for putting the first ``m`` numbers of a run, all plus ``offset``."""
    x = s.run[r].x
    if x & MEM and x & STEP:
        w = slot(s, o)
        for e in range(m):
            s.ints[w + e] = number(s, r, e) + offset
        return LEAF | SLOPE | STEP | MEM | RING, w
    return LEAF | SLOPE | (x & STEP), number(s, r, 0) + offset


@kernel("shift", lambda setup: {"p0": int(setup.param("offset"))})
def shift(node: Int, table: Int) -> Int:
    """Add an offset to each coordinate; ``s0``: the held token waits for room."""
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
        p = s.run[r]
        k = p.x & KIND
        a = max(t, p.t)
        m = room(s, o)
        if m == 0:
            if not no_room(s, nd, i, o):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            si += a - t
            t = a
            hold(s, nd, i, r)
            if k == LEAF:
                nd.hv += nd.p0
            take_one(s, i, t)
            nd.s0 = 1
            continue
        m = min(m, p.n)
        si += a - t
        t = max(a, free_at(s, o))
        so += t - a
        x, w = k | SLOPE, p.v
        if k == LEAF:
            x, w = shifted(s, o, r, m, nd.p0)
        put(s, o, m, t + 1, t + 1, x, w)
        take(s, i, m, a, t + 1, 1)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m


_TAKE, _INNER, _AHEAD, _OUTER, _CLOSING, _LEFT = range(6)
# Take an inner token; put it; wait for the outer coordinate behind a stop; put what is outside;
# take the outer stop that an inner one closes too; take the end of the outer stream.


def _holder(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {"p0": quirks.hold_lags_behind, "p1": quirks.ends_with_unread_input}


@kernel("crdhold", _holder)
def crdhold(node: Int, table: Int) -> Int:
    """Put the outer coordinate once per inner one; ``s0`` phase, the inner token is held."""
    s = state_of(table)
    nd = s.nd[node]
    i, u, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so, lags = nd.clk, nd.si, nd.so, nd.p0
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.s0 == _TAKE:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r, q = head(s, i), head(s, u)
            x = s.run[r].x
            a = max(t, s.run[r].t, s.run[q].t)
            m = min(room(s, o1), room(s, o2))
            if m > 0 and is_leaf(x & KIND) and s.run[q].x & KIND == LEAF:
                m = min(m, s.run[r].n)
                si += a - t
                t1 = max(a, free_at(s, o1))
                t = max(t1, free_at(s, o2))
                so += t - a
                put(s, o1, m, t1 + 1, t + 1, (x & ~SLOPE) | SLOPE, copied(s, o1, r, m))
                put(s, o2, m, t + 1, t + 1, LEAF | SLOPE, number(s, q, 0))
                take(s, i, m, a, t + 1, 1)
                t += m
                continue
            full = o1 if room(s, o1) == 0 else o2
            if m == 0 and not no_room(s, nd, i, full):
                return leave(nd, t, si, so, WAIT_OUTPUT, full)
            si += a - t
            t = a
            hold(s, nd, i, r)
            take_one(s, i, t)
            nd.s0 = _INNER
        if nd.s0 == _INNER:
            if room(s, o1) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            a = release(s, nd, o1, t)
            so += a - t
            t = a
            nd.s0 = _OUTER
            if lags and is_leaf(nd.hk) and s.run[head(s, u)].x & KIND == STOP:
                take_one(s, u, t)
                nd.s0 = _AHEAD
        if nd.s0 == _AHEAD:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            a = max(t, s.run[head(s, u)].t)
            si += a - t
            t = a
            nd.s0 = _OUTER
        if nd.s0 == _OUTER:
            q = head(s, u)
            inside = s.run[q].x & KIND == LEAF
            if is_leaf(nd.hk) and not inside:
                return fail(nd, t, NO_OUTER)
            if room(s, o2) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o2)
            a = max(t, free_at(s, o2))
            so += a - t
            t = a
            nd.s0 = _TAKE
            if is_leaf(nd.hk):
                put_one(s, o2, t + 1, LEAF, number(s, q, 0), zero)
            else:
                put_one(s, o2, t + 1, nd.hk, nd.hv, zero)
                if nd.hk == DONE:
                    if nd.p1:
                        return leave(nd, t, si, so, WAIT_NONE, 0)
                    nd.s0 = _LEFT
                else:
                    if lags or inside:
                        take_one(s, u, t)
                    if not lags and (nd.hv > 0 or not inside):
                        nd.s0 = _CLOSING
            if nd.s0 == _TAKE:
                t += 1
        if nd.s0 == _CLOSING:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            p = s.run[head(s, u)]
            a = max(t, p.t)
            si += a - t
            t = a
            if p.x & KIND != STOP or p.v != nd.hv - 1:
                return fail(nd, t, DROP_DISAGREES)
            take_one(s, u, t)
            nd.s0 = _TAKE
            t += 1
        if nd.s0 == _LEFT:
            return finish(s, nd, u, t, si, so)


def _flattener(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {
        "p0": quirks.flatten_loses_stops,
        "p1": quirks.ends_with_unread_input,
        "p2": int(setup.param("factor")),
    }


@kernel("flatten", _flattener)
def flatten(node: Int, table: Int) -> Int:
    """``outer * factor + inner``.

    State: ``s0`` phase, where ``_OUTER`` puts the held token; ``s1``: then the outer stop goes.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, u, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so, loses, factor = nd.clk, nd.si, nd.so, nd.p0, nd.p2
    nd.ht = 0
    while True:
        if nd.s0 == _TAKE:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r, q = head(s, i), head(s, u)
            k, v, kq = s.run[r].x & KIND, s.run[r].v, s.run[q].x & KIND
            a = max(t, s.run[r].t, s.run[q].t)
            if is_leaf(k):
                if k != LEAF or kq != LEAF:
                    return fail(nd, a, NO_OUTER)
                base = number(s, q, 0) * factor
                m = room(s, o)
                if m == 0:
                    if not no_room(s, nd, i, o):
                        return leave(nd, t, si, so, WAIT_OUTPUT, o)
                    nd.hk, nd.hv = LEAF, base + number(s, r, 0)
                    nd.s0 = _OUTER
                    si += a - t
                    t = a
                    take_one(s, i, t)
                else:
                    m = min(m, s.run[r].n)
                    si += a - t
                    t = max(a, free_at(s, o))
                    so += t - a
                    x, w = shifted(s, o, r, m, base)
                    put(s, o, m, t + 1, t + 1, x, w)
                    take(s, i, m, a, t + 1, 1)
                    t += m
                    continue
            else:
                si += a - t
                t = a
                take_one(s, i, t)
                nd.hk, nd.hv = k, v
                if k == DONE:
                    nd.s0 = _OUTER
                elif not loses:
                    if kq == LEAF:
                        take_one(s, u, t)
                    if v > 0 or kq != LEAF:
                        nd.s0 = _CLOSING
                    else:
                        t += 1
                elif kq == STOP:
                    nd.hv = s.run[q].v
                    nd.s1 = 1
                    nd.s0 = _OUTER
                else:
                    take_one(s, u, t)
                    t += 1
        if nd.s0 == _CLOSING:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            p = s.run[head(s, u)]
            a = max(t, p.t)
            si += a - t
            t = a
            if p.x & KIND != STOP or p.v != nd.hv - 1:
                return fail(nd, t, DROP_DISAGREES)
            take_one(s, u, t)
            nd.hv -= 1
            nd.s0 = _OUTER
        if nd.s0 == _OUTER:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            t = a
            nd.s0 = _TAKE
            if nd.hk == DONE:
                if nd.p1:
                    return leave(nd, t, si, so, WAIT_NONE, 0)
                nd.s0 = _LEFT
            else:
                if nd.s1:
                    take_one(s, u, t)
                    nd.s1 = 0
                t += 1
        if nd.s0 == _LEFT:
            return finish(s, nd, u, t, si, so)
