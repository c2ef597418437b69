"""Repeating outer coordinates, flattening two levels, shifting one.

Rules: ``docs/spec/machine.md`` §7.
"""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots


@inline
def shifted(s: SimulationState, o: Int, r: Int, m: Int, offset: Int) -> tuple[Int, Int]:
    """Flags and datum for putting the first ``m`` numbers of a run, all plus ``offset``."""
    x = s.run[r].x
    if x & runs.MEM and x & runs.STEP:
        w = rings.slot(s, o)
        for e in range(m):
            s.ints[w + e] = rings.number(s, r, e) + offset
        return runs.LEAF | runs.SLOPE | runs.STEP | runs.MEM | runs.RING, w
    return runs.LEAF | runs.SLOPE | (x & runs.STEP), rings.number(s, r, 0) + offset


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
            t, so, status = visits.put_held(s, nd, o, t, si, so, 1)
            if status != visits.GOES_ON:
                return status
            nd.holding = 0
            continue
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        r = rings.head(s, i)
        p = s.run[r]
        k = p.x & runs.KIND
        a = max(t, p.t)
        m = rings.room(s, o)
        if m == 0:
            if not visits.no_room(s, nd, i, o):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            visits.hold(s, nd, i, r)
            if k == runs.LEAF:
                nd.hv += nd.offset
            rings.take_one(s, i, t)
            nd.holding = 1
            continue
        m = min(m, p.n)
        t, si, so = visits.begin(s, o, t, a, si, so)
        x, w = k | runs.SLOPE, p.v
        if k == runs.LEAF:
            x, w = shifted(s, o, r, m, nd.offset)
        rings.put(s, o, m, t + 1, t + 1, x, w)
        rings.take(s, i, m, a, t + 1, 1)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
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
            if not rings.has(s, u):
                return visits.leave(nd, t, si, so, waits.INPUT, u)
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r, q = rings.head(s, i), rings.head(s, u)
            x = s.run[r].x
            a = max(t, s.run[r].t, s.run[q].t)
            m = min(rings.room(s, o1), rings.room(s, o2))
            if m > 0 and rings.is_leaf(x & runs.KIND) and s.run[q].x & runs.KIND == runs.LEAF:
                m = min(m, s.run[r].n)
                si += visits.waited(s, waits.INPUT, t, a)
                t1 = max(a, rings.free_at(s, o1))
                t = max(t1, rings.free_at(s, o2))
                so += visits.waited(s, waits.ROOM, a, t)
                rings.pass_on(s, o1, r, m, t1 + 1, t + 1)  # x
                rings.put(s, o2, m, t + 1, t + 1, runs.LEAF | runs.SLOPE, rings.number(s, q, 0))
                rings.take(s, i, m, a, t + 1, 1)
                t += m
                continue
            full = o1 if rings.room(s, o1) == 0 else o2
            if m == 0 and not visits.no_room(s, nd, i, full):
                return visits.leave(nd, t, si, so, waits.ROOM, full)
            t, si = visits.take_held(s, nd, i, r, t, a, si)
            nd.phase = _INNER
        if nd.phase == _INNER:
            if rings.room(s, o1) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o1)
            t, so = visits.release(s, nd, o1, t, so)
            nd.phase = _OUTER
            if lags and rings.is_leaf(nd.hk) and s.run[rings.head(s, u)].x & runs.KIND == runs.STOP:
                rings.take_one(s, u, t)
                nd.phase = _AHEAD
        if nd.phase == _AHEAD:
            if not rings.has(s, u):
                return visits.leave(nd, t, si, so, waits.INPUT, u)
            t, si = visits.stall(s, waits.INPUT, t, s.run[rings.head(s, u)].t, si)
            nd.phase = _OUTER
        if nd.phase == _OUTER:
            q = rings.head(s, u)
            inside = s.run[q].x & runs.KIND == runs.LEAF
            if rings.is_leaf(nd.hk) and not inside:
                return visits.fail(nd, t, rules.NO_OUTER)
            if rings.room(s, o2) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o2)
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o2), so)
            nd.phase = _TAKE
            if rings.is_leaf(nd.hk):
                rings.put_one(s, o2, t + 1, runs.LEAF, rings.number(s, q, 0), zero)
            else:
                rings.put_one(s, o2, t + 1, nd.hk, nd.hv, zero)
                if nd.hk == runs.DONE:
                    if nd.ends_early:
                        return visits.leave(nd, t, si, so, waits.NONE, 0)
                    nd.phase = _LEFT
                else:
                    if lags or inside:
                        rings.take_one(s, u, t)
                    if not lags and (nd.hv > 0 or not inside):
                        nd.phase = _CLOSING
            if nd.phase == _TAKE:
                t += 1
        if nd.phase == _CLOSING:
            rule = rules.DROP_DISAGREES
            t, si, status = visits.expect(s, nd, u, runs.STOP, nd.hv - 1, rule, t, si, so)
            if status != visits.GOES_ON:
                return status
            nd.phase = _TAKE
            t += 1
        if nd.phase == _LEFT:
            return visits.finish(s, nd, u, t, si, so)


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
            if not rings.has(s, u):
                return visits.leave(nd, t, si, so, waits.INPUT, u)
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r, q = rings.head(s, i), rings.head(s, u)
            k, v, kq = s.run[r].x & runs.KIND, s.run[r].v, s.run[q].x & runs.KIND
            a = max(t, s.run[r].t, s.run[q].t)
            if rings.is_leaf(k):
                if k != runs.LEAF or kq != runs.LEAF:
                    return visits.fail(nd, a, rules.NO_OUTER)
                base = rings.number(s, q, 0) * factor
                m = rings.room(s, o)
                if m == 0:
                    if not visits.no_room(s, nd, i, o):
                        return visits.leave(nd, t, si, so, waits.ROOM, o)
                    nd.hk, nd.hv = runs.LEAF, base + rings.number(s, r, 0)
                    nd.phase = _OUTER
                    t, si = visits.stall(s, waits.INPUT, t, a, si)
                    rings.take_one(s, i, t)
                else:
                    m = min(m, s.run[r].n)
                    t, si, so = visits.begin(s, o, t, a, si, so)
                    x, w = shifted(s, o, r, m, base)
                    rings.put(s, o, m, t + 1, t + 1, x, w)
                    rings.take(s, i, m, a, t + 1, 1)
                    t += m
                    continue
            else:
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                rings.take_one(s, i, t)
                nd.hk, nd.hv = k, v
                if k == runs.DONE:
                    nd.phase = _OUTER
                elif not loses:
                    if kq == runs.LEAF:
                        rings.take_one(s, u, t)
                    if v > 0 or kq != runs.LEAF:
                        nd.phase = _CLOSING
                    else:
                        t += 1
                elif kq == runs.STOP:
                    nd.hv = s.run[q].v
                    nd.stop_due = 1
                    nd.phase = _OUTER
                else:
                    rings.take_one(s, u, t)
                    t += 1
        if nd.phase == _CLOSING:
            rule = rules.DROP_DISAGREES
            t, si, status = visits.expect(s, nd, u, runs.STOP, nd.hv - 1, rule, t, si, so)
            if status != visits.GOES_ON:
                return status
            nd.hv -= 1
            nd.phase = _OUTER
        if nd.phase == _OUTER:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.release(s, nd, o, t, so)
            nd.phase = _TAKE
            if nd.hk == runs.DONE:
                if nd.ends_early:
                    return visits.leave(nd, t, si, so, waits.NONE, 0)
                nd.phase = _LEFT
            else:
                if nd.stop_due:
                    rings.take_one(s, u, t)
                    nd.stop_due = 0
                t += 1
        if nd.phase == _LEFT:
            return visits.finish(s, nd, u, t, si, so)
