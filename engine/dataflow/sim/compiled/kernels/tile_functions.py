"""A function of each number of a tile, or a fold of its axes (``fusion.md`` §5.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.tile_values import latency
from engine.dataflow.samml.traits import Arithmetic
from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.functions import UNARY, function
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.kernels.contractions import (
    move_plan,
    pack,
    unpack,
)
from engine.dataflow.sim.compiled.kernels.tile_arithmetic import (
    pool_of,
    spec_of,
    target,
    tiles_per_visit,
)
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    LEAF,
    MEM,
    RING,
    SLOPE,
    STEP,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    State,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
    fail,
    free_at,
    has,
    head,
    leave,
    no_room,
    put,
    release,
    room,
    slot,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import UNARY_OF_EMPTY
from engine.dataflow.sim.compiled.setup import Setup
from engine.dataflow.sim.compiled.trees import address, tile, unused
from engine.dataflow.sim.timing import unary_timing


def _of_one_tile(setup: Setup) -> dict[str, float]:
    """Of a unary function, and of a fold of axes."""
    spec = spec_of(setup)
    (axes,) = spec.operands
    folds = primitive(setup.node.op).arithmetic is Arithmetic.TILE_FOLD
    fn = setup.param("fn")
    if folds:
        late, interval = latency(setup.node, setup.machine.blocks) * setup.machine.alu_latency, 1
        code = int(fn == "max")
    else:
        timing = unary_timing(setup.node, setup.machine)
        late, interval, code = timing.latency, timing.interval, UNARY[fn]
    kept = "".join(x for x in axes if x in spec.result)
    scratch = setup.ints.reserve(spec.elements)
    plans = [move_plan(axes, kept, spec.edge), move_plan(kept, spec.result, spec.edge)]
    more = [setup.ints.add(plan) for plan in plans]
    sizes = [int(spec.edge ** len(axes)), spec.elements]
    scalar = 0 if fn == "relu" else setup.param("scalar", 0)
    return {
        "p0": late,
        "p1": interval,
        "p2": code,
        "p3": setup.quirks.unary_empty_panics and not folds,
        "p4": setup.ints.add([folds, *more, scratch, *sizes]),
        "p5": pool_of(setup, spec),
        "p6": setup.floats.add([0]),
        "p7": tiles_per_visit(4 * spec.points),
        "f0": 0.0 if folds else float(np.float32(scalar)),
    }


@inline
def _map(s: State, plan: Int, fn: Int, c: Any, source: Int, into: Int) -> None:
    """A function of each number of a tile, put where the plan says."""
    rows, length, stride = s.ints[plan + 2], s.ints[plan + 3], s.ints[plan + 4]
    edge = s.ints[plan]
    for row in range(rows):
        at, digits, axis = into, row, plan + 5
        while digits > 0:
            at += (digits % edge) * s.ints[axis]
            digits //= edge
            axis += 1
        for e in range(length):
            s.floats[at + e * stride] = function(fn, s.floats[source + row * length + e], c)


@kernel("tile_unary", _of_one_tile)
def tile_unary(node: Int, table: Int) -> Int:
    """A function of each number of each tile, or a fold of its axes; ``s0``: a token is held."""
    s = state_of(table)
    nd = s.nd[node]
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    late, interval, fn, strict, more, pool = nd.p0, nd.p1, nd.p2, nd.p3, nd.p4, nd.p5
    folds, first_plan, second_plan = s.ints[more], s.ints[more + 1], s.ints[more + 2]
    scratch, taken, size = s.ints[more + 3], s.ints[more + 4], s.ints[more + 5]
    c = np.float32(nd.f0)
    left_to_do = nd.p7
    while True:
        if nd.s0:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            t = a
            nd.s0 = 0
            if nd.hk == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += interval
            continue
        if not has(s, i):
            return leave(nd, t, si, so, WAIT_INPUT, i)
        r = head(s, i)
        x, w, n = s.run[r].x, s.run[r].v, s.run[r].n
        k = x & KIND
        a = max(t, s.run[r].t)
        if k == EMPTY and strict:
            return fail(nd, a, UNARY_OF_EMPTY)
        m = room(s, o)
        waits = m == 0
        if waits and not no_room(s, nd, i, o):
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        m = min(m, n) if interval == 1 and not waits else 1
        z = k | SLOPE | (x & STEP)
        if k == LEAF:
            if left_to_do == 0:
                nd.ready = 1
                return leave(nd, t, si, so, WAIT_INPUT, i)
            count = min(m, left_to_do) if x & STEP else 1
            m = count if x & STEP else m
            if pool:
                count = min(count, unused(s, pool))
                if count == 0:
                    return leave(nd, t, si, so, WAIT_DRAIN, o)
                m = count if x & STEP else m
            left_to_do -= count
            for e in range(count):
                source = address(s, i, r, e, taken)
                if waits and not pool:
                    into = nd.p6
                elif waits:
                    w = tile(s, pool)
                    into = w * size
                else:
                    into = target(s, nd, o, pool, size, e)
                if folds:
                    pack(s, source, scratch, first_plan, size, fn)
                    unpack(s, scratch, into, second_plan)
                else:
                    _map(s, second_plan, fn, c, source, into)
            if not waits:
                w = slot(s, o)
            z |= MEM | RING
        si += a - t
        t = a
        if waits:
            nd.hk, nd.hv, nd.ht = k, w, t + late if k == LEAF else 0
            nd.hf = s.floats[nd.p6]
            take_one(s, i, t)
            nd.s0 = 1
            continue
        t = max(a, free_at(s, o))
        so += t - a
        first, start = t + 1, t + 1
        if k == LEAF:
            first, start = max(a + late, first), t + late
        take(s, i, m, a, t + 1, 1)
        put(s, o, m, first, start, z, w)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m * interval
