"""Loads, arithmetic and writers where values are tiles (``fusion.md`` §5.2).

As their scalar counterparts in time; a tile made goes into a free slot of the node's pool.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.samml.operands import required_operands
from engine.dataflow.samml.tile_values import TileSpec, tile_of
from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.functions import BINARY
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.kernels.contractions import (
    contract,
    contraction_plan,
    elementwise,
    elementwise_plan,
)
from engine.dataflow.sim.compiled.kernels.values import outcome
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    LEAF,
    MEM,
    RING,
    SLOPE,
    STEP,
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
    copy,
    fail,
    free_at,
    has,
    head,
    hold,
    leave,
    no_room,
    number,
    pass_by,
    put,
    release,
    room,
    slot,
    starved,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import BAD_VALUE_REFERENCE
from engine.dataflow.sim.compiled.setup import Setup
from engine.dataflow.sim.compiled.trees import address, tile, unused
from engine.dataflow.sim.timing import binary_timing, load_timing

WORK_PER_VISIT = 1 << 24
"""Multiply-adds, or numbers touched, after which a node lets the others run: about 10 ms."""


def tiles_per_visit(work: int) -> int:
    return max(WORK_PER_VISIT // work, 1)


def spec_of(setup: Setup) -> TileSpec:
    """What the node's values are."""
    spec = tile_of(setup.node)
    assert spec is not None  # these kernels run no other nodes
    return spec


def pool_of(setup: Setup, spec: TileSpec) -> int:
    """The pool for a node's results; 0 where they are single numbers."""
    return setup.stores.pool(spec.elements) if spec.result else 0


def _load(setup: Setup) -> dict[str, float]:
    values, spec = setup.array("vals"), spec_of(setup)
    timing = load_timing(setup.node, setup.machine)
    setup.require(
        values.ndim > 0 and values.size == len(values) * spec.elements,
        f"its values are not tiles of {spec.elements} numbers",
    )
    return {
        "p0": timing.latency,
        "p1": timing.interval,
        "p2": setup.stores.stored(values, spec.elements),
        "p3": len(values),
        "p4": setup.quirks.array_loads_zero,
        "p5": setup.stores.stored(np.zeros(spec.elements), spec.elements),
    }


@kernel("tile_array", _load)
def tile_array(node: Int, table: Int) -> Int:
    """The tile at each reference, where it is stored; ``s0``: the held token waits for room."""
    s = state_of(table)
    nd = s.nd[node]
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    late, interval, base, size, loads_zero = nd.p0, nd.p1, nd.p2, nd.p3, nd.p4
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
        x, v, n = s.run[r].x, s.run[r].v, s.run[r].n
        k = x & KIND
        a = max(t, s.run[r].t)
        m = room(s, o)
        if m == 0 and not no_room(s, nd, i, o):
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        w, z = v, k | SLOPE | (x & STEP)
        limit = min(m, n) if interval == 1 else 1
        if k == LEAF:
            several = x & MEM and x & STEP and limit > 1
            u = slot(s, o)
            for e in range(limit if several else 1):
                w = number(s, r, e)
                last = w + limit - 1 if x & STEP and not several and m > 0 else w
                if w < 0 or last >= size:
                    return fail(nd, a, BAD_VALUE_REFERENCE)
                w += base
                if several:
                    s.ints[u + e] = w
            z = LEAF | SLOPE | (x & STEP)
            if several:
                w, z = u, LEAF | SLOPE | STEP | MEM | RING
        elif k == EMPTY and loads_zero:
            w, z = nd.p5, LEAF | SLOPE | UNUSUAL
        si += a - t
        t = a
        if m == 0:
            nd.hk, nd.hv, nd.ht = z & (KIND | UNUSUAL), w, t + late if k == LEAF else 0
            take_one(s, i, t)
            nd.s0 = 1
            continue
        t = max(a, free_at(s, o))
        so += t - a
        first, start = t + 1, t + 1
        if k == LEAF:
            first, start = max(a + late, first), t + late
        put(s, o, limit, first, start, z, w)
        take(s, i, limit, a, t + 1, 1)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += limit * interval


@inline
def target(s: State, nd: Any, o: Int, pool: Int, size: Int, e: Int) -> Int:
    """Where in the floats the result of token ``e`` of the next run goes; a slot is free."""
    w = slot(s, o) + e
    if not pool:
        return w
    made = tile(s, pool)
    s.ints[w] = made
    return made * size


def _operation(setup: Setup) -> dict[str, float]:
    spec = spec_of(setup)
    timing = binary_timing(setup.node, setup.machine)
    empty_is_zero = setup.quirks.binary_empty_is_zero
    needed = required_operands(setup.node)
    largest = max(spec.edge ** len(axes) for axes in spec.operands)
    sizes = [*(spec.edge ** len(axes) for axes in spec.operands), spec.elements]
    blank = setup.floats.add(np.zeros(largest))
    if spec.contracts:
        plan = contraction_plan(spec, setup.ints)
    else:
        plan = setup.ints.add(elementwise_plan(spec))
    more = [int(spec.contracts), plan, BINARY[setup.param("fn")], blank, *sizes]
    return {
        "p0": timing.latency,
        "p1": timing.interval,
        "p2": setup.ints.add(more),
        "p3": empty_is_zero,
        "p4": 0 if empty_is_zero else ("a" in needed) + 2 * ("b" in needed),
        "p5": pool_of(setup, spec),
        "p6": setup.floats.add([0]),
        "p7": tiles_per_visit(spec.points),
    }


_BOTH, _SECOND, _PUT = range(3)


@kernel("tile_binary", _operation)
def tile_binary(node: Int, table: Int) -> Int:
    """A function of two aligned streams, one of tiles at least; ``s0`` phase."""
    s = state_of(table)
    nd = s.nd[node]
    i, j, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    late, interval, more, strict, needed, pool = nd.p0, nd.p1, nd.p2, nd.p3, nd.p4, nd.p5
    contracts, plan, fn, blank = s.ints[more], s.ints[more + 1], s.ints[more + 2], s.ints[more + 3]
    size_a, size_b, size = s.ints[more + 4], s.ints[more + 5], s.ints[more + 6]
    left_to_do = nd.p7
    while True:
        if nd.s0 == _PUT:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = release(s, nd, o, t)
            so += a - t
            t = a
            nd.s0 = _BOTH
            if nd.hk == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += interval
        r, k, u = -1, nd.hk, nd.hv
        x = STEP
        held = nd.s0 == _SECOND
        m = 1
        a = t
        if not held:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            x, u = s.run[r].x, s.run[r].v
            k = x & KIND
            a = max(t, s.run[r].t)
            m = room(s, o)
            if not has(s, j) or m == 0:
                if not (nd.eager or starved(s, i) or (has(s, j) and starved(s, j))):
                    if has(s, j):
                        return leave(nd, t, si, so, WAIT_OUTPUT, o)
                    return leave(nd, t, si, so, WAIT_INPUT, j)
                si += a - t
                t = a
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.s0 = _SECOND
                continue
            m = min(m, s.run[r].n) if interval == 1 else 1
        if not has(s, j):
            return leave(nd, t, si, so, WAIT_INPUT, j)
        q = head(s, j)
        y, w = s.run[q].x, s.run[q].v
        kj = y & KIND
        b = max(a, s.run[q].t)
        z, rule = outcome(k, u, kj, w, strict, needed)
        if rule:
            return fail(nd, b, rule)
        m = min(m, s.run[q].n)
        v = u if z != EMPTY else 0
        if z == LEAF:
            if left_to_do == 0:
                nd.ready = 1
                return leave(nd, t, si, so, WAIT_INPUT, i)
            single = not (k == LEAF and x & STEP) and not (kj == LEAF and y & STEP)
            count = 1 if single else min(m, left_to_do)
            m = m if single else count
            if pool:
                count = min(count, unused(s, pool))
                if count == 0:
                    return leave(nd, t, si, so, WAIT_DRAIN, o)
                m = m if single else count
            left_to_do -= count
            for e in range(count):
                left, right = blank, blank
                if k == LEAF and held:  # a number lies in the node, which has no address
                    left = nd.hv * size_a
                    if s.ch[i].val:
                        left = nd.p6
                        s.floats[left] = nd.hf
                elif k == LEAF:
                    left = address(s, i, r, e, size_a)
                if kj == LEAF:
                    right = address(s, j, q, e, size_b)
                if held and not pool:
                    out = nd.p6
                elif held:
                    v = tile(s, pool)
                    out = v * size
                else:
                    out = target(s, nd, o, pool, size, e)
                if contracts:
                    contract(s, plan, left, right, out)
                else:
                    elementwise(s, plan, fn, left, right, out)
            if not held:
                v = slot(s, o)
            z |= SLOPE | MEM | RING | (0 if single else STEP)
        else:
            z |= SLOPE | (x & STEP if z != EMPTY else 0)
        si += b - t
        t = b
        if held:
            nd.hk, nd.hv, nd.ht = z & KIND, v, t + late if z & KIND == LEAF else 0
            nd.hf = s.floats[nd.p6]
            take_one(s, j, t)
            nd.s0 = _PUT
            continue
        t = max(b, free_at(s, o))
        so += t - b
        first, start = t + 1, t + 1
        if z & KIND == LEAF:
            first, start = max(b + late, first), t + late
        take(s, i, m, a, t + 1, 1)
        take(s, j, m, b, t + 1, 1)
        put(s, o, m, first, start, z, v)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m * interval


def _writer(setup: Setup) -> dict[str, float]:
    size = max(1 << 15, setup.elements * 16)
    return {"p0": setup.floats.reserve(size), "p2": size, "p3": setup.elements}


@kernel("tile_valwrite", _writer)
def tile_valwrite(node: Int, table: Int) -> Int:
    """Tiles; ``s0`` numbers of them are in the buffer ``p0``."""
    s = state_of(table)
    nd = s.nd[node]
    i, size = s.ints[nd.ins], nd.p3
    t, si = nd.clk, nd.si
    while has(s, i):
        r = head(s, i)
        if s.run[r].x & KIND == LEAF:
            m = min(s.run[r].n, (nd.p2 - nd.s0) // size)
            if m == 0:
                return leave(nd, t, si, 0, WAIT_DRAIN, i)
            a = max(t, s.run[r].t)
            si += a - t
            for e in range(m):
                into = view(s.floats, nd.p0 + nd.s0 + e * size, size)
                copy(into, view(s.floats, address(s, i, r, e, size), size))
            take(s, i, m, a, a + 1, 1)
            t = a + m
            nd.s0 += m * size
        else:
            k = s.run[r].x & KIND
            a = pass_by(s, i, t)
            si += a - t
            t = a
            if k == DONE:
                return leave(nd, t + 1, si, 0, WAIT_NONE, 0)
    return leave(nd, t, si, 0, WAIT_INPUT, i)
