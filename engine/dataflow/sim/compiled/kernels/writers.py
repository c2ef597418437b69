"""Writers of levels and of values (``samml.md`` §2.20, §2.21).

A writer fills a buffer; when it is full the node waits until the engine has emptied it.
"""

from __future__ import annotations

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.layout import (
    DONE,
    KIND,
    LEAF,
    MEM,
    STEP,
    STOP,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    Int,
    state_of,
    view,
)
from engine.dataflow.sim.compiled.rings import (
    copy,
    has,
    head,
    leave,
    number,
    pass_by,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.setup import Setup

BUFFER = 1 << 15


def level_setup(setup: Setup) -> dict[str, float]:
    return {
        "p0": setup.ints.reserve(BUFFER),
        "p1": setup.ints.reserve(BUFFER),
        "p2": BUFFER,
        "s3": setup.quirks.writer_records_leading_empty,
    }


@kernel("crdwrite", level_setup)
def crdwrite(node: Int, table: Int) -> Int:
    """Coordinates and segments.

    State: ``s0``, ``s1`` coordinates and segment ends in the buffers ``p0``, ``p1``; ``s2``
    coordinates in all; ``s3`` whether a stop would be recorded.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, size = s.ints[nd.ins], nd.p2
    t, si = nd.clk, nd.si
    while has(s, i):
        r = head(s, i)
        p = s.run[r]
        x, v = p.x, p.v
        k = x & KIND
        if k == LEAF:
            m = min(p.n, size - nd.s0)
            if m == 0:
                return leave(nd, t, si, 0, WAIT_DRAIN, i)
            a = max(t, p.t)
            si += a - t
            w = nd.p0 + nd.s0
            out = view(s.ints, w, m)
            if x & MEM and x & STEP:
                copy(out, view(s.ints, v, m))
            elif x & STEP:
                for e in range(m):
                    out[e] = v + e
            else:
                v = number(s, r, 0)
                for e in range(m):
                    out[e] = v
            take(s, i, m, a, a + 1, 1)
            t = a + m
            nd.s0 += m
            nd.s2 += m
            nd.s3 = 1
        elif k == STOP and nd.s3:
            if nd.s1 == size:
                return leave(nd, t, si, 0, WAIT_DRAIN, i)
            a = max(t, p.t)
            si += a - t
            s.ints[nd.p1 + nd.s1] = nd.s2
            nd.s1 += 1
            nd.s3 = 0
            take_one(s, i, a)
            t = a + 1
        else:
            a = pass_by(s, i, t)
            si += a - t
            t = a
            if k == DONE:
                return leave(nd, t, si, 0, WAIT_NONE, 0)
    return leave(nd, t, si, 0, WAIT_INPUT, i)


def values_setup(setup: Setup) -> dict[str, float]:
    return {"p0": setup.floats.reserve(BUFFER), "p2": BUFFER}


@kernel("valwrite", values_setup)
def valwrite(node: Int, table: Int) -> Int:
    """Values; ``s0`` of them are in the buffer ``p0``."""
    s = state_of(table)
    nd = s.nd[node]
    i, size = s.ints[nd.ins], nd.p2
    t, si = nd.clk, nd.si
    while has(s, i):
        p = s.run[head(s, i)]
        x, v = p.x, p.v
        if x & KIND == LEAF:
            m = min(p.n, size - nd.s0)
            if m == 0:
                return leave(nd, t, si, 0, WAIT_DRAIN, i)
            a = max(t, p.t)
            si += a - t
            w = nd.p0 + nd.s0
            out = view(s.floats, w, m)
            if x & STEP:
                copy(out, view(s.floats, v, m))
            else:
                f = s.floats[v]
                for e in range(m):
                    out[e] = f
            take(s, i, m, a, a + 1, 1)
            t = a + m
            nd.s0 += m
        else:
            a = pass_by(s, i, t)
            si += a - t
            t = a
            if x & KIND == DONE:
                return leave(nd, t + 1, si, 0, WAIT_NONE, 0)
    return leave(nd, t, si, 0, WAIT_INPUT, i)
