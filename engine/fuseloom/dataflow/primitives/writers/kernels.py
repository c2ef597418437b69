"""Writers of levels and of values (``docs/spec/machine.md`` §9).

A writer fills a buffer; when it is full the node waits until the engine has emptied it.
"""

from __future__ import annotations

from fuseloom.dataflow.sim.compiled import rings, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

BUFFER = 1 << 15


VALUE_WRITER = slots(
    buffer="p0",  # in the floats
    capacity="p2",  # of the buffer
    held="s0",  # values in it
)
"""The slots of writers of values, which describe their buffer."""

LEVEL_WRITER = slots(
    buffer="p0",  # in the integers, of coordinates
    ends="p1",  # in the integers: the buffer of segment ends
    capacity="p2",  # of each buffer
    held="s0",  # coordinates in the buffer
    ends_held="s1",  # segment ends in theirs
    coordinates="s2",  # in all
    records_stop="s3",  # a stop would be recorded as a segment end
)
"""The slots of writers of levels, which describe their buffers."""


def level_setup(setup: Setup) -> dict[str, float]:
    return {
        "buffer": setup.ints.reserve(BUFFER),
        "ends": setup.ints.reserve(BUFFER),
        "capacity": BUFFER,
        "records_stop": setup.quirks.writer_records_leading_empty,
    }


@kernel("crdwrite", LEVEL_WRITER, level_setup)
def crdwrite(node: Int, table: Int) -> Int:
    """Coordinates and segments."""
    s = state_of(table)
    nd = node_of(s, node, LEVEL_WRITER)
    i, size = s.ints[nd.ins], nd.capacity
    t, si = nd.clk, nd.si
    while rings.has(s, i):
        r = rings.head(s, i)
        p = s.run[r]
        x, v = p.x, p.v
        k = x & runs.KIND
        if k == runs.LEAF:
            m = min(p.n, size - nd.held)
            if m == 0:
                return visits.leave(nd, t, si, 0, waits.DRAIN, i)
            a = max(t, p.t)
            si += visits.waited(s, waits.INPUT, t, a)
            w = nd.buffer + nd.held
            out = view(s.ints, w, m)
            if x & runs.MEM and x & runs.STEP:
                rings.copy(out, view(s.ints, v, m))
            elif x & runs.STEP:
                for e in range(m):
                    out[e] = v + e
            else:
                v = rings.number(s, r, 0)
                for e in range(m):
                    out[e] = v
            rings.take(s, i, m, a, a + 1, 1)
            t = a + m
            nd.held += m
            nd.coordinates += m
            nd.records_stop = 1
        elif k == runs.STOP and nd.records_stop:
            if nd.ends_held == size:
                return visits.leave(nd, t, si, 0, waits.DRAIN, i)
            a = max(t, p.t)
            si += visits.waited(s, waits.INPUT, t, a)
            s.ints[nd.ends + nd.ends_held] = nd.coordinates
            nd.ends_held += 1
            nd.records_stop = 0
            rings.take_one(s, i, a)
            t = a + 1
        else:
            a = rings.pass_by(s, i, t)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            if k == runs.DONE:
                return visits.leave(nd, t, si, 0, waits.NONE, 0)
    return visits.leave(nd, t, si, 0, waits.INPUT, i)


def values_setup(setup: Setup) -> dict[str, float]:
    return {"buffer": setup.floats.reserve(BUFFER), "capacity": BUFFER}


@kernel("valwrite", VALUE_WRITER, values_setup)
def valwrite(node: Int, table: Int) -> Int:
    """Values."""
    s = state_of(table)
    nd = node_of(s, node, VALUE_WRITER)
    i, size = s.ints[nd.ins], nd.capacity
    t, si = nd.clk, nd.si
    while rings.has(s, i):
        p = s.run[rings.head(s, i)]
        x, v = p.x, p.v
        if x & runs.KIND == runs.LEAF:
            m = min(p.n, size - nd.held)
            if m == 0:
                return visits.leave(nd, t, si, 0, waits.DRAIN, i)
            a = max(t, p.t)
            si += visits.waited(s, waits.INPUT, t, a)
            w = nd.buffer + nd.held
            out = view(s.floats, w, m)
            if x & runs.STEP:
                rings.copy(out, view(s.floats, v, m))
            else:
                f = s.floats[v]
                for e in range(m):
                    out[e] = f
            rings.take(s, i, m, a, a + 1, 1)
            t = a + m
            nd.held += m
        else:
            a = rings.pass_by(s, i, t)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            if x & runs.KIND == runs.DONE:
                return visits.leave(nd, t + 1, si, 0, waits.NONE, 0)
    return visits.leave(nd, t, si, 0, waits.INPUT, i)
