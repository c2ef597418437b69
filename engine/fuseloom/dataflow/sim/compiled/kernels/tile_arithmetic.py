"""Loads, arithmetic and writers where values are tiles (``docs/spec/machine.md`` §5.4).

As their scalar counterparts in time; a tile made goes into a free slot of the node's pool.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.samml.operands import neutral, required_operands
from fuseloom.dataflow.samml.tile_values import TileSpec, tile_of
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.functions import BINARY
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.kernels.contractions import (
    contract,
    contraction_plan,
    elementwise,
    elementwise_plan,
)
from fuseloom.dataflow.sim.compiled.kernels.loads import LOAD
from fuseloom.dataflow.sim.compiled.kernels.values import outcome
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    GOES_ON,
    INPUT,
    KIND,
    LEAF,
    MEM,
    RING,
    ROOM,
    SLOPE,
    STEP,
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
    copy,
    free_at,
    has,
    head,
    number,
    pass_by,
    put,
    room,
    slot,
    starved,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import BAD_VALUE_REFERENCE
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.trees import address, tile, unused
from fuseloom.dataflow.sim.compiled.visits import (
    fail,
    hold,
    leave,
    no_room,
    put_held,
    stall,
    waited,
)
from fuseloom.dataflow.sim.timing import binary_timing, load_timing
from fuseloom.wording import counted

WORK_PER_VISIT = 1 << 24
"""Multiply-adds, or numbers touched, after which a node lets the others run: about 10 ms."""


def tiles_per_visit(work: int) -> int:
    return max(WORK_PER_VISIT // work, 1)


def spec_of(setup: Setup) -> TileSpec:
    """Return the tile specification of the node's values."""
    spec = tile_of(setup.node)
    assert spec is not None  # these kernels run no other nodes
    return spec


def pool_of(setup: Setup, spec: TileSpec) -> int:
    """The pool for a node's results; 0 where they are single numbers."""
    return setup.stores.pool(spec.elements) if spec.result else 0


_TILE_ARRAY = LOAD.also(
    blank="p5",  # handle of a tile of zeros
    holding="s0",  # a token was taken and waits for room
)


def _load(setup: Setup) -> dict[str, float]:
    values, spec = setup.array("vals"), spec_of(setup)
    timing = load_timing(setup.node, setup.machine)
    setup.require(
        values.ndim > 0 and values.size == len(values) * spec.elements,
        f"its values are not tiles of {counted(spec.elements, 'number')}",
    )
    return {
        "latency": timing.latency,
        "interval": timing.interval,
        "values": setup.stores.stored(values, spec.elements),
        "size": len(values),
        "loads_zero": setup.quirks.array_loads_zero,
        "blank": setup.stores.stored(np.zeros(spec.elements), spec.elements),
    }


@kernel("tile_array", _TILE_ARRAY, _load)
def tile_array(node: Int, table: Int) -> Int:
    """The tile at each reference, where it is stored."""
    s = state_of(table)
    nd = node_of(s, node, _TILE_ARRAY)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    late, interval = nd.latency, nd.interval
    base, size, loads_zero = nd.values, nd.size, nd.loads_zero
    while True:
        if nd.holding:
            t, so, status = put_held(s, nd, o, t, si, so, interval)
            if status != GOES_ON:
                return status
            nd.holding = 0
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
            w, z = nd.blank, LEAF | SLOPE | UNUSUAL
        t, si = stall(s, INPUT, t, a, si)
        if m == 0:
            nd.hk, nd.hv, nd.ht = z & (KIND | UNUSUAL), w, t + late if k == LEAF else 0
            take_one(s, i, t)
            nd.holding = 1
            continue
        t = max(a, free_at(s, o))
        so += waited(s, ROOM, a, t)
        first, start = t + 1, t + 1
        if k == LEAF:
            first, start = max(a + late, first), t + late
        put(s, o, limit, first, start, z, w)
        take(s, i, limit, a, t + 1, 1)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += limit * interval


@inline
def target(s: SimulationState, nd: Any, o: Int, pool: Int, size: Int, e: Int) -> Int:
    """Return the position in the floats for result ``e`` of the next run; a slot is free."""
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
    blank = setup.floats.add(np.full(largest, neutral(setup.node)))
    if spec.contracts:
        plan = contraction_plan(spec, setup.ints)
    else:
        plan = setup.ints.add(elementwise_plan(spec))
    more = [int(spec.contracts), plan, BINARY[setup.param("fn")], blank, *sizes]
    return {
        "latency": timing.latency,
        "interval": timing.interval,
        "tiles": setup.ints.add(more),
        "strict": empty_is_zero,
        "needed": 0 if empty_is_zero else ("a" in needed) + 2 * ("b" in needed),
        "pool": pool_of(setup, spec),
        "lone": setup.floats.add([0]),
        "per_visit": tiles_per_visit(spec.points),
    }


_BOTH, _SECOND, _PUT = range(3)
# Take both operands; only the second, as the first is held; put the result, which is held.

_TILE_BINARY = slots(
    latency="p0",  # cycles until a value shows
    interval="p1",  # clocks from token to token
    tiles="p2",  # in the integers: whether it contracts, its plan, which function, what an absent
    # tile is, and the numbers in the left operand, the right one and the result
    strict="p3",  # as the reference machine: two empty operands are an error
    needed="p4",  # operands without which there is no result: 1 left, 2 right
    pool="p5",  # where tiles of the result's size are free; 0: it is a number
    lone="p6",  # in the floats: a held number, which has no address in the node
    per_visit="p7",  # tiles after which the others run
    phase="s0",  # what comes next, one of those above
)


@kernel("tile_binary", _TILE_BINARY, _operation)
def tile_binary(node: Int, table: Int) -> Int:
    """A function of two aligned streams, one of tiles at least."""
    s = state_of(table)
    nd = node_of(s, node, _TILE_BINARY)
    i, j, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    late, interval, more = nd.latency, nd.interval, nd.tiles
    strict, needed, pool = nd.strict, nd.needed, nd.pool
    contracts, plan, fn, blank = s.ints[more], s.ints[more + 1], s.ints[more + 2], s.ints[more + 3]
    size_a, size_b, size = s.ints[more + 4], s.ints[more + 5], s.ints[more + 6]
    left_to_do = nd.per_visit
    while True:
        if nd.phase == _PUT:
            t, so, status = put_held(s, nd, o, t, si, so, interval)
            if status != GOES_ON:
                return status
            nd.phase = _BOTH
        r, k, u = -1, nd.hk, nd.hv
        x = STEP
        held = nd.phase == _SECOND
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
                t, si = stall(s, INPUT, t, a, si)
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.phase = _SECOND
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
                        left = nd.lone
                        s.floats[left] = nd.hf
                elif k == LEAF:
                    left = address(s, i, r, e, size_a)
                if kj == LEAF:
                    right = address(s, j, q, e, size_b)
                if held and not pool:
                    out = nd.lone
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
        t, si = stall(s, INPUT, t, b, si)
        if held:
            nd.hk, nd.hv, nd.ht = z & KIND, v, t + late if z & KIND == LEAF else 0
            nd.hf = s.floats[nd.lone]
            take_one(s, j, t)
            nd.phase = _PUT
            continue
        t = max(b, free_at(s, o))
        so += waited(s, ROOM, b, t)
        first, start = t + 1, t + 1
        if z & KIND == LEAF:
            first, start = max(b + late, first), t + late
        take(s, i, m, a, t + 1, 1)
        take(s, j, m, b, t + 1, 1)
        put(s, o, m, first, start, z, v)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m * interval


_TILE_WRITER = slots(
    buffer="p0",  # in the floats
    capacity="p2",  # of the buffer
    elements="p3",  # numbers in a value
    held="s0",  # numbers in the buffer
)


def _writer(setup: Setup) -> dict[str, float]:
    size = max(1 << 15, setup.elements * 16)
    return {"buffer": setup.floats.reserve(size), "capacity": size, "elements": setup.elements}


@kernel("tile_valwrite", _TILE_WRITER, _writer)
def tile_valwrite(node: Int, table: Int) -> Int:
    """Tiles."""
    s = state_of(table)
    nd = node_of(s, node, _TILE_WRITER)
    i, size = s.ints[nd.ins], nd.elements
    t, si = nd.clk, nd.si
    while has(s, i):
        r = head(s, i)
        if s.run[r].x & KIND == LEAF:
            m = min(s.run[r].n, (nd.capacity - nd.held) // size)
            if m == 0:
                return leave(nd, t, si, 0, WAIT_DRAIN, i)
            a = max(t, s.run[r].t)
            si += waited(s, INPUT, t, a)
            for e in range(m):
                into = view(s.floats, nd.buffer + nd.held + e * size, size)
                copy(into, view(s.floats, address(s, i, r, e, size), size))
            take(s, i, m, a, a + 1, 1)
            t = a + m
            nd.held += m * size
        else:
            k = s.run[r].x & KIND
            a = pass_by(s, i, t)
            si += waited(s, INPUT, t, a)
            t = a
            if k == DONE:
                return leave(nd, t + 1, si, 0, WAIT_NONE, 0)
    return leave(nd, t, si, 0, WAIT_INPUT, i)
