"""The value load as the reference has it when its memory is modelled.

It goes token by token, as the memory lets it.
"""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.primitives.values.load_kernels import LOAD, load_setup
from fuseloom.dataflow.sim.compiled import asking, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of

_GATHER, _ANSWER, _PUT, _PASS = range(4)
# Next token; values are asked for; put them; put the token that had them loaded.


_STALLING_LOADER = LOAD.also(
    port="p5",  # its number
    gathered="p6",  # in the integers: references whose values are to be loaded
    phase="s0",  # what comes next, one of those above
    count="s1",  # references gathered
    next="s2",  # of them, to put
    kind="s3",  # of the token that had them loaded; ``hv`` is its number
)


def _loader(setup: Setup) -> dict[str, float]:
    gathered = setup.ints.reserve(BUNDLE)
    return {**load_setup(setup), "port": setup.ports[0].number, "gathered": gathered}


@kernel("stalling_array", _STALLING_LOADER, _loader)
def stalling_array(node: Int, table: Int) -> Int:
    """Values, eight at a time."""
    s = state_of(table)
    nd = node_of(s, node, _STALLING_LOADER)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.phase == _GATHER:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            p = s.run[r]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            k, v = p.x & runs.KIND, p.v
            if k == runs.LEAF:
                ref = rings.number(s, r, 0)
                if ref < 0 or ref >= nd.size:
                    return visits.fail(nd, t, rules.BAD_VALUE_REFERENCE)
                s.ints[nd.gathered + nd.count] = ref
                nd.count += 1
            rings.take_one(s, i, t)
            nd.kind, nd.hv = k, v
            if k == runs.LEAF and nd.count < BUNDLE:
                t += nd.interval
                continue
            if nd.count:
                asking.request(s, nd.port, t, nd.count, 0)
                nd.next = 0
                nd.phase = _ANSWER
            else:
                nd.phase = _PASS
        if nd.phase == _ANSWER:
            when = asking.answer(s, nd.port, 0)
            if when < 0:
                return visits.leave(nd, t, si, so, waits.MEMORY, 0)
            t = asking.stand_still(s, nd, t, when)
            nd.phase = _PUT
        if rings.room(s, o) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        free = max(t, rings.free_at(s, o))
        so += visits.waited(s, waits.ROOM, t, free)
        if nd.phase == _PUT:
            # The value's time counts from when it wanted out, its slot's from when it could.
            stamp = max(t + (nd.latency if nd.kind == runs.LEAF else 1), free + 1)
            t = free
            value = s.floats[nd.values + s.ints[nd.gathered + nd.next]]
            rings.put_one(s, o, stamp, runs.LEAF, 0, value)
            nd.next += 1
            if nd.next < nd.count:
                continue
            nd.count = 0
            nd.phase = _GATHER if nd.kind == runs.LEAF else _PASS
        else:
            t = free
            k = runs.LEAF if nd.kind == runs.EMPTY and nd.loads_zero else nd.kind
            rings.put_one(s, o, t + 1, k, nd.hv if k == runs.STOP else 0, zero)
            if nd.kind == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            nd.phase = _GATHER
        if nd.phase == _GATHER:
            t += nd.interval
