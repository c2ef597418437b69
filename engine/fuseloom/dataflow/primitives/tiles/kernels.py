"""Loads, arithmetic and writers where values are tiles (``docs/spec/machine.md`` §5.4).

As their scalar counterparts in time; a tile made goes into a free slot of the node's pool.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.machine.timing import binary_timing, load_timing
from fuseloom.dataflow.primitives.tiles import contraction_kernels as contractions
from fuseloom.dataflow.primitives.values.kernels import outcome
from fuseloom.dataflow.primitives.values.load_kernels import LOAD
from fuseloom.dataflow.samml.presence import neutral, required_operands
from fuseloom.dataflow.samml.tile_values import TileSpec, tile_of
from fuseloom.dataflow.sim.compiled import functions, rings, rules, runs, trees, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.wording import counted


def tiles_per_visit(work: int) -> int:
    return max(visits.WORK_PER_VISIT // work, 1)


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
            t, so, status = visits.put_held(s, nd, o, t, si, so, interval)
            if status != visits.GOES_ON:
                return status
            nd.holding = 0
            continue
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        r = rings.head(s, i)
        x, v, n = s.run[r].x, s.run[r].v, s.run[r].n
        k = x & runs.KIND
        a = max(t, s.run[r].t)
        m = rings.room(s, o)
        if m == 0 and not visits.no_room(s, nd, i, o):
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        w, z = v, k | runs.SLOPE | (x & runs.STEP)
        limit = min(m, n) if interval == 1 else 1
        if k == runs.LEAF:
            several = x & runs.MEM and x & runs.STEP and limit > 1
            u = rings.slot(s, o)
            for e in range(limit if several else 1):
                w = rings.number(s, r, e)
                last = w + limit - 1 if x & runs.STEP and not several and m > 0 else w
                if w < 0 or last >= size:
                    return visits.fail(nd, a, rules.BAD_VALUE_REFERENCE)
                w += base
                if several:
                    s.ints[u + e] = w
            z = runs.LEAF | runs.SLOPE | (x & runs.STEP)
            if several:
                w, z = u, runs.LEAF | runs.SLOPE | runs.STEP | runs.MEM | runs.RING
        elif k == runs.EMPTY and loads_zero:
            w, z = nd.blank, runs.LEAF | runs.SLOPE | runs.UNUSUAL
        t, si = visits.stall(s, waits.INPUT, t, a, si)
        if m == 0:
            nd.hk, nd.hv = z & (runs.KIND | runs.UNUSUAL), w
            nd.ht = t + late if k == runs.LEAF else 0
            rings.take_one(s, i, t)
            nd.holding = 1
            continue
        t = max(a, rings.free_at(s, o))
        so += visits.waited(s, waits.ROOM, a, t)
        first, start = t + 1, t + 1
        if k == runs.LEAF:
            first, start = max(a + late, first), t + late
        rings.put(s, o, limit, first, start, z, w)
        rings.take(s, i, limit, a, t + 1, 1)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += limit * interval


@inline
def target(s: SimulationState, nd: Any, o: Int, pool: Int, size: Int, e: Int) -> Int:
    """Return the position in the floats for result ``e`` of the next run; a slot is free."""
    w = rings.slot(s, o) + e
    if not pool:
        return w
    made = trees.tile(s, pool)
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
        plan = contractions.contraction_plan(spec, setup.ints)
    else:
        plan = setup.ints.add(contractions.elementwise_plan(spec))
    more = [int(spec.contracts), plan, functions.BINARY[setup.param("fn")], blank, *sizes]
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
            t, so, status = visits.put_held(s, nd, o, t, si, so, interval)
            if status != visits.GOES_ON:
                return status
            nd.phase = _BOTH
        r, k, u = -1, nd.hk, nd.hv
        x = runs.STEP
        held = nd.phase == _SECOND
        m = 1
        a = t
        if not held:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            x, u = s.run[r].x, s.run[r].v
            k = x & runs.KIND
            a = max(t, s.run[r].t)
            m = rings.room(s, o)
            if not rings.has(s, j) or m == 0:
                if not visits.goes_ahead(s, nd, i, j):
                    if rings.has(s, j):
                        return visits.leave(nd, t, si, so, waits.ROOM, o)
                    return visits.leave(nd, t, si, so, waits.INPUT, j)
                t, si = visits.take_held(s, nd, i, r, t, a, si)
                nd.phase = _SECOND
                continue
            m = min(m, s.run[r].n) if interval == 1 else 1
        if not rings.has(s, j):
            return visits.leave(nd, t, si, so, waits.INPUT, j)
        q = rings.head(s, j)
        y, w = s.run[q].x, s.run[q].v
        kj = y & runs.KIND
        b = max(a, s.run[q].t)
        z, rule = outcome(k, u, kj, w, strict, needed)
        if rule:
            return visits.fail(nd, b, rule)
        m = min(m, s.run[q].n)
        v = u if z != runs.EMPTY else 0
        if z == runs.LEAF:
            if left_to_do == 0:
                nd.ready = 1
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            many = (k == runs.LEAF and x & runs.STEP) or (kj == runs.LEAF and y & runs.STEP)
            count = min(m, left_to_do) if many else 1
            m = count if many else m
            if pool:
                count = min(count, trees.unused(s, pool))
                if count == 0:
                    return visits.leave(nd, t, si, so, waits.DRAIN, o)
                m = count if many else m
            left_to_do -= count
            for e in range(count):
                left, right = blank, blank
                if k == runs.LEAF and held:  # a number lies in the node, which has no address
                    left = nd.hv * size_a
                    if s.ch[i].val:
                        left = nd.lone
                        s.floats[left] = nd.hf
                elif k == runs.LEAF:
                    left = trees.address(s, i, r, e, size_a)
                if kj == runs.LEAF:
                    right = trees.address(s, j, q, e, size_b)
                if held and not pool:
                    out = nd.lone
                elif held:
                    v = trees.tile(s, pool)
                    out = v * size
                else:
                    out = target(s, nd, o, pool, size, e)
                if contracts:
                    contractions.contract(s, plan, left, right, out)
                else:
                    contractions.elementwise(s, plan, fn, left, right, out)
            if not held:
                v = rings.slot(s, o)
            z |= runs.SLOPE | runs.MEM | runs.RING | (runs.STEP if many else 0)
        else:
            z |= runs.SLOPE | (x & runs.STEP if z != runs.EMPTY else 0)
        t, si = visits.stall(s, waits.INPUT, t, b, si)
        if held:
            nd.hk, nd.hv, nd.ht = z & runs.KIND, v, t + late if z & runs.KIND == runs.LEAF else 0
            nd.hf = s.floats[nd.lone]
            rings.take_one(s, j, t)
            nd.phase = _PUT
            continue
        t = max(b, rings.free_at(s, o))
        so += visits.waited(s, waits.ROOM, b, t)
        first, start = t + 1, t + 1
        if z & runs.KIND == runs.LEAF:
            first, start = max(b + late, first), t + late
        rings.take(s, i, m, a, t + 1, 1)
        rings.take(s, j, m, b, t + 1, 1)
        rings.put(s, o, m, first, start, z, v)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
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
    while rings.has(s, i):
        r = rings.head(s, i)
        if s.run[r].x & runs.KIND == runs.LEAF:
            m = min(s.run[r].n, (nd.capacity - nd.held) // size)
            if m == 0:
                return visits.leave(nd, t, si, 0, waits.DRAIN, i)
            a = max(t, s.run[r].t)
            si += visits.waited(s, waits.INPUT, t, a)
            for e in range(m):
                into = view(s.floats, nd.buffer + nd.held + e * size, size)
                rings.copy(into, view(s.floats, trees.address(s, i, r, e, size), size))
            rings.take(s, i, m, a, a + 1, 1)
            t = a + m
            nd.held += m * size
        else:
            k = s.run[r].x & runs.KIND
            a = rings.pass_by(s, i, t)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            if k == runs.DONE:
                return visits.leave(nd, t + 1, si, 0, waits.NONE, 0)
    return visits.leave(nd, t, si, 0, waits.INPUT, i)
