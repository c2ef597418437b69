"""Arithmetic in ``float32`` (``docs/spec/machine.md`` §5.2, §5.3)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.samml.operands import neutral, required_operands
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.functions import (
    ADD,
    BINARY,
    MAX,
    MUL,
    SCALAR_ADD,
    SCALAR_MUL,
    apply,
    function,
    larger,
    numbered,
    slice_left,
    slice_right,
    slices,
)
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.kernels.loads import TIMED
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
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
    view,
)
from fuseloom.dataflow.sim.compiled.rings import (
    free_at,
    has,
    head,
    is_leaf,
    put,
    room,
    slot,
    starved,
    take,
    take_one,
    value,
)
from fuseloom.dataflow.sim.compiled.rules import (
    BOTH_EMPTY,
    NONE,
    OPERANDS_DISAGREE,
    UNARY_OF_EMPTY,
)
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of
from fuseloom.dataflow.sim.compiled.visits import (
    fail,
    hold,
    leave,
    no_room,
    put_held,
    stall,
    waited,
)
from fuseloom.dataflow.sim.timing import binary_timing, unary_timing


@inline
def outcome(k: Int, v: Int, kj: Int, w: Int, strict: Int, needed: Int) -> tuple[Int, Int]:
    """Kind of the result of two tokens, and the rule they break if they do.

    ``needed``: operands without which there is no result (1 left, 2 right).
    """
    if k == LEAF and kj == LEAF:
        return LEAF, NONE
    if not (is_leaf(k) and is_leaf(kj)):
        if k != kj or v != w:
            return k, OPERANDS_DISAGREE
        return k, NONE
    if k == EMPTY and kj == EMPTY:
        return EMPTY, BOTH_EMPTY if strict else NONE
    return EMPTY if needed & (1 if k == EMPTY else 2) else LEAF, NONE


def _operation(setup: Setup) -> dict[str, float]:
    fn = setup.param("fn")
    timing = binary_timing(setup.node, setup.machine)
    empty_is_zero = setup.quirks.binary_empty_is_zero
    needed = required_operands(setup.node)
    return {
        "latency": timing.latency,
        "interval": timing.interval,
        "operation": BINARY[fn],
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
            if not has(s, j):
                return leave(nd, t, si, so, WAIT_INPUT, j)
            q = head(s, j)
            t, si = stall(s, INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & KIND
            k, rule = outcome(nd.hk, nd.hv, kj, s.run[q].v, strict, needed)
            if rule:
                return fail(nd, t, rule)
            nd.ht = 0
            if k == LEAF:
                left = np.float32(nd.hf) if nd.hk == LEAF else absent
                right = value(s, q, 0) if kj == LEAF else absent
                nd.hf = apply(fn, left, right)
                nd.ht = t + latency
            nd.hk = k
            take_one(s, j, t)
            nd.phase = _PUT
        if nd.phase == _PUT:
            t, so, status = put_held(s, nd, o, t, si, so, interval)
            if status != GOES_ON:
                return status
            nd.phase = _BOTH
        if not has(s, i):
            return leave(nd, t, si, so, WAIT_INPUT, i)
        r = head(s, i)
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
        q = head(s, j)
        x, u = s.run[r].x, s.run[r].v
        y, w = s.run[q].x, s.run[q].v
        k, kj = x & KIND, y & KIND
        z, rule = outcome(k, u, kj, w, strict, needed)
        if rule:
            return fail(nd, max(a, s.run[q].t), rule)
        m = min(m, s.run[r].n, s.run[q].n) if interval == 1 else 1
        b = max(a, s.run[q].t)
        si += waited(s, INPUT, t, b)
        t = max(b, free_at(s, o))
        so += waited(s, ROOM, b, t)
        first, start = t + 1, t + 1
        if z == LEAF:
            first, start = max(b + latency, first), t + latency
            v = slot(s, o)
            z = LEAF | SLOPE | STEP | MEM | RING
            if m == 1:
                f[v] = apply(fn, f[u] if k == LEAF else absent, f[w] if kj == LEAF else absent)
            elif k == LEAF and x & STEP:
                if kj == LEAF and y & STEP:
                    slices(fn, view(f, v, m), view(f, u, m), view(f, w, m))
                else:
                    slice_left(fn, view(f, v, m), view(f, u, m), f[w] if kj == LEAF else absent)
            elif kj == LEAF and y & STEP:
                slice_right(fn, view(f, v, m), f[u] if k == LEAF else absent, view(f, w, m))
            else:
                f[v] = apply(fn, f[u] if k == LEAF else absent, f[w] if kj == LEAF else absent)
                z = LEAF | SLOPE | MEM | RING
        else:
            z, v = z | SLOPE | (x & STEP if z != EMPTY else 0), u if z != EMPTY else 0
        take(s, i, m, a, t + 1, 1)
        take(s, j, m, b, t + 1, 1)
        put(s, o, m, first, start, z, v)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m * interval


_UNARY = TIMED.also(
    operation="p2",  # which function
    strict="p3",  # as the reference machine: the empty token is an error
    scalar="f0",  # its constant
    holding="s0",  # a token was taken and waits for room
)


def _function_of_one(setup: Setup) -> dict[str, float]:
    number, constant = numbered(setup.param("fn"), setup.param("scalar", 0))
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
            t, so, status = put_held(s, nd, o, t, si, so, interval)
            if status != GOES_ON:
                return status
            nd.holding = 0
            continue
        if not has(s, i):
            return leave(nd, t, si, so, WAIT_INPUT, i)
        r = head(s, i)
        p = s.run[r]
        x, v = p.x, p.v
        k = x & KIND
        a = max(t, p.t)
        if k == EMPTY and strict:
            return fail(nd, a, UNARY_OF_EMPTY)
        m = room(s, o)
        if m == 0:
            if not no_room(s, nd, i, o):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, si = stall(s, INPUT, t, a, si)
            nd.hk, nd.hv, nd.ht = k, v, 0
            if k == LEAF:
                nd.hf = function(fn, f[v], c)
                nd.ht = t + latency
            take_one(s, i, t)
            nd.holding = 1
            continue
        m = min(m, p.n) if interval == 1 else 1
        si += waited(s, INPUT, t, a)
        t = max(a, free_at(s, o))
        so += waited(s, ROOM, a, t)
        first, start = t + 1, t + 1
        w, z = v, k | SLOPE | (x & STEP)
        if k == LEAF:
            first, start = max(a + latency, first), t + latency
            w, z = slot(s, o), LEAF | SLOPE | MEM | RING | (x & STEP)
            if m == 1 or not x & STEP:
                f[w] = function(fn, f[v], c)
            elif fn == MAX:
                out, given = view(f, w, m), view(f, v, m)
                for e in range(m):
                    out[e] = larger(given[e], c)
            elif fn == SCALAR_MUL:
                slice_left(MUL, view(f, w, m), view(f, v, m), c)
            elif fn == SCALAR_ADD:
                slice_left(ADD, view(f, w, m), view(f, v, m), c)
            else:
                for e in range(m):
                    f[w + e] = function(fn, f[v + e], c)
        take(s, i, m, a, t + 1, 1)
        put(s, o, m, first, start, z, w)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += m * interval
