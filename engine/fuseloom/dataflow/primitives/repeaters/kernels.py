"""Repeat signals and repeaters (``docs/spec/machine.md`` §4.1, §4.2)."""

from __future__ import annotations

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_REPSIG = slots(
    holding="s0",  # a token was taken and its signal waits for room
)


@kernel("repsig", _REPSIG)
def repsig(node: Int, table: Int) -> Int:
    """Leaves become R, stops S."""
    s = state_of(table)
    nd = node_of(s, node, _REPSIG)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if nd.holding:
            t, so, status = visits.put_held(s, nd, o, t, si, so, 1)
            if status != visits.GOES_ON:
                return status
            nd.holding = 0
            continue
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        p = s.run[rings.head(s, i)]
        k = p.x & runs.KIND
        signal = k if k == runs.DONE else runs.SIGNAL_STOP if k == runs.STOP else runs.REPEAT
        a = max(t, p.t)
        m = rings.room(s, o)
        if m == 0:
            if not visits.no_room(s, nd, i, o):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            nd.hk, nd.hv, nd.holding = signal, 0, 1
            rings.take_one(s, i, t)
            continue
        m = min(m, p.n)
        t, si, so = visits.begin(s, o, t, a, si, so)
        rings.take(s, i, m, a, t + 1, 1)
        rings.put(s, o, m, t + 1, t + 1, signal | runs.SLOPE, 0)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += m


_ORDER, _AHEAD, _PUT, _LEFT = range(4)
# Next order; the group's stop waits for the next held token; a token waits for room; the end of
# the held stream is to be taken.

_REPEATER = slots(
    ignores_stop="p0",  # as the reference machine: that after the group of an empty token
    ends_early="p1",  # the end of the held stream is left in it
    phase="s0",  # what comes next, one of those above
)


def _repeater(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {
        "ignores_stop": quirks.repeat_ignores_stop_after_empty,
        "ends_early": quirks.ends_with_unread_input,
    }


@kernel("repeat", _REPEATER, _repeater)
def repeat(node: Int, table: Int) -> Int:
    """Put the head of the first stream at each R."""
    s = state_of(table)
    nd = node_of(s, node, _REPEATER)
    i, j, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    is_value = s.ch[i].val
    nd.ht = 0
    while True:
        if nd.phase == _AHEAD:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            p = s.run[rings.head(s, i)]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            nd.hk, nd.hv = runs.STOP, 0
            if p.x & runs.KIND == runs.STOP:
                nd.hv = p.v + 1
                rings.take_one(s, i, t)
            nd.phase = _PUT
        if nd.phase == _PUT:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.release(s, nd, o, t, so)
            nd.phase = _ORDER
            if nd.hk == runs.DONE:
                if nd.ends_early:
                    return visits.leave(nd, t, si, so, waits.NONE, 0)
                nd.phase = _LEFT
            else:
                t += 1
        if nd.phase == _LEFT:
            return visits.finish(s, nd, i, t, si, so)
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        if not rings.has(s, j):
            return visits.leave(nd, t, si, so, waits.INPUT, j)
        r = rings.head(s, i)
        x, v = s.run[r].x, s.run[r].v
        k = x & runs.KIND
        p = s.run[rings.head(s, j)]
        order = p.x & runs.KIND
        a = max(t, s.run[r].t, p.t)
        if order == runs.REPEAT:
            if not rings.is_leaf(k):
                return visits.fail(nd, t, rules.NOTHING_TO_REPEAT)
            m = rings.room(s, o)
            if m == 0:
                if not visits.no_room(s, nd, j, o):
                    return visits.leave(nd, t, si, so, waits.ROOM, o)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                visits.hold(s, nd, i, r)
                rings.take_one(s, j, t)
                nd.phase = _PUT
                continue
            m = min(m, p.n)
            t, si, so = visits.begin(s, o, t, a, si, so)
            z = k | runs.SLOPE
            if k == runs.LEAF:
                if not is_value:
                    v = rings.number(s, r, 0)
                elif x & runs.RING:
                    z |= runs.MEM | runs.RING
                    w = rings.slot(s, o)
                    s.floats[w] = s.floats[v]
                    v = w
                else:
                    z |= runs.MEM
            rings.take(s, j, m, a, t + 1, 1)
            rings.put(s, o, m, t + 1, t + 1, z, v)
            t += m
            continue
        t, si = visits.stall(s, waits.INPUT, t, a, si)
        rings.take_one(s, j, t)
        if order == runs.SIGNAL_STOP:
            rings.take_one(s, i, t)
            nd.hk, nd.hv = runs.STOP, 0
            if k == runs.STOP:
                nd.hv = v + 1
                nd.phase = _PUT
            elif k == runs.EMPTY and nd.ignores_stop:
                nd.phase = _PUT
            else:
                nd.phase = _AHEAD
        else:
            nd.hk, nd.hv = runs.DONE, 0
            nd.phase = _PUT
