"""A function of each number of a tile, or a fold of its axes (``docs/spec/machine.md`` §5.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.machine.timing import unary_timing
from fuseloom.dataflow.primitives.tiles import contraction_kernels as contractions
from fuseloom.dataflow.primitives.tiles.kernels import (
    pool_of,
    spec_of,
    target,
    tiles_per_visit,
)
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.tile_values import latency
from fuseloom.dataflow.samml.traits import Arithmetic
from fuseloom.dataflow.sim.compiled import functions, rings, rules, runs, trees, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_TILE_UNARY = slots(
    latency="p0",  # cycles until a value shows
    interval="p1",  # clocks from token to token
    operation="p2",  # which function; of a fold, whether the largest is kept
    strict="p3",  # as the reference machine: the empty token is an error
    tiles="p4",  # in the integers: whether it folds, the plans of both moves, scratch, and the
    # numbers in the operand and the result
    pool="p5",  # where tiles of the result's size are free; 0: it is a number
    lone="p6",  # in the floats: a held number, which has no address in the node
    per_visit="p7",  # tiles after which the others run
    scalar="f0",  # the function's constant
    holding="s0",  # a token was taken and waits for room
)


def _of_one_tile(setup: Setup) -> dict[str, float]:
    """Of a unary function, and of a fold of axes."""
    spec = spec_of(setup)
    (axes,) = spec.operands
    folds = primitive(setup.node.op).arithmetic is Arithmetic.TILE_FOLD
    fn = setup.param("fn")
    if folds:
        late, interval = latency(setup.node, setup.machine.blocks) * setup.machine.alu_latency, 1
        code, constant = int(fn == "max"), 0.0
    else:
        timing = unary_timing(setup.node, setup.machine)
        late, interval = timing.latency, timing.interval
        code, constant = functions.numbered(fn, setup.param("scalar", 0))
    kept = "".join(x for x in axes if x in spec.result)
    scratch = setup.ints.reserve(spec.elements)
    plans = [
        contractions.move_plan(axes, kept, spec.edge),
        contractions.move_plan(kept, spec.result, spec.edge),
    ]
    more = [setup.ints.add(plan) for plan in plans]
    sizes = [int(spec.edge ** len(axes)), spec.elements]
    return {
        "latency": late,
        "interval": interval,
        "operation": code,
        "strict": setup.quirks.unary_empty_panics and not folds,
        "tiles": setup.ints.add([folds, *more, scratch, *sizes]),
        "pool": pool_of(setup, spec),
        "lone": setup.floats.add([0]),
        "per_visit": tiles_per_visit(4 * spec.points),
        "scalar": constant,
    }


@inline
def _map(s: SimulationState, plan: Int, fn: Int, c: Any, source: Int, into: Int) -> None:
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
            s.floats[at + e * stride] = functions.function(
                fn, s.floats[source + row * length + e], c
            )


@kernel("tile_unary", _TILE_UNARY, _of_one_tile)
def tile_unary(node: Int, table: Int) -> Int:
    """A function of each number of each tile, or a fold of its axes."""
    s = state_of(table)
    nd = node_of(s, node, _TILE_UNARY)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    late, interval, fn = nd.latency, nd.interval, nd.operation
    strict, more, pool = nd.strict, nd.tiles, nd.pool
    folds, first_plan, second_plan = s.ints[more], s.ints[more + 1], s.ints[more + 2]
    scratch, taken, size = s.ints[more + 3], s.ints[more + 4], s.ints[more + 5]
    c = np.float32(nd.scalar)
    left_to_do = nd.per_visit
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
        x, w, n = s.run[r].x, s.run[r].v, s.run[r].n
        k = x & runs.KIND
        a = max(t, s.run[r].t)
        if k == runs.EMPTY and strict:
            return visits.fail(nd, a, rules.UNARY_OF_EMPTY)
        m = rings.room(s, o)
        full = m == 0
        if full and not visits.no_room(s, nd, i, o):
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        m = min(m, n) if interval == 1 and not full else 1
        z = k | runs.SLOPE | (x & runs.STEP)
        if k == runs.LEAF:
            if left_to_do == 0:
                nd.ready = 1
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            count = min(m, left_to_do) if x & runs.STEP else 1
            m = count if x & runs.STEP else m
            if pool:
                count = min(count, trees.unused(s, pool))
                if count == 0:
                    return visits.leave(nd, t, si, so, waits.DRAIN, o)
                m = count if x & runs.STEP else m
            left_to_do -= count
            for e in range(count):
                source = trees.address(s, i, r, e, taken)
                if full and not pool:
                    into = nd.lone
                elif full:
                    w = trees.tile(s, pool)
                    into = w * size
                else:
                    into = target(s, nd, o, pool, size, e)
                if folds:
                    contractions.pack(s, source, scratch, first_plan, size, fn)
                    contractions.unpack(s, scratch, into, second_plan)
                else:
                    _map(s, second_plan, fn, c, source, into)
            if not full:
                w = rings.slot(s, o)
            z |= runs.MEM | runs.RING
        t, si = visits.stall(s, waits.INPUT, t, a, si)
        if full:
            nd.hk, nd.hv, nd.ht = k, w, t + late if k == runs.LEAF else 0
            nd.hf = s.floats[nd.lone]
            rings.take_one(s, i, t)
            nd.holding = 1
            continue
        t = max(a, rings.free_at(s, o))
        so += visits.waited(s, waits.ROOM, a, t)
        first, start = t + 1, t + 1
        if k == runs.LEAF:
            first, start = max(a + late, first), t + late
        rings.take(s, i, m, a, t + 1, 1)
        rings.put(s, o, m, first, start, z, w)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += m * interval
