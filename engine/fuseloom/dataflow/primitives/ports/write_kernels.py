"""Write ports of the memory, which gather what writers put."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import asking, rings, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

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

_WRITER = slots(
    size="p0",  # bytes of an item, and of a segment end
    line="p1",  # bytes of a line, which a request writes
    outstanding="p2",  # requests that may be under way
    port="p3",  # number of that of the items
    segment_port="p4",  # of that of the segment ends; -1: there are none
    gathered="s0",  # bytes of items not yet written
    written="s1",  # bytes of items
    requests="s2",  # for items so far
    segments_gathered="s3",  # bytes of segment ends not yet written
    segments_written="s4",  # bytes of segment ends
    segment_requests="s5",  # so far
    records_stop="s6",  # a stop would be recorded as a segment end
    phase="s7",  # what comes next, one of those above
)


def _writer(setup: Setup) -> dict[str, float]:
    size = int(setup.param("size"))
    fibers = len(setup.ports) > 1
    return {
        "size": size,
        "line": setup.machine.access_bytes,
        "outstanding": setup.machine.outstanding,
        "port": setup.ports[0].number,
        "segment_port": setup.ports[1].number if fibers else -1,
        "segments_gathered": size if fibers else 0,
        "records_stop": setup.quirks.writer_records_leading_empty,
    }


@inline
def _post(s: SimulationState, nd: Any, t: Int, segments: Int, last: Int) -> Int:
    """Write what was gathered, whole lines only unless it is the last; the clock, or -1."""
    port = nd.segment_port if segments else nd.port
    gathered = nd.segments_gathered if segments else nd.gathered
    written = nd.segments_written if segments else nd.written
    requests = nd.segment_requests if segments else nd.requests
    size = gathered if last else gathered // nd.line * nd.line
    if size == 0:
        return t
    if requests >= nd.outstanding:
        when = asking.answer(s, port, requests - nd.outstanding)
        if when < 0:
            return -1
        t = asking.stand_still(s, nd, t, when)
    asking.ask(s, port, requests, t, asking.base_of(s, port) + written, size, 1)
    if segments:
        nd.segments_gathered = gathered - size
        nd.segments_written = written + size
        nd.segment_requests = requests + 1
    else:
        nd.gathered = gathered - size
        nd.written = written + size
        nd.requests = requests + 1
    return t


@inline
def _finish(s: SimulationState, nd: Any, t: Int, segments: Int) -> Int:
    """The clock when all requests are answered; -1 as long as that is not known."""
    port = nd.segment_port if segments else nd.port
    requests = nd.segment_requests if segments else nd.requests
    for request in range(max(0, requests - nd.outstanding), requests):
        when = asking.answer(s, port, request)
        if when < 0:
            return -1
        t = max(t, when)
    return t


@kernel("mem_write", _WRITER, _writer)
def mem_write(node: Int, table: Int) -> Int:
    """Pass tokens on and write them."""
    s = state_of(table)
    nd = node_of(s, node, _WRITER)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    fibers = nd.segment_port >= 0
    while True:
        if nd.phase == _FLOW:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            p = s.run[r]
            k = p.x & runs.KIND
            a = max(t, p.t)
            if k == runs.DONE:
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                rings.take_one(s, i, t)
                nd.hk, nd.hv, nd.ht = runs.DONE, 0, 0
                nd.phase = _LAST_LINE
                continue
            m = rings.room(s, o)
            if m == 0:
                if not visits.no_room(s, nd, i, o):
                    return visits.leave(nd, t, si, so, waits.ROOM, o)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                visits.hold(s, nd, i, r)
                nd.ht = 0
                rings.take_one(s, i, t)
                nd.phase = _PUT
                continue
            t, si, so = visits.begin(s, o, t, a, si, so)
            m = min(m, p.n)
            if k == runs.LEAF:
                m = min(m, (nd.line - nd.gathered + nd.size - 1) // nd.size)
            rings.pass_on(s, o, r, m, t + 1, t + 1)  # p.x
            rings.take(s, i, m, a, t + 1, 1)
            nd.hk = k
            t += m - 1
            if k == runs.LEAF:
                nd.gathered += m * nd.size
        elif nd.phase == _PUT:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.release(s, nd, o, t, so)
            if nd.hk == runs.LEAF:
                nd.gathered += nd.size
        if nd.phase <= _PUT:
            nd.phase = _TICK
            if nd.hk == runs.LEAF:
                nd.records_stop = 1
                nd.phase = _FULL_LINE
            elif nd.hk == runs.STOP and fibers and nd.records_stop:
                nd.records_stop = 0
                nd.segments_gathered += nd.size
                nd.phase = _FULL_SEGMENTS
        if nd.phase == _FULL_LINE or nd.phase == _FULL_SEGMENTS:
            a = _post(s, nd, t, nd.phase == _FULL_SEGMENTS, 0)
            if a < 0:
                return visits.leave(nd, t, si, so, waits.MEMORY, 0)
            t = a
            nd.phase = _TICK
        if nd.phase == _TICK:
            t += 1
            nd.phase = _FLOW
            continue
        if nd.phase == _LAST_LINE or nd.phase == _LAST_SEGMENTS:
            if nd.phase == _LAST_LINE or fibers:
                a = _post(s, nd, t, nd.phase == _LAST_SEGMENTS, 1)
                if a < 0:
                    return visits.leave(nd, t, si, so, waits.MEMORY, 0)
                t = a
            nd.phase += 1
            continue
        if nd.phase == _FINISH or nd.phase == _FINISH_SEGMENTS:
            if nd.phase == _FINISH or fibers:
                a = _finish(s, nd, t, nd.phase == _FINISH_SEGMENTS)
                if a < 0:
                    return visits.leave(nd, t, si, so, waits.MEMORY, 0)
                t = asking.stand_still(s, nd, t, a)
            nd.phase += 1
            continue
        if rings.room(s, o) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        t, so = visits.release(s, nd, o, t, so)
        return visits.leave(nd, t, si, so, waits.NONE, 0)
