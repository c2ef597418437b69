"""Replaying whole subtrees (``fusion.md`` §2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
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
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    SimulationState,
    state_of,
)
from fuseloom.dataflow.sim.compiled.replay_layout import (
    DATA,
    DATA_COUNT,
    DATA_ROOM,
    IS_NUMBER,
    RUN_COUNT,
    RUN_ROOM,
    RUNS,
)
from fuseloom.dataflow.sim.compiled.rings import (
    copied,
    free_at,
    has,
    head,
    number,
    put,
    put_one,
    room,
    slot,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import REPLAY_DISAGREES
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import fail, hold, leave, no_room, release, stall, waited

_DRIVER, _FIRST, _HELD, _NEXT, _BETWEEN, _AGAIN, _CLOSE, _END = range(8)
# Take the driver's first token; pass the first copy; put a held token of it; take the driver's
# next; put the stop between two copies; put another copy; put the last stop; take the end.

_REPLAYER = slots(
    levels="p0",  # of a subtree
    buffer="p1",  # in the integers: where the buffer of the subtree is described
    tiled="p2",  # leaves are tiles
    phase="s0",  # what comes next, one of those above
    run="s1",  # of the buffer, next to be put
    token="s2",  # of that run, next to be put
    nonempty="s3",  # the driver's fiber has a coordinate
    driver_level="s4",  # of the driver's stop
    stream_level="s5",  # of the stream's
)


def _buffer(setup: Setup) -> dict[str, float]:
    stream = setup.node.inputs[0]
    return {
        "levels": int(setup.param("levels")),
        "buffer": setup.stores.buffer(setup.node),
        "tiled": bool(setup.stores.axes[stream]),
    }


@inline
def _free(s: SimulationState, f: Int) -> Int:
    """Leaves for which the buffer has room; 0 if there is none for another run."""
    if s.ints[f + RUN_COUNT] == s.ints[f + RUN_ROOM]:
        return 0
    return s.ints[f + DATA_ROOM] - s.ints[f + DATA_COUNT]


@inline
def _store(s: SimulationState, nd: Any, r: Int, m: Int) -> None:
    """Keep the first ``m`` tokens of a run; handles of tiles one by one, so they can be found."""
    f, p = nd.buffer, s.run[r]
    x, v = p.x & ~SLOPE, p.v
    if x & KIND == LEAF and (x & RING or nd.tiled):
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
def _put_kept(s: SimulationState, nd: Any, o: Int, at: Int, m: Int, t: Int) -> None:
    """Put ``m`` tokens of the run at hand, from ``token`` on."""
    x, v = s.ints[at + 1], s.ints[at + 2]
    if x & STEP:
        v += nd.token
    if x & RING:
        w = slot(s, o)
        for e in range(m if x & STEP else 1):
            if s.ints[nd.buffer + IS_NUMBER]:
                s.floats[w + e] = s.floats[v + e]
            else:
                s.ints[w + e] = s.ints[v + e]
        v = w
    put(s, o, m, t, t, x | SLOPE, v)


@kernel("replay", _REPLAYER, _buffer)
def replay(node: Int, table: Int) -> Int:
    """A subtree once per coordinate of the driver."""
    s = state_of(table)
    nd = node_of(s, node, _REPLAYER)
    i, g, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so, levels, f = nd.clk, nd.si, nd.so, nd.levels, nd.buffer
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.phase == _DRIVER or nd.phase == _NEXT:
            if not has(s, g):
                return leave(nd, t, si, so, WAIT_INPUT, g)
            p = s.run[head(s, g)]
            k, v = p.x & KIND, p.v
            t, si = stall(s, INPUT, t, p.t, si)
            take_one(s, g, t)
            if k == DONE and nd.phase == _NEXT:
                return fail(nd, t, REPLAY_DISAGREES)
            if k == STOP:
                nd.driver_level = v
            if nd.phase == _NEXT:
                nd.phase = _CLOSE if k == STOP else _BETWEEN
                if k == STOP and nd.stream_level != levels - 1 + v:
                    return fail(nd, t, REPLAY_DISAGREES)
            elif k == DONE:
                nd.phase = _END
            else:
                s.ints[f + DATA_COUNT] = 0
                s.ints[f + RUN_COUNT] = 0
                nd.nonempty = k != STOP
                nd.phase = _FIRST
        while nd.phase == _FIRST:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            x, v, m = s.run[r].x, s.run[r].v, s.run[r].n
            k = x & KIND
            a = max(t, s.run[r].t)
            if k == DONE:
                return fail(nd, a, REPLAY_DISAGREES)
            if k == STOP and v >= levels - 1:
                si += waited(s, INPUT, t, a)
                t = a
                take_one(s, i, t)
                nd.stream_level = v
                nd.phase = _NEXT if nd.nonempty else _CLOSE
                if not nd.nonempty and v != levels - 1 + nd.driver_level:
                    return fail(nd, t, REPLAY_DISAGREES)
            elif not nd.nonempty:
                si += waited(s, INPUT, t, a)
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
                    si += waited(s, INPUT, t, a)
                    t = a
                    hold(s, nd, i, r)
                    take_one(s, i, t)
                    nd.phase = _HELD
                else:
                    m = min(m, _free(s, f))
                    _store(s, nd, r, m)
                    si += waited(s, INPUT, t, a)
                    t = max(a, free_at(s, o))
                    so += waited(s, ROOM, a, t)
                    put(s, o, m, t + 1, t + 1, (x & ~SLOPE) | SLOPE, copied(s, o, r, m))
                    take(s, i, m, a, t + 1, 1)
                    t += m
        if nd.phase == _HELD:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = release(s, nd, o, t, so)
            t += 1
            nd.phase = _FIRST
        if nd.phase == _BETWEEN or nd.phase == _CLOSE:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = stall(s, ROOM, t, free_at(s, o), so)
            between = nd.phase == _BETWEEN
            put_one(s, o, t + 1, STOP, levels - 1 if between else levels + nd.driver_level, zero)
            t += 1
            nd.phase = _AGAIN if between else _DRIVER
            nd.run, nd.token = 0, 0
        while nd.phase == _AGAIN:
            if nd.run == s.ints[f + RUN_COUNT]:
                nd.phase = _NEXT
                break
            at = s.ints[f + RUNS] + 3 * nd.run
            m = min(room(s, o), s.ints[at] - nd.token)
            if m == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = stall(s, ROOM, t, free_at(s, o), so)
            _put_kept(s, nd, o, at, m, t + 1)
            t += m
            nd.token += m
            if nd.token == s.ints[at]:
                nd.run += 1
                nd.token = 0
        if nd.phase == _END:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            p = s.run[head(s, i)]
            if p.x & KIND != DONE:
                return fail(nd, max(t, p.t), REPLAY_DISAGREES)
            if room(s, o) == 0 and not no_room(s, nd, i, o):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, si = stall(s, INPUT, t, p.t, si)
            hold(s, nd, i, head(s, i))
            take_one(s, i, t)
            nd.phase = _END + 1
        if nd.phase > _END:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = release(s, nd, o, t, so)
            return leave(nd, t, si, so, WAIT_NONE, 0)
