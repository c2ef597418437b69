"""Where streams begin and, on a test bench, end (``samml.md`` §2.1, §10)."""

from __future__ import annotations

import numpy as np

from engine.dataflow.samml.graph import StreamKind
from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.layout import (
    DONE,
    KIND,
    LEAF,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
    free_at,
    has,
    head,
    leave,
    put_one,
    room,
    take,
)
from engine.dataflow.sim.compiled.setup import Setup


@kernel("root")
def root(node: Int, table: Int) -> Int:
    """The reference 0 and the end; ``s0``: tokens put."""
    s = state_of(table)
    nd = s.nd[node]
    o = s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    while nd.s0 < 2:
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        a = max(t, free_at(s, o))
        so += a - t
        put_one(s, o, a + 1, LEAF if nd.s0 == 0 else DONE, 0, np.float32(0))
        t = a + 1
        nd.s0 += 1
    return leave(nd, t, si, so, WAIT_NONE, 0)


def _given_tokens(setup: Setup) -> dict[str, float]:
    tokens = setup.array("tokens")
    values = tokens["value"]
    is_value = StreamKind(setup.param("kind", "crd")) is StreamKind.VAL
    timed = "times" in setup.arrays
    return {
        "p0": setup.ints.add(tokens["code"]),
        "p1": setup.ints.add(np.where(np.isfinite(values), values, 0).astype(np.int64)),
        "p2": setup.floats.add(values) if is_value else 0,
        "p3": len(tokens),
        "p4": is_value,
        "p5": timed,
        "p6": setup.ints.add(setup.array("times")) if timed else 0,
    }


@kernel("source", _given_tokens)
def source(node: Int, table: Int) -> Int:
    """Given tokens, each at its time or one a cycle; ``s0``: tokens put."""
    s = state_of(table)
    nd = s.nd[node]
    o = s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    while nd.s0 < nd.p3:
        k = nd.s0
        if nd.p5:
            t = max(t, s.ints[nd.p6 + k] - 1)
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        a = max(t, free_at(s, o))
        so += a - t
        t = a
        f = s.floats[nd.p2 + k] if nd.p4 else np.float32(0)
        put_one(s, o, t + 1, s.ints[nd.p0 + k], s.ints[nd.p1 + k], f)
        if not nd.p5:
            t += 1
        nd.s0 = k + 1
    return leave(nd, t, si, so, WAIT_NONE, 0)


@kernel("sink")
def sink(node: Int, table: Int) -> Int:
    """One token a cycle."""
    s = state_of(table)
    nd = s.nd[node]
    i = s.ints[nd.ins]
    t, si, so = nd.clk, nd.si, nd.so
    while has(s, i):
        p = s.run[head(s, i)]
        m, k = p.n, p.x & KIND
        a = max(t, p.t)
        si += a - t
        take(s, i, m, a, a + 1, 1)
        t = a + m
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
    return leave(nd, t, si, so, WAIT_INPUT, i)
