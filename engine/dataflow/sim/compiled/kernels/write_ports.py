"""Write ports of the memory: what a writer gathers goes behind (twins: ``twins/ports.py``)."""

from __future__ import annotations

from typing import Any

from engine.dataflow.sim.compiled.asking import answer, ask, base_of, stand_still
from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.layout import (
    DONE,
    KIND,
    LEAF,
    SLOPE,
    STOP,
    WAIT_INPUT,
    WAIT_MEMORY,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    State,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
    copied,
    free_at,
    has,
    head,
    hold,
    leave,
    no_room,
    put,
    release,
    room,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.setup import Setup

(
    _FLOW,
    _PUT,
    _FULL_LINE,
    _FULL_SEGMENTS,
    _TICK,
    _LAST_LINE,
    _LAST_SEGMENTS,
    _FINISH,
    _FINISH_SEGMENTS,
    _END,
) = range(10)


def _writer(setup: Setup) -> dict[str, float]:
    size = int(setup.param("size"))
    fibers = len(setup.ports) > 1
    return {
        "p0": size,
        "p1": setup.machine.access_bytes,
        "p2": setup.machine.outstanding,
        "p3": setup.ports[0].number,
        "p4": setup.ports[1].number if fibers else -1,
        "s3": size if fibers else 0,
        "s6": setup.quirks.writer_records_leading_empty,
    }


@inline
def _post(s: State, nd: Any, t: Int, segments: Int, last: Int) -> Int:
    """Write what was gathered, whole lines only unless it is the last; the clock, or -1."""
    port = nd.p4 if segments else nd.p3
    gathered = nd.s3 if segments else nd.s0
    written = nd.s4 if segments else nd.s1
    requests = nd.s5 if segments else nd.s2
    size = gathered if last else gathered // nd.p1 * nd.p1
    if size == 0:
        return t
    if requests >= nd.p2:
        when = answer(s, port, requests - nd.p2)
        if when < 0:
            return -1
        t = stand_still(nd, t, when)
    ask(s, port, requests, t, base_of(s, port) + written, size, 1)
    if segments:
        nd.s3, nd.s4, nd.s5 = gathered - size, written + size, requests + 1
    else:
        nd.s0, nd.s1, nd.s2 = gathered - size, written + size, requests + 1
    return t


@inline
def _finish(s: State, nd: Any, t: Int, segments: Int) -> Int:
    """The clock when all requests are answered; -1 as long as that is not known."""
    port = nd.p4 if segments else nd.p3
    requests = nd.s5 if segments else nd.s2
    for request in range(max(0, requests - nd.p2), requests):
        when = answer(s, port, request)
        if when < 0:
            return -1
        t = max(t, when)
    return t


@kernel("mem_write", _writer)
def mem_write(node: Int, table: Int) -> Int:
    """Pass tokens on and write them.

    State: ``s0`` to ``s2`` bytes gathered, bytes written and requests of the items, ``s3`` to
    ``s5`` of the segments; ``s6`` whether a stop would be recorded; ``s7`` phase.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    fibers = nd.p4 >= 0
    while True:
        if nd.s7 == _FLOW:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            k = p.x & KIND
            a = max(t, p.t)
            if k == DONE:
                si += a - t
                t = a
                take_one(s, i, t)
                nd.hk, nd.hv, nd.ht = DONE, 0, 0
                nd.s7 = _LAST_LINE
                continue
            m = room(s, o)
            if m == 0:
                if not no_room(s, nd, i, o):
                    return leave(nd, t, si, so, WAIT_OUTPUT, o)
                si += a - t
                t = a
                hold(s, nd, i, r)
                nd.ht = 0
                take_one(s, i, t)
                nd.s7 = _PUT
                continue
            si += a - t
            t = max(a, free_at(s, o))
            so += t - a
            m = min(m, p.n)
            if k == LEAF:
                m = min(m, (nd.p1 - nd.s0 + nd.p0 - 1) // nd.p0)
            put(s, o, m, t + 1, t + 1, p.x | SLOPE, copied(s, o, r, m))
            take(s, i, m, a, t + 1, 1)
            nd.hk = k
            t += m - 1
            if k == LEAF:
                nd.s0 += m * nd.p0
        elif nd.s7 == _PUT:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            t = a
            if nd.hk == LEAF:
                nd.s0 += nd.p0
        if nd.s7 <= _PUT:
            nd.s7 = _TICK
            if nd.hk == LEAF:
                nd.s6 = 1
                nd.s7 = _FULL_LINE
            elif nd.hk == STOP and fibers and nd.s6:
                nd.s6 = 0
                nd.s3 += nd.p0
                nd.s7 = _FULL_SEGMENTS
        if nd.s7 == _FULL_LINE or nd.s7 == _FULL_SEGMENTS:
            a = _post(s, nd, t, nd.s7 == _FULL_SEGMENTS, 0)
            if a < 0:
                return leave(nd, t, si, so, WAIT_MEMORY, 0)
            t = a
            nd.s7 = _TICK
        if nd.s7 == _TICK:
            t += 1
            nd.s7 = _FLOW
            continue
        if nd.s7 == _LAST_LINE or nd.s7 == _LAST_SEGMENTS:
            if nd.s7 == _LAST_LINE or fibers:
                a = _post(s, nd, t, nd.s7 == _LAST_SEGMENTS, 1)
                if a < 0:
                    return leave(nd, t, si, so, WAIT_MEMORY, 0)
                t = a
            nd.s7 += 1
            continue
        if nd.s7 == _FINISH or nd.s7 == _FINISH_SEGMENTS:
            if nd.s7 == _FINISH or fibers:
                a = _finish(s, nd, t, nd.s7 == _FINISH_SEGMENTS)
                if a < 0:
                    return leave(nd, t, si, so, WAIT_MEMORY, 0)
                t = stand_still(nd, t, a)
            nd.s7 += 1
            continue
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        a = release(s, nd, o, t)
        so += a - t
        return leave(nd, a, si, so, WAIT_NONE, 0)
