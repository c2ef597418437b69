"""Repeat signals and repeaters (``docs/spec/machine.md`` §4.1, §4.2)."""

from __future__ import annotations

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.ending import finish
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    GOES_ON,
    INPUT,
    KIND,
    LEAF,
    MEM,
    REPEAT,
    RING,
    ROOM,
    SIGNAL_STOP,
    SLOPE,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from fuseloom.dataflow.sim.compiled.rings import (
    free_at,
    has,
    head,
    is_leaf,
    number,
    put,
    room,
    slot,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import NOTHING_TO_REPEAT
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import (
    fail,
    hold,
    leave,
    no_room,
    put_held,
    release,
    stall,
    waited,
)

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
            t, so, status = put_held(s, nd, o, t, si, so, 1)
            if status != GOES_ON:
                return status
            nd.holding = 0
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
            t, si = stall(s, INPUT, t, a, si)
            nd.hk, nd.hv, nd.holding = signal, 0, 1
            take_one(s, i, t)
            continue
        m = min(m, p.n)
        si += waited(s, INPUT, t, a)
        t = max(a, free_at(s, o))
        so += waited(s, ROOM, a, t)
        take(s, i, m, a, t + 1, 1)
        put(s, o, m, t + 1, t + 1, signal | SLOPE, 0)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
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
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            p = s.run[head(s, i)]
            t, si = stall(s, INPUT, t, p.t, si)
            nd.hk, nd.hv = STOP, 0
            if p.x & KIND == STOP:
                nd.hv = p.v + 1
                take_one(s, i, t)
            nd.phase = _PUT
        if nd.phase == _PUT:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = release(s, nd, o, t, so)
            nd.phase = _ORDER
            if nd.hk == DONE:
                if nd.ends_early:
                    return leave(nd, t, si, so, WAIT_NONE, 0)
                nd.phase = _LEFT
            else:
                t += 1
        if nd.phase == _LEFT:
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
                si += waited(s, INPUT, t, a)
                t = a
                hold(s, nd, i, r)
                take_one(s, j, t)
                nd.phase = _PUT
                continue
            m = min(m, p.n)
            si += waited(s, INPUT, t, a)
            t = max(a, free_at(s, o))
            so += waited(s, ROOM, a, t)
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
        si += waited(s, INPUT, t, a)
        t = a
        take_one(s, j, t)
        if order == SIGNAL_STOP:
            take_one(s, i, t)
            nd.hk, nd.hv = STOP, 0
            if k == STOP:
                nd.hv = v + 1
                nd.phase = _PUT
            elif k == EMPTY and nd.ignores_stop:
                nd.phase = _PUT
            else:
                nd.phase = _AHEAD
        else:
            nd.hk, nd.hv = DONE, 0
            nd.phase = _PUT
