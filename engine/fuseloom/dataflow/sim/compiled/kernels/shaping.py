"""Repeating outer coordinates, flattening two levels, shifting one (``samml.md`` §2.15, §2.19)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.ending import finish
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    INPUT,
    KIND,
    LEAF,
    MEM,
    RING,
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
    is_leaf,
    number,
    put,
    put_one,
    room,
    slot,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import DROP_DISAGREES, NO_OUTER
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import fail, hold, leave, no_room, release, stall, waited


@inline
def shifted(s: SimulationState, o: Int, r: Int, m: Int, offset: Int) -> tuple[Int, Int]:
    """Flags and datum for putting the first ``m`` numbers of a run, all plus ``offset``."""
    x = s.run[r].x
    if x & MEM and x & STEP:
        w = slot(s, o)
        for e in range(m):
            s.ints[w + e] = number(s, r, e) + offset
        return LEAF | SLOPE | STEP | MEM | RING, w
    return LEAF | SLOPE | (x & STEP), number(s, r, 0) + offset


_SHIFTER = slots(
    offset="p0",  # to be added
    holding="s0",  # a token was taken and waits for room
)


@kernel("shift", _SHIFTER, lambda setup: {"offset": int(setup.param("offset"))})
def shift(node: Int, table: Int) -> Int:
    """Add an offset to each coordinate."""
    s = state_of(table)
    nd = node_of(s, node, _SHIFTER)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if nd.holding:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = release(s, nd, o, t, so)
            nd.holding = 0
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
            si += waited(s, INPUT, t, a)
            t = a
            hold(s, nd, i, r)
            if k == LEAF:
                nd.hv += nd.offset
            take_one(s, i, t)
            nd.holding = 1
            continue
        m = min(m, p.n)
        si += waited(s, INPUT, t, a)
        t = max(a, free_at(s, o))
        so += waited(s, ROOM, a, t)
        x, w = k | SLOPE, p.v
        if k == LEAF:
            x, w = shifted(s, o, r, m, nd.offset)
        put(s, o, m, t + 1, t + 1, x, w)
        take(s, i, m, a, t + 1, 1)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m


_TAKE, _INNER, _AHEAD, _OUTER, _CLOSING, _LEFT = range(6)
# Take an inner token; put it; wait for the outer coordinate behind a stop; put what is outside;
# take the outer stop that an inner one closes too; take the end of the outer stream.

_HOLDER = slots(
    lags="p0",  # as the reference machine: an outer stop is taken with the next coordinate
    ends_early="p1",  # the end of the outer stream is left in it
    phase="s0",  # what comes next, one of those above
)


def _holder(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {"lags": quirks.hold_lags_behind, "ends_early": quirks.ends_with_unread_input}


@kernel("crdhold", _HOLDER, _holder)
def crdhold(node: Int, table: Int) -> Int:
    """Put the outer coordinate once per inner one; the inner token is held."""
    s = state_of(table)
    nd = node_of(s, node, _HOLDER)
    i, u, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so, lags = nd.clk, nd.si, nd.so, nd.lags
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.phase == _TAKE:
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
                si += waited(s, INPUT, t, a)
                t1 = max(a, free_at(s, o1))
                t = max(t1, free_at(s, o2))
                so += waited(s, ROOM, a, t)
                put(s, o1, m, t1 + 1, t + 1, (x & ~SLOPE) | SLOPE, copied(s, o1, r, m))
                put(s, o2, m, t + 1, t + 1, LEAF | SLOPE, number(s, q, 0))
                take(s, i, m, a, t + 1, 1)
                t += m
                continue
            full = o1 if room(s, o1) == 0 else o2
            if m == 0 and not no_room(s, nd, i, full):
                return leave(nd, t, si, so, WAIT_OUTPUT, full)
            t, si = stall(s, INPUT, t, a, si)
            hold(s, nd, i, r)
            take_one(s, i, t)
            nd.phase = _INNER
        if nd.phase == _INNER:
            if room(s, o1) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o1)
            t, so = release(s, nd, o1, t, so)
            nd.phase = _OUTER
            if lags and is_leaf(nd.hk) and s.run[head(s, u)].x & KIND == STOP:
                take_one(s, u, t)
                nd.phase = _AHEAD
        if nd.phase == _AHEAD:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            t, si = stall(s, INPUT, t, s.run[head(s, u)].t, si)
            nd.phase = _OUTER
        if nd.phase == _OUTER:
            q = head(s, u)
            inside = s.run[q].x & KIND == LEAF
            if is_leaf(nd.hk) and not inside:
                return fail(nd, t, NO_OUTER)
            if room(s, o2) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o2)
            t, so = stall(s, ROOM, t, free_at(s, o2), so)
            nd.phase = _TAKE
            if is_leaf(nd.hk):
                put_one(s, o2, t + 1, LEAF, number(s, q, 0), zero)
            else:
                put_one(s, o2, t + 1, nd.hk, nd.hv, zero)
                if nd.hk == DONE:
                    if nd.ends_early:
                        return leave(nd, t, si, so, WAIT_NONE, 0)
                    nd.phase = _LEFT
                else:
                    if lags or inside:
                        take_one(s, u, t)
                    if not lags and (nd.hv > 0 or not inside):
                        nd.phase = _CLOSING
            if nd.phase == _TAKE:
                t += 1
        if nd.phase == _CLOSING:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            p = s.run[head(s, u)]
            t, si = stall(s, INPUT, t, p.t, si)
            if p.x & KIND != STOP or p.v != nd.hv - 1:
                return fail(nd, t, DROP_DISAGREES)
            take_one(s, u, t)
            nd.phase = _TAKE
            t += 1
        if nd.phase == _LEFT:
            return finish(s, nd, u, t, si, so)


_FLATTENER = slots(
    loses_stops="p0",  # as the reference machine: outer stops that are not in front
    ends_early="p1",  # the end of the outer stream is left in it
    factor="p2",  # of the outer coordinate
    phase="s0",  # what comes next, one of those above; ``_OUTER`` puts the held token,
    stop_due="s1",  # and then takes the outer stop
)


def _flattener(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {
        "loses_stops": quirks.flatten_loses_stops,
        "ends_early": quirks.ends_with_unread_input,
        "factor": int(setup.param("factor")),
    }


@kernel("flatten", _FLATTENER, _flattener)
def flatten(node: Int, table: Int) -> Int:
    """``outer * factor + inner``."""
    s = state_of(table)
    nd = node_of(s, node, _FLATTENER)
    i, u, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so, loses, factor = nd.clk, nd.si, nd.so, nd.loses_stops, nd.factor
    nd.ht = 0
    while True:
        if nd.phase == _TAKE:
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
                    nd.phase = _OUTER
                    t, si = stall(s, INPUT, t, a, si)
                    take_one(s, i, t)
                else:
                    m = min(m, s.run[r].n)
                    si += waited(s, INPUT, t, a)
                    t = max(a, free_at(s, o))
                    so += waited(s, ROOM, a, t)
                    x, w = shifted(s, o, r, m, base)
                    put(s, o, m, t + 1, t + 1, x, w)
                    take(s, i, m, a, t + 1, 1)
                    t += m
                    continue
            else:
                t, si = stall(s, INPUT, t, a, si)
                take_one(s, i, t)
                nd.hk, nd.hv = k, v
                if k == DONE:
                    nd.phase = _OUTER
                elif not loses:
                    if kq == LEAF:
                        take_one(s, u, t)
                    if v > 0 or kq != LEAF:
                        nd.phase = _CLOSING
                    else:
                        t += 1
                elif kq == STOP:
                    nd.hv = s.run[q].v
                    nd.stop_due = 1
                    nd.phase = _OUTER
                else:
                    take_one(s, u, t)
                    t += 1
        if nd.phase == _CLOSING:
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            p = s.run[head(s, u)]
            t, si = stall(s, INPUT, t, p.t, si)
            if p.x & KIND != STOP or p.v != nd.hv - 1:
                return fail(nd, t, DROP_DISAGREES)
            take_one(s, u, t)
            nd.hv -= 1
            nd.phase = _OUTER
        if nd.phase == _OUTER:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = release(s, nd, o, t, so)
            nd.phase = _TAKE
            if nd.hk == DONE:
                if nd.ends_early:
                    return leave(nd, t, si, so, WAIT_NONE, 0)
                nd.phase = _LEFT
            else:
                if nd.stop_due:
                    take_one(s, u, t)
                    nd.stop_due = 0
                t += 1
        if nd.phase == _LEFT:
            return finish(s, nd, u, t, si, so)
