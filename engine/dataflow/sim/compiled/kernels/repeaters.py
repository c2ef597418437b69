"""Repeat signals and repeaters (``samml.md`` §2.3, §2.4)."""

from __future__ import annotations

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.ending import finish
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    LEAF,
    MEM,
    REPEAT,
    RING,
    SIGNAL_STOP,
    SLOPE,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
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
    release,
    room,
    slot,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import NOTHING_TO_REPEAT
from engine.dataflow.sim.compiled.setup import Setup


@kernel("repsig")
def repsig(node: Int, table: Int) -> Int:
    """Leaves become R, stops S; ``s0``: the held signal waits for room."""
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
        p = s.run[head(s, i)]
        k = p.x & KIND
        signal = k if k == DONE else SIGNAL_STOP if k == STOP else REPEAT
        a = max(t, p.t)
        m = room(s, o)
        if m == 0:
            if not no_room(s, nd, i, o):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            si += a - t
            t = a
            nd.hk, nd.hv, nd.s0 = signal, 0, 1
            take_one(s, i, t)
            continue
        m = min(m, p.n)
        si += a - t
        t = max(a, free_at(s, o))
        so += t - a
        take(s, i, m, a, t + 1, 1)
        put(s, o, m, t + 1, t + 1, signal | SLOPE, 0)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m


_ORDER, _AHEAD, _PUT, _LEFT = range(4)
# Next order; the group's stop waits for the next held token; a token waits for room; the end of
# the held stream is to be taken.


def _repeater(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {"p0": quirks.repeat_ignores_stop_after_empty, "p1": quirks.ends_with_unread_input}


@kernel("repeat", _repeater)
def repeat(node: Int, table: Int) -> Int:
    """Put the head of the first stream at each R; ``s0`` phase."""
    s = state_of(table)
    nd = s.nd[node]
    i, j, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    is_value = s.ch[i].val
    nd.ht = 0
    while True:
        if nd.s0 == _AHEAD:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            p = s.run[head(s, i)]
            a = max(t, p.t)
            si += a - t
            t = a
            nd.hk, nd.hv = STOP, 0
            if p.x & KIND == STOP:
                nd.hv = p.v + 1
                take_one(s, i, t)
            nd.s0 = _PUT
        if nd.s0 == _PUT:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            t = a
            nd.s0 = _ORDER
            if nd.hk == DONE:
                if nd.p1:
                    return leave(nd, t, si, so, WAIT_NONE, 0)
                nd.s0 = _LEFT
            else:
                t += 1
        if nd.s0 == _LEFT:
            return finish(s, nd, i, t, si, so)
        if not has(s, i):
            return leave(nd, t, si, so, WAIT_INPUT, i)
        if not has(s, j):
            return leave(nd, t, si, so, WAIT_INPUT, j)
        r = head(s, i)
        x, v = s.run[r].x, s.run[r].v
        k = x & KIND
        p = s.run[head(s, j)]
        order = p.x & KIND
        a = max(t, s.run[r].t, p.t)
        if order == REPEAT:
            if not is_leaf(k):
                return fail(nd, t, NOTHING_TO_REPEAT)
            m = room(s, o)
            if m == 0:
                if not no_room(s, nd, j, o):
                    return leave(nd, t, si, so, WAIT_OUTPUT, o)
                si += a - t
                t = a
                hold(s, nd, i, r)
                take_one(s, j, t)
                nd.s0 = _PUT
                continue
            m = min(m, p.n)
            si += a - t
            t = max(a, free_at(s, o))
            so += t - a
            z = k | SLOPE
            if k == LEAF:
                if not is_value:
                    v = number(s, r, 0)
                elif x & RING:
                    z |= MEM | RING
                    w = slot(s, o)
                    s.floats[w] = s.floats[v]
                    v = w
                else:
                    z |= MEM
            take(s, j, m, a, t + 1, 1)
            put(s, o, m, t + 1, t + 1, z, v)
            t += m
            continue
        si += a - t
        t = a
        take_one(s, j, t)
        if order == SIGNAL_STOP:
            take_one(s, i, t)
            nd.hk, nd.hv = STOP, 0
            if k == STOP:
                nd.hv = v + 1
                nd.s0 = _PUT
            elif k == EMPTY and nd.p0:
                nd.s0 = _PUT
            else:
                nd.s0 = _AHEAD
        else:
            nd.hk, nd.hv = DONE, 0
            nd.s0 = _PUT
