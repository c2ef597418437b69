"""Dealing a stream to lanes and collecting it from them (``samml.md`` §2.18)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.layout import (
    DONE,
    KIND,
    SLOPE,
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
    leave,
    no_room,
    put,
    put_one,
    release,
    room,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import LANES_DISAGREE, NONE
from engine.dataflow.sim.compiled.setup import Setup


@kernel("fork")
def fork(node: Int, table: Int) -> Int:
    """Deal leaves to the lanes in turn; stops go to every lane.

    State: ``s0`` a held token goes to the lanes from ``s1`` up to ``s2``; ``s3`` whose turn.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, outs, count = s.ints[nd.ins], nd.outs, nd.n_out
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if not nd.s0:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k = s.run[r].x & KIND
            leaf = k not in (STOP, DONE)
            first = nd.s3 if leaf else 0
            c = s.ints[outs + first]
            if room(s, c) == 0 and not no_room(s, nd, i, c):
                return leave(nd, t, si, so, WAIT_OUTPUT, c)
            a = max(t, s.run[r].t)
            si += a - t
            t = a
            hold(s, nd, i, r)
            take_one(s, i, t)
            nd.s0, nd.s1, nd.s2 = 1, first, first + 1 if leaf else count
            if leaf:
                nd.s3 = first + 1 if first + 1 < count else 0
        while nd.s1 < nd.s2:
            c = s.ints[outs + nd.s1]
            if room(s, c) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, c)
            a = release(s, nd, c, t)
            so += a - t
            t = a
            nd.s1 += 1
        nd.s0 = 0
        t += 1
        if nd.hk == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)


@inline
def pass_leaves(s: State, nd: Any, i: Int, o: Int, t: Int, limit: Int) -> tuple[Int, Int, Int]:
    """Pass on at most ``limit`` leaves at the head of ``i``, for which ``o`` has room.

    The clock afterwards, and the cycles stalled for the input and for room.
    """
    r = head(s, i)
    p = s.run[r]
    m = min(p.n, room(s, o), limit)
    a = max(t, p.t)
    b = max(a, free_at(s, o))
    x = (p.x & ~SLOPE) | SLOPE
    put(s, o, m, b + 1, b + 1, x, copied(s, o, r, m))
    take(s, i, m, a, b + 1, 1)
    return b + m, a - t, b - a


@kernel("join")
def join(node: Int, table: Int) -> Int:
    """One fiber from each lane in turn; ``s0``: the held token waits for room, ``s1`` turn."""
    s = state_of(table)
    nd = s.nd[node]
    last, o = nd.n_in - 1, s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if not nd.s0:
            i = s.ints[nd.ins + nd.s1]
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k = s.run[r].x & KIND
            swallowed = k == DONE and nd.s1 < last
            if not swallowed and room(s, o) == 0 and not no_room(s, nd, i, o):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            if k != STOP and k != DONE and room(s, o) > 0:
                t, input_stall, output_stall = pass_leaves(s, nd, i, o, t, s.run[r].n)
                si += input_stall
                so += output_stall
                continue
            a = max(t, s.run[r].t)
            si += a - t
            t = a
            hold(s, nd, i, r)
            take_one(s, i, t)
            if k == STOP and nd.s1 < last:
                nd.hv = 0
            if k in (STOP, DONE):
                nd.s1 = nd.s1 + 1 if nd.s1 < last else 0
            if swallowed:
                t += 1
                continue
            nd.s0 = 1
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        a = release(s, nd, o, t)
        so += a - t
        t = a
        nd.s0 = 0
        if nd.hk == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += 1


_GUIDE, _SUBTREE, _HELD, _AHEAD, _STOP, _CLOSE, _CLOSING = range(7)
# Next token of the guide; pass on what it opened; put a held token of that; is the guide's
# fiber at its end?; put a stop between two subtrees; take the stops of all lanes; put theirs.


def _guided_lanes(setup: Setup) -> dict[str, float]:
    lanes = len(setup.node.inputs) - 1
    closed = setup.ints.add(np.zeros(lanes, np.int64))
    return {"p0": lanes, "p1": int(setup.param("levels")), "p2": closed}


@kernel("ordered_join", _guided_lanes)
def ordered_join(node: Int, table: Int) -> Int:
    """From each lane in turn, what one coordinate of the guide opened.

    Parameters: ``p0`` lanes, ``p1`` levels, ``p2`` one number per lane: 1 + the level with
    which it ended the guide's current fiber, or 0.  State: ``s0`` phase, ``s1`` turn, ``s2``
    next lane to close, ``s3``, ``s4`` kind and level of the closing token.
    """
    s = state_of(table)
    nd = s.nd[node]
    g, o, levels = s.ints[nd.ins], s.ints[nd.outs], nd.p1
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.s0 == _GUIDE or nd.s0 == _AHEAD:
            if not has(s, g):
                return leave(nd, t, si, so, WAIT_INPUT, g)
            p = s.run[head(s, g)]
            a = max(t, p.t)
            si += a - t
            t = a
            k, v = p.x & KIND, p.v
            if nd.s0 == _AHEAD and k != STOP:
                nd.s0 = _STOP
            else:
                take_one(s, g, t)
                if k in (STOP, DONE):
                    nd.s3, nd.s4 = k, v + levels if k == STOP else 0
                    nd.s2 = 0
                    nd.s0 = _CLOSE
                elif s.ints[nd.p2 + nd.s1]:
                    return fail(nd, t, LANES_DISAGREE)
                else:
                    nd.s0 = _SUBTREE
        while nd.s0 == _SUBTREE:
            lane = s.ints[nd.ins + 1 + nd.s1]
            if not has(s, lane):
                return leave(nd, t, si, so, WAIT_INPUT, lane)
            r = head(s, lane)
            k, v = s.run[r].x & KIND, s.run[r].v
            a = max(t, s.run[r].t)
            if k == DONE or (levels == 0 and k == STOP):
                return fail(nd, a, LANES_DISAGREE)
            if k == STOP and v >= levels - 1:
                si += a - t
                t = a
                take_one(s, lane, t)
                if v >= levels:
                    s.ints[nd.p2 + nd.s1] = v + 1
                nd.s1 = nd.s1 + 1 if nd.s1 + 1 < nd.p0 else 0
                nd.s0 = _AHEAD
            elif k != STOP and room(s, o) > 0:
                limit = 1 if levels == 0 else s.run[r].n
                t, input_stall, output_stall = pass_leaves(s, nd, lane, o, t, limit)
                si += input_stall
                so += output_stall
                if levels == 0:
                    nd.s1 = nd.s1 + 1 if nd.s1 + 1 < nd.p0 else 0
                    nd.s0 = _GUIDE
            else:
                if room(s, o) == 0 and not no_room(s, nd, lane, o):
                    return leave(nd, t, si, so, WAIT_OUTPUT, o)
                si += a - t
                t = a
                hold(s, nd, lane, r)
                take_one(s, lane, t)
                nd.s0 = _HELD
        if nd.s0 == _CLOSE:
            while nd.s2 < nd.p0:
                closed = s.ints[nd.p2 + nd.s2]
                rule = NONE
                if closed:
                    if nd.s3 != STOP or closed - 1 != nd.s4:
                        rule = LANES_DISAGREE
                else:
                    lane = s.ints[nd.ins + 1 + nd.s2]
                    if not has(s, lane):
                        return leave(nd, t, si, so, WAIT_INPUT, lane)
                    p = s.run[head(s, lane)]
                    a = max(t, p.t)
                    si += a - t
                    t = a
                    k = p.x & KIND
                    if k != nd.s3 or (k == STOP and p.v != nd.s4):
                        rule = LANES_DISAGREE
                    take_one(s, lane, t)
                if rule != NONE:
                    return fail(nd, t, rule)
                s.ints[nd.p2 + nd.s2] = 0
                nd.s2 += 1
            nd.s0 = _CLOSING
        if nd.s0 == _HELD or nd.s0 == _STOP or nd.s0 == _CLOSING:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            if nd.s0 == _HELD:
                a = release(s, nd, o, t)
            else:
                a = max(t, free_at(s, o))
                k = nd.s3 if nd.s0 == _CLOSING else STOP
                put_one(s, o, a + 1, k, nd.s4 if nd.s0 == _CLOSING else levels - 1, zero)
            so += a - t
            t = a
            if nd.s0 == _CLOSING and nd.s3 == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += 1
            if nd.s0 != _HELD:
                nd.s0 = _GUIDE
            elif levels == 0:
                nd.s1 = nd.s1 + 1 if nd.s1 + 1 < nd.p0 else 0
                nd.s0 = _GUIDE
            else:
                nd.s0 = _SUBTREE
