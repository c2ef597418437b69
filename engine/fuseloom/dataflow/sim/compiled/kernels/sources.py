"""The sources of streams, and the sinks of test benches (``docs/spec/machine.md`` §3.1, §3.2)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    INPUT,
    KIND,
    LEAF,
    ROOM,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from fuseloom.dataflow.sim.compiled.rings import free_at, has, head, put_one, room, take
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import leave, stall, waited

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
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        a = max(t, free_at(s, o))
        so += waited(s, ROOM, t, a)
        put_one(s, o, a + 1, LEAF if nd.sent == 0 else DONE, 0, np.float32(0))
        t = a + 1
        nd.sent += 1
    return leave(nd, t, si, so, WAIT_NONE, 0)


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
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        t, so = stall(s, ROOM, t, free_at(s, o), so)
        f = s.floats[nd.values + k] if nd.is_value else np.float32(0)
        put_one(s, o, t + 1, s.ints[nd.codes + k], s.ints[nd.numbers + k], f)
        if not nd.timed:
            t += 1
        nd.sent = k + 1
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
        si += waited(s, INPUT, t, a)
        take(s, i, m, a, a + 1, 1)
        t = a + m
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
    return leave(nd, t, si, so, WAIT_INPUT, i)
