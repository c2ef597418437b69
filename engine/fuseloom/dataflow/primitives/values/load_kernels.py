"""Value loads (``docs/spec/machine.md`` §5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.machine.timing import load_timing
from fuseloom.dataflow.sim.compiled import layout, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

LINE = 16
"""Values in a line of the cache."""
FETCHED = 512
"""Values of a run that are brought in; the processor foresees the others."""

TIMED = slots(
    latency="p0",  # cycles until a value shows
    interval="p1",  # clocks from token to token
)
"""The slots that all kernels that make values share."""

LOAD = TIMED.also(
    values="p2",  # in the floats: those stored; their handles where they are tiles
    size="p3",  # how many
    loads_zero="p4",  # an empty reference loads 0
)
"""The slots of loads, which describe the loaded array."""

_ARRAY = LOAD.also(
    holding="s0",  # a token was taken and waits for room
)


def load_setup(setup: Setup) -> dict[str, float]:
    values = setup.array("vals")
    timing = load_timing(setup.node, setup.machine)
    return {
        "latency": timing.latency,
        "interval": timing.interval,
        "values": setup.floats.refer(values),
        "size": len(values),
        "loads_zero": setup.quirks.array_loads_zero,
    }


@inline
def _gather(o: Any, refs: Any, values: Any, size: Int) -> Int:
    """Load values at several references; whether all references were good."""
    good = True
    for e in range(len(o)):
        ref = refs[e]
        inside = ref >= 0 and ref < size
        good &= inside
        o[e] = values[ref if inside else 0]
    return good


@inline
def _fetch(s: SimulationState, v: Int, m: Int) -> None:
    """Have the first of ``m`` values brought in: who computes with them is about to read them."""
    for e in range(v, v + min(m, FETCHED), LINE):
        layout.fetch(s.floats, e)


@kernel("array", _ARRAY, load_setup)
def array(node: Int, table: Int) -> Int:
    """The value at each reference."""
    s = state_of(table)
    nd = node_of(s, node, _ARRAY)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    latency, interval = nd.latency, nd.interval
    base, size, loads_zero = nd.values, nd.size, nd.loads_zero
    while True:
        if nd.holding:
            t, so, status = visits.put_held(s, nd, o, t, si, so, interval)
            if status != visits.GOES_ON:
                return status
            nd.holding = 0
            continue
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        r = rings.head(s, i)
        p = s.run[r]
        x, v = p.x, p.v
        k = x & runs.KIND
        a = max(t, p.t)
        m = rings.room(s, o)
        if m == 0:
            if not visits.no_room(s, nd, i, o):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            nd.hk, nd.hv, nd.ht = k, v, 0
            if k == runs.LEAF:
                ref = rings.number(s, r, 0)
                if ref < 0 or ref >= size:
                    return visits.fail(nd, t, rules.BAD_VALUE_REFERENCE)
                nd.hf = s.floats[base + ref]
                nd.ht = t + latency
            elif k == runs.EMPTY and loads_zero:
                nd.hk, nd.hf = runs.LEAF | runs.UNUSUAL, 0.0
            rings.take_one(s, i, t)
            nd.holding = 1
            continue
        m = min(m, p.n) if interval == 1 else 1
        t, si, so = visits.begin(s, o, t, a, si, so)
        first = t + 1
        start = t + 1
        if k == runs.LEAF:
            first = max(a + latency, first)
            start = t + latency
            ref = rings.number(s, r, 0)
            if x & runs.MEM and x & runs.STEP and m > 1:
                w = rings.slot(s, o)
                z = runs.LEAF | runs.SLOPE | runs.STEP | runs.MEM | runs.RING
                stored = view(s.floats, base, size)
                if not _gather(view(s.floats, w, m), view(s.ints, v, m), stored, size):
                    return visits.fail(nd, t, rules.BAD_VALUE_REFERENCE)
            else:  # consecutive values, or one: where they are
                last = ref + m - 1 if x & runs.STEP else ref
                if ref < 0 or last >= size:
                    return visits.fail(nd, t, rules.BAD_VALUE_REFERENCE)
                w, z = base + ref, runs.LEAF | runs.SLOPE | runs.MEM | (x & runs.STEP)
                if x & runs.STEP and m >= LINE:
                    _fetch(s, w, m)
        elif k == runs.EMPTY and loads_zero:
            w, z = rings.slot(s, o), runs.LEAF | runs.SLOPE | runs.MEM | runs.RING | runs.UNUSUAL
            s.floats[w] = np.float32(0)
        else:
            w, z = v, k | runs.SLOPE | (x & runs.STEP)
        rings.take(s, i, m, a, t + 1, 1)
        rings.put(s, o, m, first, start, z, w)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += m * interval
