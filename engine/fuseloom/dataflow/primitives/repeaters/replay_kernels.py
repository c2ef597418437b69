"""Replaying whole subtrees (``docs/spec/machine.md`` §4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import replay_layout, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

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
    if s.ints[f + replay_layout.RUN_COUNT] == s.ints[f + replay_layout.RUN_ROOM]:
        return 0
    return s.ints[f + replay_layout.DATA_ROOM] - s.ints[f + replay_layout.DATA_COUNT]


@inline
def _store(s: SimulationState, nd: Any, r: Int, m: Int) -> None:
    """Keep the first ``m`` tokens of a run; handles of tiles one by one, so they can be found."""
    f, p = nd.buffer, s.run[r]
    x, v = p.x & ~runs.SLOPE, p.v
    if x & runs.KIND == runs.LEAF and (x & runs.RING or nd.tiled):
        at = s.ints[f + replay_layout.DATA] + s.ints[f + replay_layout.DATA_COUNT]
        n = m if x & runs.STEP else 1
        for e in range(n):
            if s.ints[f + replay_layout.IS_NUMBER]:
                s.floats[at + e] = s.floats[p.v + e]
            else:
                s.ints[at + e] = rings.number(s, r, e)
        s.ints[f + replay_layout.DATA_COUNT] += n
        x, v = x | runs.MEM | runs.RING, at
    at = s.ints[f + replay_layout.RUNS] + 3 * s.ints[f + replay_layout.RUN_COUNT]
    s.ints[at], s.ints[at + 1], s.ints[at + 2] = m, x, v
    s.ints[f + replay_layout.RUN_COUNT] += 1


@inline
def _put_kept(s: SimulationState, nd: Any, o: Int, at: Int, m: Int, t: Int) -> None:
    """Put ``m`` tokens of the run at hand, from ``token`` on."""
    x, v = s.ints[at + 1], s.ints[at + 2]
    if x & runs.STEP:
        v += nd.token
    if x & runs.RING:
        w = rings.slot(s, o)
        for e in range(m if x & runs.STEP else 1):
            if s.ints[nd.buffer + replay_layout.IS_NUMBER]:
                s.floats[w + e] = s.floats[v + e]
            else:
                s.ints[w + e] = s.ints[v + e]
        v = w
    rings.put(s, o, m, t, t, x | runs.SLOPE, v)


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
            if not rings.has(s, g):
                return visits.leave(nd, t, si, so, waits.INPUT, g)
            p = s.run[rings.head(s, g)]
            k, v = p.x & runs.KIND, p.v
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            rings.take_one(s, g, t)
            if k == runs.DONE and nd.phase == _NEXT:
                return visits.fail(nd, t, rules.REPLAY_DISAGREES)
            if k == runs.STOP:
                nd.driver_level = v
            if nd.phase == _NEXT:
                nd.phase = _CLOSE if k == runs.STOP else _BETWEEN
                if k == runs.STOP and nd.stream_level != levels - 1 + v:
                    return visits.fail(nd, t, rules.REPLAY_DISAGREES)
            elif k == runs.DONE:
                nd.phase = _END
            else:
                s.ints[f + replay_layout.DATA_COUNT] = 0
                s.ints[f + replay_layout.RUN_COUNT] = 0
                nd.nonempty = k != runs.STOP
                nd.phase = _FIRST
        while nd.phase == _FIRST:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            x, v, m = s.run[r].x, s.run[r].v, s.run[r].n
            k = x & runs.KIND
            a = max(t, s.run[r].t)
            if k == runs.DONE:
                return visits.fail(nd, a, rules.REPLAY_DISAGREES)
            if k == runs.STOP and v >= levels - 1:
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                rings.take_one(s, i, t)
                nd.stream_level = v
                nd.phase = _NEXT if nd.nonempty else _CLOSE
                if not nd.nonempty and v != levels - 1 + nd.driver_level:
                    return visits.fail(nd, t, rules.REPLAY_DISAGREES)
            elif not nd.nonempty:
                si += visits.waited(s, waits.INPUT, t, a)
                rings.take(s, i, m, a, a + 1, 1)
                t = a + m
            else:
                if _free(s, f) == 0:
                    return visits.leave(nd, t, si, so, waits.DRAIN, i)
                m = min(m, rings.room(s, o))
                if m == 0:
                    if not visits.no_room(s, nd, i, o):
                        return visits.leave(nd, t, si, so, waits.ROOM, o)
                    _store(s, nd, r, 1)
                    t, si = visits.take_held(s, nd, i, r, t, a, si)
                    nd.phase = _HELD
                else:
                    m = min(m, _free(s, f))
                    _store(s, nd, r, m)
                    t, si, so = visits.begin(s, o, t, a, si, so)
                    rings.pass_on(s, o, r, m, t + 1, t + 1)  # x
                    rings.take(s, i, m, a, t + 1, 1)
                    t += m
        if nd.phase == _HELD:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.release(s, nd, o, t, so)
            t += 1
            nd.phase = _FIRST
        if nd.phase == _BETWEEN or nd.phase == _CLOSE:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o), so)
            between = nd.phase == _BETWEEN
            rings.put_one(
                s, o, t + 1, runs.STOP, levels - 1 if between else levels + nd.driver_level, zero
            )
            t += 1
            nd.phase = _AGAIN if between else _DRIVER
            nd.run, nd.token = 0, 0
        while nd.phase == _AGAIN:
            if nd.run == s.ints[f + replay_layout.RUN_COUNT]:
                nd.phase = _NEXT
                break
            at = s.ints[f + replay_layout.RUNS] + 3 * nd.run
            m = min(rings.room(s, o), s.ints[at] - nd.token)
            if m == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o), so)
            _put_kept(s, nd, o, at, m, t + 1)
            t += m
            nd.token += m
            if nd.token == s.ints[at]:
                nd.run += 1
                nd.token = 0
        if nd.phase == _END:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            p = s.run[rings.head(s, i)]
            if p.x & runs.KIND != runs.DONE:
                return visits.fail(nd, max(t, p.t), rules.REPLAY_DISAGREES)
            if rings.room(s, o) == 0 and not visits.no_room(s, nd, i, o):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            visits.hold(s, nd, i, rings.head(s, i))
            rings.take_one(s, i, t)
            nd.phase = _END + 1
        if nd.phase > _END:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.release(s, nd, o, t, so)
            return visits.leave(nd, t, si, so, waits.NONE, 0)
