"""The sources of streams, and the sinks of test benches (``docs/spec/machine.md`` §3.1, §3.2)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.compiled import rings, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_ROOT = slots(
    sent="s0",  # tokens put
)


@kernel("root", _ROOT)
def root(node: Int, table: Int) -> Int:
    """The reference 0 and the end."""
    s = state_of(table)
    nd = node_of(s, node, _ROOT)
    o = s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    while nd.sent < 2:
        if rings.room(s, o) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        a = max(t, rings.free_at(s, o))
        so += visits.waited(s, waits.ROOM, t, a)
        rings.put_one(s, o, a + 1, runs.LEAF if nd.sent == 0 else runs.DONE, 0, np.float32(0))
        t = a + 1
        nd.sent += 1
    return visits.leave(nd, t, si, so, waits.NONE, 0)


_SOURCE = slots(
    codes="p0",  # in the integers: kinds of the tokens,
    numbers="p1",  # numbers,
    times="p6",  # timestamps,
    values="p2",  # and in the floats values
    count="p3",  # of the tokens
    is_value="p4",  # the stream carries values
    timed="p5",  # tokens have timestamps
    sent="s0",  # tokens put
)


def _given_tokens(setup: Setup) -> dict[str, float]:
    tokens = setup.array("tokens")
    values = tokens["value"]
    is_value = StreamKind(setup.param("kind", "crd")) is StreamKind.VAL
    timed = "times" in setup.arrays
    return {
        "codes": setup.ints.add(tokens["code"]),
        "numbers": setup.ints.add(np.where(np.isfinite(values), values, 0).astype(np.int64)),
        "values": setup.floats.add(values) if is_value else 0,
        "count": len(tokens),
        "is_value": is_value,
        "timed": timed,
        "times": setup.ints.add(setup.array("times")) if timed else 0,
    }


@kernel("source", _SOURCE, _given_tokens)
def source(node: Int, table: Int) -> Int:
    """Given tokens, each at its time or one a cycle."""
    s = state_of(table)
    nd = node_of(s, node, _SOURCE)
    o = s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    while nd.sent < nd.count:
        k = nd.sent
        if nd.timed:
            t = max(t, s.ints[nd.times + k] - 1)
        if rings.room(s, o) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o), so)
        f = s.floats[nd.values + k] if nd.is_value else np.float32(0)
        rings.put_one(s, o, t + 1, s.ints[nd.codes + k], s.ints[nd.numbers + k], f)
        if not nd.timed:
            t += 1
        nd.sent = k + 1
    return visits.leave(nd, t, si, so, waits.NONE, 0)


@kernel("sink")
def sink(node: Int, table: Int) -> Int:
    """One token a cycle."""
    s = state_of(table)
    nd = s.nd[node]
    i = s.ints[nd.ins]
    t, si, so = nd.clk, nd.si, nd.so
    while rings.has(s, i):
        p = s.run[rings.head(s, i)]
        m, k = p.n, p.x & runs.KIND
        a = max(t, p.t)
        si += visits.waited(s, waits.INPUT, t, a)
        rings.take(s, i, m, a, a + 1, 1)
        t = a + m
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
    return visits.leave(nd, t, si, so, waits.INPUT, i)
