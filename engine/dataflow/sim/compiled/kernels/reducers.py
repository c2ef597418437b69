"""Reducers (``samml.md`` §2.11)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    LEAF,
    STEP,
    STOP,
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


def register(setup: Setup) -> dict[str, float]:
    """p0: max; p1: what nothing adds up to is the register's content; p3: else it is 0.

    The register: ``f0`` total, ``s1`` whether it has a content, ``s2`` whether a value came.
    """
    is_max = setup.param("fn") == "max"
    quirks = setup.quirks
    default = quirks.max_reduce_resets_to_zero if is_max else quirks.sum_of_nothing_is_zero
    return {
        "p0": is_max,
        "p1": default,
        "p2": default or not is_max,
        "p3": bool(setup.param("empty_is_zero", False)),
        "s1": default or not is_max,
        "f0": float(np.finfo(np.float32).min) if is_max else 0.0,
    }


@inline
def _fold(s: State, nd: Any, r: Int) -> None:
    """Add the values of a run, one after the other: that order decides the rounding."""
    p = s.run[r]
    v, n, step = p.v, p.n, p.x & STEP
    total = np.float32(nd.f0)
    values = view(s.floats, v, n)
    if not nd.p0:
        if step:
            for e in range(n):
                total += values[e]
        else:
            for _ in range(n):
                total += values[0]
    else:
        first = 0
        if not nd.s1:
            total = values[0]
            first = 1
        if step:
            for e in range(first, n):
                total = values[e] if values[e] > total else total
        elif values[0] > total:
            total = values[0]
    nd.f0 = total
    nd.s1 = 1
    nd.s2 = 1


@inline
def _put_total(s: State, nd: Any, o: Int, t: Int) -> None:
    """Put the register's content, or what nothing adds up to, and begin the next fiber."""
    if nd.s1 and (nd.s2 or nd.p1):
        put_one(s, o, t + 1, LEAF, 0, np.float32(nd.f0))
    else:
        put_one(s, o, t + 1, LEAF if nd.p3 else EMPTY, 0, np.float32(0))
    nd.f0 = 0.0
    nd.s1 = nd.p2
    nd.s2 = 0


_TAKE, _PUT_TOTAL, _PUT_STOP, _PUT_DONE = range(4)


@kernel("reduce", register)
def reduce(node: Int, table: Int) -> Int:
    """Fold each innermost fiber; ``s0`` phase, ``hv`` level of the stop at hand."""
    s = state_of(table)
    nd = s.nd[node]
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.s0 == _TAKE:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            k = p.x & KIND
            a = max(t, p.t)
            if k == LEAF:
                si += a - t
                m = p.n
                _fold(s, nd, r)
                take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            if k == EMPTY:
                a = pass_by(s, i, t)
                si += a - t
                t = a
                continue
            if room(s, o) == 0 and not (nd.eager or starved(s, i)):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            si += a - t
            t = a
            nd.hv = p.v
            take_one(s, i, t)
            nd.s0 = _PUT_TOTAL if k == STOP else _PUT_DONE
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        a = max(t, free_at(s, o))
        so += a - t
        t = a
        if nd.s0 == _PUT_TOTAL:
            _put_total(s, nd, o, t)
            if nd.hv > 0:
                nd.s0 = _PUT_STOP
                continue
        elif nd.s0 == _PUT_STOP:
            put_one(s, o, t + 1, STOP, nd.hv - 1, zero)
        else:
            put_one(s, o, t + 1, DONE, 0, zero)
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += 1
        nd.s0 = _TAKE


_GUIDE, _VALUES, _CLOSING, _TOTAL, _STOP_AFTER = range(5)
# Take the guide's token; take values; take the guide's stop; put the total; put a stop or D.


@kernel("guided_reduce", register)
def guided_reduce(node: Int, table: Int) -> Int:
    """One fiber per coordinate of the guide.

    State: ``s0`` phase; ``s3``, ``s4`` kind and level of the guide's token; ``hv`` level of
    the stop of the values.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, g, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.s0 == _GUIDE or nd.s0 == _CLOSING:
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
        if nd.s0 == _VALUES:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            k, v = p.x & KIND, p.v
            a = max(t, p.t)
            in_fiber = is_leaf(nd.s3)
            if in_fiber and k == EMPTY:
                a = pass_by(s, i, t)
                si += a - t
                t = a
                continue
            si += a - t
            t = a
            if in_fiber and k == LEAF:
                m = p.n
                _fold(s, nd, r)
                take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            take_one(s, i, t)
            if in_fiber:
                if k == DONE:
                    return fail(nd, t, GUIDE_DISAGREES)
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
            a = max(t, free_at(s, o))
            so += a - t
            t = a
            if nd.s0 == _TOTAL:
                _put_total(s, nd, o, t)
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
