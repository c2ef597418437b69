"""Copying a stream to several readers (``docs/spec/machine.md`` §8.1)."""

from __future__ import annotations

from fuseloom.dataflow.sim.compiled import layout, rings, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_BROADCAST = slots(
    holding="s0",  # a token was taken and waits for room
)


@kernel("broadcast", _BROADCAST)
def broadcast(node: Int, table: Int) -> Int:
    """Each token to all outputs at once.

    The node works off tokens without a cycle of its own, so a run leaves with the slope of
    whichever is late: the input or the slots.
    """
    s = state_of(table)
    nd = node_of(s, node, _BROADCAST)
    i, outs, n = s.ints[nd.ins], nd.outs, nd.n_out
    t, si, so = nd.clk, nd.si, nd.so
    bounded = False
    for k in range(n):
        bounded |= s.ch[s.ints[outs + k]].cap > 0
    while True:
        if not nd.holding and not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        m, full = layout.FOREVER, 0
        for k in range(n):
            c = s.ints[outs + k]
            free = rings.room(s, c)
            if free == 0 and m > 0:
                full = c
            m = min(m, free)
        if nd.holding:
            if m == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, full)
            a = t
            for k in range(n):
                t = max(t, rings.free_at(s, s.ints[outs + k]))
            so += visits.waited(s, waits.ROOM, a, t)
            for k in range(n):
                rings.put_one(s, s.ints[outs + k], t + 1, nd.hk, nd.hv, nd.hf)
            nd.holding = 0
            if nd.hk == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            continue
        r = rings.head(s, i)
        p = s.run[r]
        x, first = p.x, p.t
        a = max(t, first)
        si += visits.waited(s, waits.INPUT, t, a)
        if m == 0:
            t = a
            if not (nd.eager or rings.starved(s, i)) or not rings.starved(s, full):
                return visits.leave(nd, t, si, so, waits.ROOM, full)
            visits.hold(s, nd, i, r)
            rings.take_one(s, i, t)
            nd.holding = 1
            continue
        t = a
        if bounded:
            for k in range(n):
                t = max(t, rings.free_at(s, s.ints[outs + k]))
            so += visits.waited(s, waits.ROOM, a, t)
        m = min(m, p.n)
        slope = 0
        again = t  # clock at which the second token is taken
        if m > 1:
            late = x & runs.SLOPE and first == t
            if x & runs.SLOPE and first < t:
                m = min(m, t - first + 1)
            if bounded:
                for k in range(n):
                    c = s.ints[outs + k]
                    m = rings.even(s, c, t, m)
                    if rings.rising(s, c, t):
                        slope = 1
            if m > 1:
                if late:
                    si += visits.waited(s, waits.INPUT, t, t + m - 1)
                    again = t + 1
                    slope = 1
                elif slope:
                    so += visits.waited(s, waits.ROOM, t, t + m - 1)
        z = (x & ~runs.SLOPE) | (runs.SLOPE if slope else 0)
        for k in range(n):
            c = s.ints[outs + k]
            rings.put(s, c, m, t + 1, t + 1, z, rings.copied(s, c, r, m))
        rings.take(s, i, m, a, again, slope)
        t += slope * (m - 1)
        if x & runs.KIND == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
