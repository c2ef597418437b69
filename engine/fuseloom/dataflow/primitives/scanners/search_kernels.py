"""Look-ups into compressed levels (:mod:`fuseloom.dataflow.primitives.scanners.golden`)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.machine.timing import search_timing
from fuseloom.dataflow.primitives.scanners.kernels import FIBERS, fibers_setup
from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of

_REF, _COORDINATE, _CLOSING, _PUT, _PUT_REF = range(5)
# Take a reference; a coordinate given for it; the stop that ends the references; put what is held
# as a coordinate, and as a reference.

_SEARCHER = FIBERS.also(
    latency="p3",  # cycles until a position shows
    interval="p4",  # clocks from coordinate to coordinate
    phase="s0",  # what comes next, one of those above
    begin="s1",  # of the fiber,
    end="s2",  # and where it ends
    kind="s3",  # of the reference taken,
    level="s4",  # and of a stop its level
    found="s5",  # position of the coordinate held
)


def _setup(setup: Setup) -> dict[str, float]:
    timing = search_timing(setup.machine)
    return {
        **fibers_setup(setup),
        "latency": timing.latency,
        "interval": timing.interval,
    }


@inline
def _position(s: SimulationState, crd: Int, begin: Int, end: Int, wanted: Int) -> Int:
    """Return the position at which a fiber stores a coordinate; -1 if it does not."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if s.ints[crd + middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and s.ints[crd + low] == wanted else -1


@kernel("search", _SEARCHER, _setup)
def search(node: Int, table: Int) -> Int:
    """Of the coordinates given for each reference, those that are stored, and their positions."""
    s = state_of(table)
    nd = node_of(s, node, _SEARCHER)
    i, j, o1, o2 = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.phase == _REF:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            t, si = visits.stall(s, waits.INPUT, t, s.run[r].t, si)
            nd.kind, nd.level = s.run[r].x & runs.KIND, s.run[r].v
            nd.begin, nd.end = 0, 0
            if nd.kind == runs.LEAF:
                ref = rings.number(s, r, 0)
                if ref < 0 or ref >= nd.size:
                    return visits.fail(nd, t, rules.BAD_FIBER)
                nd.begin, nd.end = s.ints[nd.seg + ref], s.ints[nd.seg + ref + 1]
            rings.take_one(s, i, t)
            nd.phase = _COORDINATE
        if nd.phase == _COORDINATE:
            if not rings.has(s, j):
                return visits.leave(nd, t, si, so, waits.INPUT, j)
            r = rings.head(s, j)
            t, si = visits.stall(s, waits.INPUT, t, s.run[r].t, si)
            nd.hk = s.run[r].x & runs.KIND
            nd.hv = rings.number(s, r, 0) if nd.hk == runs.LEAF else s.run[r].v
            nd.ht = 0
            rings.take_one(s, j, t)
            if nd.kind == runs.LEAF or nd.kind == runs.EMPTY:
                if nd.hk == runs.LEAF:
                    nd.found = _position(s, nd.crd, nd.begin, nd.end, nd.hv)
                    if nd.found < 0:
                        t += nd.interval
                        continue
                    nd.ht = t + nd.latency
                    nd.phase = _PUT
                elif nd.hk == runs.STOP and nd.hv == 0:
                    nd.phase = _PUT
                else:
                    nd.phase = _CLOSING
            elif nd.kind == runs.STOP:
                if nd.hk != runs.STOP or nd.hv != nd.level + 1:
                    return visits.fail(nd, t, rules.SEARCH_DISAGREES)
                nd.phase = _PUT
            elif nd.hk != runs.DONE:
                return visits.fail(nd, t, rules.SEARCH_DISAGREES)
            else:
                nd.phase = _PUT
        if nd.phase == _CLOSING:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            q = s.run[rings.head(s, i)]
            t, si = visits.stall(s, waits.INPUT, t, q.t, si)
            if q.x & runs.KIND != runs.STOP or nd.hk != runs.STOP or nd.hv != q.v + 1:
                return visits.fail(nd, t, rules.SEARCH_DISAGREES)
            rings.take_one(s, i, t)
            nd.phase = _PUT
        if nd.phase == _PUT:
            if rings.room(s, o1) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o1)
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o1), so)
            rings.put_one(s, o1, max(nd.ht, t + 1), nd.hk, nd.hv, zero)
            nd.phase = _PUT_REF
        if nd.phase == _PUT_REF:
            if rings.room(s, o2) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o2)
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o2), so)
            if nd.hk == runs.DONE:
                rings.put_one(s, o2, t + 1, runs.DONE, 0, zero)
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            held = nd.found if nd.hk == runs.LEAF else nd.hv
            rings.put_one(s, o2, max(nd.ht, t + 1), nd.hk, held, zero)
            t += nd.interval
            nd.phase = _COORDINATE if nd.hk == runs.LEAF else _REF
