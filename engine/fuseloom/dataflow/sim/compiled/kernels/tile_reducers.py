"""Reducers of tiles, with and without a guide (``samml.md`` §2.11)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.samml.tile_values import latency
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.functions import larger
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.kernels.reducers import REGISTER, register
from fuseloom.dataflow.sim.compiled.kernels.tile_arithmetic import WORK_PER_VISIT, pool_of, spec_of
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    INPUT,
    KIND,
    LEAF,
    ROOM,
    STOP,
    UNUSUAL,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    SimulationState,
    state_of,
    view,
)
from fuseloom.dataflow.sim.compiled.rings import (
    free_at,
    has,
    head,
    is_leaf,
    pass_by,
    put_one,
    room,
    starved,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import GUIDE_DISAGREES
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of
from fuseloom.dataflow.sim.compiled.trees import address, tile, unused
from fuseloom.dataflow.sim.compiled.visits import fail, leave, stall, waited

_TILE_REDUCER = REGISTER.also(
    total="p4",  # in the floats: the register's content
    pool="p5",  # where tiles of that size are free
    elements="p6",  # numbers in a tile
    latency="p7",  # cycles until a total shows
    guide_kind="s3",  # of the guide's token; a coordinate where there is no guide
    guide_level="s4",  # its level
)


def _register(setup: Setup) -> dict[str, float]:
    """As of a reducer of numbers."""
    spec = spec_of(setup)
    fields = register(setup)
    start = fields.pop("total")
    delay = latency(setup.node, setup.machine.blocks)
    return {
        **fields,
        "total": setup.floats.add(np.full(spec.elements, start, np.float32)),
        "pool": pool_of(setup, spec),
        "elements": spec.elements,
        "latency": delay,
        "guide_kind": LEAF,
    }


@inline
def _fold(s: SimulationState, nd: Any, i: Int, r: Int, m: Int) -> None:
    """Add the first ``m`` tiles of a run, one after the other."""
    size = nd.elements
    total = view(s.floats, nd.total, size)
    for e in range(m):
        given = view(s.floats, address(s, i, r, e, size), size)
        if not nd.filled:
            for k in range(size):
                total[k] = given[k]
        elif nd.is_max:
            for k in range(size):
                total[k] = larger(total[k], given[k])
        else:
            for k in range(size):
                total[k] += given[k]
        nd.filled = 1
    nd.added = 1


_GUIDE, _VALUES, _CLOSING, _TOTAL, _STOP_AFTER = range(5)
# Take the guide's token; take values; take the guide's stop; put the total; put a stop or D.


@kernel("tile_reduce", _TILE_REDUCER, _register)
def tile_reduce(node: Int, table: Int) -> Int:
    """Fold each innermost fiber; with a guide, one per coordinate of it.

    ``hv`` is the level of the stop of the values.
    """
    s = state_of(table)
    nd = node_of(s, node, _TILE_REDUCER)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    guided = nd.n_in == 2
    g = s.ints[nd.ins + nd.n_in - 1]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    left_to_do = max(WORK_PER_VISIT // nd.elements, 1)
    while True:
        if guided and (nd.phase == _GUIDE or nd.phase == _CLOSING):
            if not has(s, g):
                return leave(nd, t, si, so, WAIT_INPUT, g)
            p = s.run[head(s, g)]
            t, si = stall(s, INPUT, t, p.t, si)
            k, v = p.x & KIND, p.v
            take_one(s, g, t)
            if nd.phase == _CLOSING:
                if k != STOP or v != nd.hv - 1:
                    return fail(nd, t, GUIDE_DISAGREES)
                nd.phase = _TOTAL
            else:
                nd.guide_kind, nd.guide_level = k, v
                nd.phase = _VALUES
        elif nd.phase == _GUIDE:
            nd.guide_kind = LEAF
            nd.phase = _VALUES
        elif nd.phase == _CLOSING:
            nd.phase = _TOTAL
        if nd.phase == _VALUES:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k, v, m = s.run[r].x & KIND, s.run[r].v, s.run[r].n
            a = max(t, s.run[r].t)
            in_fiber = is_leaf(nd.guide_kind)
            if in_fiber and k == EMPTY:
                a = pass_by(s, i, t)
                t, si = stall(s, INPUT, t, a, si)
                continue
            if in_fiber and k == LEAF:
                if left_to_do == 0:
                    nd.ready = 1
                    return leave(nd, t, si, so, WAIT_INPUT, i)
                m = min(m, left_to_do)
                left_to_do -= m
                si += waited(s, INPUT, t, a)
                _fold(s, nd, i, r, m)
                take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            if not guided and room(s, o) == 0 and not (nd.eager or starved(s, i)):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, si = stall(s, INPUT, t, a, si)
            take_one(s, i, t)
            if in_fiber:
                if k == DONE:
                    if guided:
                        return fail(nd, t, GUIDE_DISAGREES)
                    nd.guide_kind, nd.guide_level = DONE, 0
                    nd.phase = _STOP_AFTER
                else:
                    nd.hv = v
                    nd.phase = _TOTAL if v == 0 else _CLOSING
                continue
            if nd.guide_kind == DONE:
                if k != DONE:
                    return fail(nd, t, GUIDE_DISAGREES)
            elif k != STOP or v != nd.guide_level + 1:
                return fail(nd, t, GUIDE_DISAGREES)
            nd.phase = _STOP_AFTER
        if nd.phase == _TOTAL or nd.phase == _STOP_AFTER:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            if nd.phase == _TOTAL and unused(s, nd.pool) == 0:
                return leave(nd, t, si, so, WAIT_DRAIN, o)
            stamp = t + nd.latency
            t, so = stall(s, ROOM, t, free_at(s, o), so)
            stamp = max(stamp, t + 1)
            if nd.phase == _TOTAL:
                filled = nd.filled and (nd.added or nd.default)
                total = view(s.floats, nd.total, nd.elements)
                if filled or nd.empty_is_zero:
                    made = tile(s, nd.pool)
                    out = view(s.floats, made * nd.elements, nd.elements)
                    for e in range(nd.elements):
                        out[e] = total[e] if filled else zero
                    put_one(s, o, stamp, LEAF, made, zero)
                else:
                    put_one(s, o, stamp, EMPTY | UNUSUAL, 0, zero)
                for e in range(nd.elements):
                    total[e] = zero
                nd.filled = nd.starts_filled
                nd.added = 0
                if nd.hv > 0:
                    nd.guide_kind, nd.guide_level = STOP, nd.hv - 1
                    nd.phase = _STOP_AFTER
                    continue
            else:
                put_one(s, o, t + 1, nd.guide_kind, nd.guide_level, zero)
                if nd.guide_kind == DONE:
                    return leave(nd, t, si, so, WAIT_NONE, 0)
            t += 1
            nd.phase = _GUIDE
