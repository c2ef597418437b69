"""Reducers of tiles, with and without a guide (``samml.md`` §2.11)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.samml.tile_values import latency
from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.kernels.reducers import register
from engine.dataflow.sim.compiled.kernels.tile_arithmetic import WORK_PER_VISIT, pool_of, spec_of
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    LEAF,
    STOP,
    UNUSUAL,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    State,
    state_of,
    view,
)
from engine.dataflow.sim.compiled.rings import (
    fail,
    free_at,
    has,
    head,
    is_leaf,
    leave,
    pass_by,
    put_one,
    room,
    starved,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import GUIDE_DISAGREES
from engine.dataflow.sim.compiled.setup import Setup
from engine.dataflow.sim.compiled.trees import address, tile, unused


def _register(setup: Setup) -> dict[str, float]:
    """As of a reducer of numbers; p4 the register's tile, p5 pool, p6 numbers, p7 latency."""
    spec = spec_of(setup)
    fields = register(setup)
    start = fields.pop("f0")
    delay = latency(setup.node, setup.machine.blocks)
    return {
        **fields,
        "p4": setup.floats.add(np.full(spec.elements, start, np.float32)),
        "p5": pool_of(setup, spec),
        "p6": spec.elements,
        "p7": delay,
        "s3": LEAF,
    }


@inline
def _fold(s: State, nd: Any, i: Int, r: Int, m: Int) -> None:
    """Add the first ``m`` tiles of a run, one after the other."""
    size = nd.p6
    total = view(s.floats, nd.p4, size)
    for e in range(m):
        given = view(s.floats, address(s, i, r, e, size), size)
        if not nd.s1:
            for k in range(size):
                total[k] = given[k]
        elif nd.p0:
            for k in range(size):
                if given[k] > total[k] or given[k] != given[k]:
                    total[k] = given[k]
        else:
            for k in range(size):
                total[k] += given[k]
        nd.s1 = 1
    nd.s2 = 1


_GUIDE, _VALUES, _CLOSING, _TOTAL, _STOP_AFTER = range(5)
# Take the guide's token; take values; take the guide's stop; put the total; put a stop or D.


@kernel("tile_reduce", _register)
def tile_reduce(node: Int, table: Int) -> Int:
    """Fold each innermost fiber; with a guide, one per coordinate of it.

    State: ``s0`` phase; ``s3``, ``s4`` kind and level of the guide's token, a coordinate where
    there is no guide; ``hv`` level of the stop of the values.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    guided = nd.n_in == 2
    g = s.ints[nd.ins + nd.n_in - 1]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    left_to_do = max(WORK_PER_VISIT // nd.p6, 1)
    while True:
        if guided and (nd.s0 == _GUIDE or nd.s0 == _CLOSING):
            if not has(s, g):
                return leave(nd, t, si, so, WAIT_INPUT, g)
            p = s.run[head(s, g)]
            a = max(t, p.t)
            si += a - t
            t = a
            k, v = p.x & KIND, p.v
            take_one(s, g, t)
            if nd.s0 == _CLOSING:
                if k != STOP or v != nd.hv - 1:
                    return fail(nd, t, GUIDE_DISAGREES)
                nd.s0 = _TOTAL
            else:
                nd.s3, nd.s4 = k, v
                nd.s0 = _VALUES
        elif nd.s0 == _GUIDE:
            nd.s3 = LEAF
            nd.s0 = _VALUES
        elif nd.s0 == _CLOSING:
            nd.s0 = _TOTAL
        if nd.s0 == _VALUES:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k, v, m = s.run[r].x & KIND, s.run[r].v, s.run[r].n
            a = max(t, s.run[r].t)
            in_fiber = is_leaf(nd.s3)
            if in_fiber and k == EMPTY:
                a = pass_by(s, i, t)
                si += a - t
                t = a
                continue
            if in_fiber and k == LEAF:
                if left_to_do == 0:
                    nd.ready = 1
                    return leave(nd, t, si, so, WAIT_INPUT, i)
                m = min(m, left_to_do)
                left_to_do -= m
                si += a - t
                _fold(s, nd, i, r, m)
                take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            if not guided and room(s, o) == 0 and not (nd.eager or starved(s, i)):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            si += a - t
            t = a
            take_one(s, i, t)
            if in_fiber:
                if k == DONE:
                    if guided:
                        return fail(nd, t, GUIDE_DISAGREES)
                    nd.s3, nd.s4 = DONE, 0
                    nd.s0 = _STOP_AFTER
                else:
                    nd.hv = v
                    nd.s0 = _TOTAL if v == 0 else _CLOSING
                continue
            if nd.s3 == DONE:
                if k != DONE:
                    return fail(nd, t, GUIDE_DISAGREES)
            elif k != STOP or v != nd.s4 + 1:
                return fail(nd, t, GUIDE_DISAGREES)
            nd.s0 = _STOP_AFTER
        if nd.s0 == _TOTAL or nd.s0 == _STOP_AFTER:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            if nd.s0 == _TOTAL and unused(s, nd.p5) == 0:
                return leave(nd, t, si, so, WAIT_DRAIN, o)
            stamp = t + nd.p7
            a = max(t, free_at(s, o))
            so += a - t
            t = a
            stamp = max(stamp, t + 1)
            if nd.s0 == _TOTAL:
                filled = nd.s1 and (nd.s2 or nd.p1)
                total = view(s.floats, nd.p4, nd.p6)
                if filled or nd.p3:
                    made = tile(s, nd.p5)
                    out = view(s.floats, made * nd.p6, nd.p6)
                    for e in range(nd.p6):
                        out[e] = total[e] if filled else zero
                    put_one(s, o, stamp, LEAF, made, zero)
                else:
                    put_one(s, o, stamp, EMPTY | UNUSUAL, 0, zero)
                for e in range(nd.p6):
                    total[e] = zero
                nd.s1 = nd.p2
                nd.s2 = 0
                if nd.hv > 0:
                    nd.s3, nd.s4 = STOP, nd.hv - 1
                    nd.s0 = _STOP_AFTER
                    continue
            else:
                put_one(s, o, t + 1, nd.s3, nd.s4, zero)
                if nd.s3 == DONE:
                    return leave(nd, t, si, so, WAIT_NONE, 0)
            t += 1
            nd.s0 = _GUIDE
