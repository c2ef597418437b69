"""Reducers of tiles, with and without a guide (``docs/spec/machine.md`` §6.1, §6.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.samml.tile_values import latency
from fuseloom.dataflow.sim.compiled import functions, rings, rules, runs, trees, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.kernels.reducers import REGISTER, register
from fuseloom.dataflow.sim.compiled.kernels.tile_arithmetic import WORK_PER_VISIT, pool_of, spec_of
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of

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
        "guide_kind": runs.LEAF,
    }


@inline
def _fold(s: SimulationState, nd: Any, i: Int, r: Int, m: Int) -> None:
    """Add the first ``m`` tiles of a run, one after the other."""
    size = nd.elements
    total = view(s.floats, nd.total, size)
    for e in range(m):
        given = view(s.floats, trees.address(s, i, r, e, size), size)
        if not nd.filled:
            for k in range(size):
                total[k] = given[k]
        elif nd.is_max:
            for k in range(size):
                total[k] = functions.larger(total[k], given[k])
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
            if not rings.has(s, g):
                return visits.leave(nd, t, si, so, waits.INPUT, g)
            p = s.run[rings.head(s, g)]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            k, v = p.x & runs.KIND, p.v
            rings.take_one(s, g, t)
            if nd.phase == _CLOSING:
                if k != runs.STOP or v != nd.hv - 1:
                    return visits.fail(nd, t, rules.GUIDE_DISAGREES)
                nd.phase = _TOTAL
            else:
                nd.guide_kind, nd.guide_level = k, v
                nd.phase = _VALUES
        elif nd.phase == _GUIDE:
            nd.guide_kind = runs.LEAF
            nd.phase = _VALUES
        elif nd.phase == _CLOSING:
            nd.phase = _TOTAL
        if nd.phase == _VALUES:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            k, v, m = s.run[r].x & runs.KIND, s.run[r].v, s.run[r].n
            a = max(t, s.run[r].t)
            in_fiber = rings.is_leaf(nd.guide_kind)
            if in_fiber and k == runs.EMPTY:
                a = rings.pass_by(s, i, t)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                continue
            if in_fiber and k == runs.LEAF:
                if left_to_do == 0:
                    nd.ready = 1
                    return visits.leave(nd, t, si, so, waits.INPUT, i)
                m = min(m, left_to_do)
                left_to_do -= m
                si += visits.waited(s, waits.INPUT, t, a)
                _fold(s, nd, i, r, m)
                rings.take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            if not guided and rings.room(s, o) == 0 and not (nd.eager or rings.starved(s, i)):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            rings.take_one(s, i, t)
            if in_fiber:
                if k == runs.DONE:
                    if guided:
                        return visits.fail(nd, t, rules.GUIDE_DISAGREES)
                    nd.guide_kind, nd.guide_level = runs.DONE, 0
                    nd.phase = _STOP_AFTER
                else:
                    nd.hv = v
                    nd.phase = _TOTAL if v == 0 else _CLOSING
                continue
            if nd.guide_kind == runs.DONE:
                if k != runs.DONE:
                    return visits.fail(nd, t, rules.GUIDE_DISAGREES)
            elif k != runs.STOP or v != nd.guide_level + 1:
                return visits.fail(nd, t, rules.GUIDE_DISAGREES)
            nd.phase = _STOP_AFTER
        if nd.phase == _TOTAL or nd.phase == _STOP_AFTER:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            if nd.phase == _TOTAL and trees.unused(s, nd.pool) == 0:
                return visits.leave(nd, t, si, so, waits.DRAIN, o)
            stamp = t + nd.latency
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o), so)
            stamp = max(stamp, t + 1)
            if nd.phase == _TOTAL:
                filled = nd.filled and (nd.added or nd.default)
                total = view(s.floats, nd.total, nd.elements)
                if filled or nd.empty_is_zero:
                    made = trees.tile(s, nd.pool)
                    out = view(s.floats, made * nd.elements, nd.elements)
                    for e in range(nd.elements):
                        out[e] = total[e] if filled else zero
                    rings.put_one(s, o, stamp, runs.LEAF, made, zero)
                else:
                    rings.put_one(s, o, stamp, runs.EMPTY | runs.UNUSUAL, 0, zero)
                for e in range(nd.elements):
                    total[e] = zero
                nd.filled = nd.starts_filled
                nd.added = 0
                if nd.hv > 0:
                    nd.guide_kind, nd.guide_level = runs.STOP, nd.hv - 1
                    nd.phase = _STOP_AFTER
                    continue
            else:
                rings.put_one(s, o, t + 1, nd.guide_kind, nd.guide_level, zero)
                if nd.guide_kind == runs.DONE:
                    return visits.leave(nd, t, si, so, waits.NONE, 0)
            t += 1
            nd.phase = _GUIDE
