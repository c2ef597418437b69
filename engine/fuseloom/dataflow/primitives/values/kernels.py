"""Arithmetic in ``float32`` (``docs/spec/machine.md`` §5.2, §5.3)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.machine.timing import binary_timing, unary_timing
from fuseloom.dataflow.primitives.values.load_kernels import TIMED
from fuseloom.dataflow.samml.presence import neutral, required_operands
from fuseloom.dataflow.sim.compiled import functions, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of


@inline
def outcome(k: Int, v: Int, kj: Int, w: Int, strict: Int, needed: Int) -> tuple[Int, Int]:
    """Kind of the result of two tokens, and the rule they break if they do.

    ``needed``: operands without which there is no result (1 left, 2 right).
    """
    if k == runs.LEAF and kj == runs.LEAF:
        return runs.LEAF, rules.NONE
    if not (rings.is_leaf(k) and rings.is_leaf(kj)):
        if k != kj or v != w:
            return k, rules.OPERANDS_DISAGREE
        return k, rules.NONE
    if k == runs.EMPTY and kj == runs.EMPTY:
        return runs.EMPTY, rules.BOTH_EMPTY if strict else rules.NONE
    return runs.EMPTY if needed & (1 if k == runs.EMPTY else 2) else runs.LEAF, rules.NONE


def _operation(setup: Setup) -> dict[str, float]:
    fn = setup.param("fn")
    timing = binary_timing(setup.node, setup.machine)
    empty_is_zero = setup.quirks.binary_empty_is_zero
    needed = required_operands(setup.node)
    return {
        "latency": timing.latency,
        "interval": timing.interval,
        "operation": functions.BINARY[fn],
        "strict": empty_is_zero,
        "neutral": neutral(setup.node),
        "needed": 0 if empty_is_zero else ("a" in needed) + 2 * ("b" in needed),
    }


_BOTH, _SECOND, _PUT = range(3)
# Take both operands; only the second, as the first is held; put the result, which is held.

_BINARY = TIMED.also(
    operation="p2",  # which function
    strict="p3",  # as the reference machine: two empty operands are an error
    needed="p4",  # operands without which there is no result: 1 left, 2 right
    neutral="f0",  # what an absent operand is
    phase="s0",  # what comes next, one of those above
)


@kernel("binary", _BINARY, _operation)
def binary(node: Int, table: Int) -> Int:
    """A function of two aligned streams."""
    s = state_of(table)
    nd = node_of(s, node, _BINARY)
    i, j, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    latency, interval, fn = nd.latency, nd.interval, nd.operation
    strict, needed = nd.strict, nd.needed
    f = s.floats
    absent = np.float32(nd.neutral)
    while True:
        if nd.phase == _SECOND:
            if not rings.has(s, j):
                return visits.leave(nd, t, si, so, waits.INPUT, j)
            q = rings.head(s, j)
            t, si = visits.stall(s, waits.INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & runs.KIND
            k, rule = outcome(nd.hk, nd.hv, kj, s.run[q].v, strict, needed)
            if rule:
                return visits.fail(nd, t, rule)
            nd.ht = 0
            if k == runs.LEAF:
                left = np.float32(nd.hf) if nd.hk == runs.LEAF else absent
                right = rings.value(s, q, 0) if kj == runs.LEAF else absent
                nd.hf = functions.apply(fn, left, right)
                nd.ht = t + latency
            nd.hk = k
            rings.take_one(s, j, t)
            nd.phase = _PUT
        if nd.phase == _PUT:
            t, so, status = visits.put_held(s, nd, o, t, si, so, interval)
            if status != visits.GOES_ON:
                return status
            nd.phase = _BOTH
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        r = rings.head(s, i)
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
        q = rings.head(s, j)
        x, u = s.run[r].x, s.run[r].v
        y, w = s.run[q].x, s.run[q].v
        k, kj = x & runs.KIND, y & runs.KIND
        z, rule = outcome(k, u, kj, w, strict, needed)
        if rule:
            return visits.fail(nd, max(a, s.run[q].t), rule)
        m = min(m, s.run[r].n, s.run[q].n) if interval == 1 else 1
        b = max(a, s.run[q].t)
        t, si, so = visits.begin(s, o, t, b, si, so)
        first, start = t + 1, t + 1
        if z == runs.LEAF:
            first, start = max(b + latency, first), t + latency
            v = rings.slot(s, o)
            z = runs.LEAF | runs.SLOPE | runs.STEP | runs.MEM | runs.RING
            left = f[u] if k == runs.LEAF else absent
            right = f[w] if kj == runs.LEAF else absent
            if m == 1:
                f[v] = functions.apply(fn, left, right)
            elif k == runs.LEAF and x & runs.STEP:
                if kj == runs.LEAF and y & runs.STEP:
                    functions.slices(fn, view(f, v, m), view(f, u, m), view(f, w, m))
                else:
                    functions.slice_left(fn, view(f, v, m), view(f, u, m), right)
            elif kj == runs.LEAF and y & runs.STEP:
                functions.slice_right(fn, view(f, v, m), left, view(f, w, m))
            else:
                f[v] = functions.apply(fn, left, right)
                z = runs.LEAF | runs.SLOPE | runs.MEM | runs.RING
        else:
            v = u if z != runs.EMPTY else 0
            z |= runs.SLOPE | (x & runs.STEP if z != runs.EMPTY else 0)
        rings.take(s, i, m, a, t + 1, 1)
        rings.take(s, j, m, b, t + 1, 1)
        rings.put(s, o, m, first, start, z, v)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += m * interval


_UNARY = TIMED.also(
    operation="p2",  # which function
    strict="p3",  # as the reference machine: the empty token is an error
    scalar="f0",  # its constant
    holding="s0",  # a token was taken and waits for room
)


def _function_of_one(setup: Setup) -> dict[str, float]:
    number, constant = functions.numbered(setup.param("fn"), setup.param("scalar", 0))
    timing = unary_timing(setup.node, setup.machine)
    return {
        "latency": timing.latency,
        "interval": timing.interval,
        "operation": number,
        "strict": setup.quirks.unary_empty_panics,
        "scalar": constant,
    }


@kernel("unary", _UNARY, _function_of_one)
def unary(node: Int, table: Int) -> Int:
    """A function of each value."""
    s = state_of(table)
    nd = node_of(s, node, _UNARY)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    latency, interval, fn = nd.latency, nd.interval, nd.operation
    strict, c = nd.strict, np.float32(nd.scalar)
    f = s.floats
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
        if k == runs.EMPTY and strict:
            return visits.fail(nd, a, rules.UNARY_OF_EMPTY)
        m = rings.room(s, o)
        if m == 0:
            if not visits.no_room(s, nd, i, o):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            nd.hk, nd.hv, nd.ht = k, v, 0
            if k == runs.LEAF:
                nd.hf = functions.function(fn, f[v], c)
                nd.ht = t + latency
            rings.take_one(s, i, t)
            nd.holding = 1
            continue
        m = min(m, p.n) if interval == 1 else 1
        t, si, so = visits.begin(s, o, t, a, si, so)
        first, start = t + 1, t + 1
        w, z = v, k | runs.SLOPE | (x & runs.STEP)
        if k == runs.LEAF:
            first, start = max(a + latency, first), t + latency
            w, z = rings.slot(s, o), runs.LEAF | runs.SLOPE | runs.MEM | runs.RING | (x & runs.STEP)
            if m == 1 or not x & runs.STEP:
                f[w] = functions.function(fn, f[v], c)
            elif fn == functions.MAX:
                out, given = view(f, w, m), view(f, v, m)
                for e in range(m):
                    out[e] = functions.larger(given[e], c)
            elif fn == functions.SCALAR_MUL:
                functions.slice_left(functions.MUL, view(f, w, m), view(f, v, m), c)
            elif fn == functions.SCALAR_ADD:
                functions.slice_left(functions.ADD, view(f, w, m), view(f, v, m), c)
            else:
                for e in range(m):
                    f[w + e] = functions.function(fn, f[v + e], c)
        rings.take(s, i, m, a, t + 1, 1)
        rings.put(s, o, m, first, start, z, w)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += m * interval
