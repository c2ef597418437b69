"""Replaying whole subtrees (``fusion.md`` §2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.sim.compiled.cache import kernel
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
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    State,
    state_of,
)
from engine.dataflow.sim.compiled.replay_layout import (
    DATA,
    DATA_COUNT,
    DATA_ROOM,
    IS_NUMBER,
    RUN_COUNT,
    RUN_ROOM,
    RUNS,
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
    number,
    put,
    put_one,
    release,
    room,
    slot,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import REPLAY_DISAGREES
from engine.dataflow.sim.compiled.setup import Setup


def _buffer(setup: Setup) -> dict[str, float]:
    stream = setup.node.inputs[0]
    return {
        "p0": int(setup.param("levels")),
        "p1": setup.stores.buffer(setup.node),
        "p2": bool(setup.stores.axes[stream]),
    }


@inline
def _free(s: State, f: Int) -> Int:
    """Leaves for which the buffer has room; 0 if there is none for another run."""
    if s.ints[f + RUN_COUNT] == s.ints[f + RUN_ROOM]:
        return 0
    return s.ints[f + DATA_ROOM] - s.ints[f + DATA_COUNT]


@inline
def _store(s: State, nd: Any, r: Int, m: Int) -> None:
    """Keep the first ``m`` tokens of a run; handles of tiles one by one, so they can be found."""
    f, p = nd.p1, s.run[r]
    x, v = p.x & ~SLOPE, p.v
    if x & KIND == LEAF and (x & RING or nd.p2):
        at = s.ints[f + DATA] + s.ints[f + DATA_COUNT]
        n = m if x & STEP else 1
        for e in range(n):
            if s.ints[f + IS_NUMBER]:
                s.floats[at + e] = s.floats[p.v + e]
            else:
                s.ints[at + e] = number(s, r, e)
        s.ints[f + DATA_COUNT] += n
        x, v = x | MEM | RING, at
    at = s.ints[f + RUNS] + 3 * s.ints[f + RUN_COUNT]
    s.ints[at], s.ints[at + 1], s.ints[at + 2] = m, x, v
    s.ints[f + RUN_COUNT] += 1


@inline
def _put_kept(s: State, nd: Any, o: Int, at: Int, m: Int, t: Int) -> None:
    """Put ``m`` tokens of the run at hand, from token ``s2`` on."""
    x, v = s.ints[at + 1], s.ints[at + 2]
    if x & STEP:
        v += nd.s2
    if x & RING:
        w = slot(s, o)
        for e in range(m if x & STEP else 1):
            if s.ints[nd.p1 + IS_NUMBER]:
                s.floats[w + e] = s.floats[v + e]
            else:
                s.ints[w + e] = s.ints[v + e]
        v = w
    put(s, o, m, t, t, x | SLOPE, v)


_DRIVER, _FIRST, _HELD, _NEXT, _BETWEEN, _AGAIN, _CLOSE, _END = range(8)
# Take the driver's first token; pass the first copy; put a held token of it; take the driver's
# next; put the stop between two copies; put another copy; put the last stop; take the end.


@kernel("replay", _buffer)
def replay(node: Int, table: Int) -> Int:
    """A subtree once per coordinate of the driver.

    State: ``s0`` phase; ``s1``, ``s2`` the next run of the copy and the next token in it; ``s3``
    the fiber has a coordinate; ``s4`` level of the driver's stop; ``s5`` of the stream's.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, g, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so, levels, f = nd.clk, nd.si, nd.so, nd.p0, nd.p1
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.s0 == _DRIVER or nd.s0 == _NEXT:
            if not has(s, g):
                return leave(nd, t, si, so, WAIT_INPUT, g)
            p = s.run[head(s, g)]
            k, v = p.x & KIND, p.v
            a = max(t, p.t)
            si += a - t
            t = a
            take_one(s, g, t)
            if k == DONE and nd.s0 == _NEXT:
                return fail(nd, t, REPLAY_DISAGREES)
            if k == STOP:
                nd.s4 = v
            if nd.s0 == _NEXT:
                nd.s0 = _CLOSE if k == STOP else _BETWEEN
                if k == STOP and nd.s5 != levels - 1 + v:
                    return fail(nd, t, REPLAY_DISAGREES)
            elif k == DONE:
                nd.s0 = _END
            else:
                s.ints[f + DATA_COUNT] = 0
                s.ints[f + RUN_COUNT] = 0
                nd.s3 = k != STOP
                nd.s0 = _FIRST
        while nd.s0 == _FIRST:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            x, v, m = s.run[r].x, s.run[r].v, s.run[r].n
            k = x & KIND
            a = max(t, s.run[r].t)
            if k == DONE:
                return fail(nd, a, REPLAY_DISAGREES)
            if k == STOP and v >= levels - 1:
                si += a - t
                t = a
                take_one(s, i, t)
                nd.s5 = v
                nd.s0 = _NEXT if nd.s3 else _CLOSE
                if not nd.s3 and v != levels - 1 + nd.s4:
                    return fail(nd, t, REPLAY_DISAGREES)
            elif not nd.s3:
                si += a - t
                take(s, i, m, a, a + 1, 1)
                t = a + m
            else:
                if _free(s, f) == 0:
                    return leave(nd, t, si, so, WAIT_DRAIN, i)
                m = min(m, room(s, o))
                if m == 0:
                    if not no_room(s, nd, i, o):
                        return leave(nd, t, si, so, WAIT_OUTPUT, o)
                    _store(s, nd, r, 1)
                    si += a - t
                    t = a
                    hold(s, nd, i, r)
                    take_one(s, i, t)
                    nd.s0 = _HELD
                else:
                    m = min(m, _free(s, f))
                    _store(s, nd, r, m)
                    si += a - t
                    t = max(a, free_at(s, o))
                    so += t - a
                    put(s, o, m, t + 1, t + 1, (x & ~SLOPE) | SLOPE, copied(s, o, r, m))
                    take(s, i, m, a, t + 1, 1)
                    t += m
        if nd.s0 == _HELD:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            t = a + 1
            nd.s0 = _FIRST
        if nd.s0 == _BETWEEN or nd.s0 == _CLOSE:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = max(t, free_at(s, o))
            so += a - t
            t = a
            between = nd.s0 == _BETWEEN
            put_one(s, o, t + 1, STOP, levels - 1 if between else levels + nd.s4, zero)
            t += 1
            nd.s0 = _AGAIN if between else _DRIVER
            nd.s1, nd.s2 = 0, 0
        while nd.s0 == _AGAIN:
            if nd.s1 == s.ints[f + RUN_COUNT]:
                nd.s0 = _NEXT
                break
            at = s.ints[f + RUNS] + 3 * nd.s1
            m = min(room(s, o), s.ints[at] - nd.s2)
            if m == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = max(t, free_at(s, o))
            so += a - t
            t = a
            _put_kept(s, nd, o, at, m, t + 1)
            t += m
            nd.s2 += m
            if nd.s2 == s.ints[at]:
                nd.s1 += 1
                nd.s2 = 0
        if nd.s0 == _END:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            p = s.run[head(s, i)]
            if p.x & KIND != DONE:
                return fail(nd, max(t, p.t), REPLAY_DISAGREES)
            if room(s, o) == 0 and not no_room(s, nd, i, o):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = max(t, p.t)
            si += a - t
            t = a
            hold(s, nd, i, head(s, i))
            take_one(s, i, t)
            nd.s0 = _END + 1
        if nd.s0 > _END:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            return leave(nd, a, si, so, WAIT_NONE, 0)
