"""Reducers (``docs/spec/machine.md`` §6.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.functions import larger
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    INPUT,
    KIND,
    LEAF,
    ROOM,
    STEP,
    STOP,
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
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import fail, leave, stall, waited

REGISTER = slots(
    is_max="p0",  # values are not added, the largest is kept
    default="p1",  # what nothing adds up to is what the register begins with;
    empty_is_zero="p3",  # else it is 0, or else empty
    starts_filled="p2",  # the register has a content when a fiber begins
    phase="s0",  # what comes next, one of those below
    filled="s1",  # the register has a content
    added="s2",  # a value came
)
"""The slots that reducers of numbers and of tiles share."""

_REDUCER = REGISTER.also(
    total="f0",  # the register's content
    guide_kind="s3",  # of the guide's token
    guide_level="s4",  # its level
)


def register(setup: Setup) -> dict[str, float]:
    """The register as it begins."""
    is_max = setup.param("fn") == "max"
    quirks = setup.quirks
    default = quirks.max_reduce_resets_to_zero if is_max else quirks.sum_of_nothing_is_zero
    return {
        "is_max": is_max,
        "default": default,
        "starts_filled": default or not is_max,
        "empty_is_zero": bool(setup.param("empty_is_zero", False)),
        "filled": default or not is_max,
        "total": float(np.finfo(np.float32).min) if is_max else 0.0,
    }


@inline
def _fold(s: SimulationState, nd: Any, r: Int) -> None:
    """Add the values of a run, one after the other: that order decides the rounding."""
    p = s.run[r]
    v, n, step = p.v, p.n, p.x & STEP
    total = np.float32(nd.total)
    values = view(s.floats, v, n)
    if not nd.is_max:
        if step:
            for e in range(n):
                total += values[e]
        else:
            for _ in range(n):
                total += values[0]
    else:
        first = 0
        if not nd.filled:
            total = values[0]
            first = 1
        if step:
            for e in range(first, n):
                total = larger(total, values[e])
        else:
            total = larger(total, values[0])
    nd.total = total
    nd.filled = 1
    nd.added = 1


@inline
def _put_total(s: SimulationState, nd: Any, o: Int, t: Int) -> None:
    """Put the register's content, or what nothing adds up to, and begin the next fiber."""
    if nd.filled and (nd.added or nd.default):
        put_one(s, o, t + 1, LEAF, 0, np.float32(nd.total))
    else:
        put_one(s, o, t + 1, LEAF if nd.empty_is_zero else EMPTY, 0, np.float32(0))
    nd.total = 0.0
    nd.filled = nd.starts_filled
    nd.added = 0


_TAKE, _PUT_TOTAL, _PUT_STOP, _PUT_DONE = range(4)


@kernel("reduce", _REDUCER, register)
def reduce(node: Int, table: Int) -> Int:
    """Fold each innermost fiber; ``hv`` is the level of the stop at hand."""
    s = state_of(table)
    nd = node_of(s, node, _REDUCER)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.phase == _TAKE:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            k = p.x & KIND
            a = max(t, p.t)
            if k == LEAF:
                si += waited(s, INPUT, t, a)
                m = p.n
                _fold(s, nd, r)
                take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            if k == EMPTY:
                a = pass_by(s, i, t)
                t, si = stall(s, INPUT, t, a, si)
                continue
            if room(s, o) == 0 and not (nd.eager or starved(s, i)):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, si = stall(s, INPUT, t, a, si)
            nd.hv = p.v
            take_one(s, i, t)
            nd.phase = _PUT_TOTAL if k == STOP else _PUT_DONE
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        t, so = stall(s, ROOM, t, free_at(s, o), so)
        if nd.phase == _PUT_TOTAL:
            _put_total(s, nd, o, t)
            if nd.hv > 0:
                nd.phase = _PUT_STOP
                continue
        elif nd.phase == _PUT_STOP:
            put_one(s, o, t + 1, STOP, nd.hv - 1, zero)
        else:
            put_one(s, o, t + 1, DONE, 0, zero)
            return leave(nd, t, si, so, WAIT_NONE, 0)
        t += 1
        nd.phase = _TAKE


_GUIDE, _VALUES, _CLOSING, _TOTAL, _STOP_AFTER = range(5)
# Take the guide's token; take values; take the guide's stop; put the total; put a stop or D.


@kernel("guided_reduce", _REDUCER, register)
def guided_reduce(node: Int, table: Int) -> Int:
    """One fiber per coordinate of the guide; ``hv`` is the level of the stop of the values."""
    s = state_of(table)
    nd = node_of(s, node, _REDUCER)
    i, g, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.phase == _GUIDE or nd.phase == _CLOSING:
            if not has(s, g):
                return leave(nd, t, si, so, WAIT_INPUT, g)
            p = s.run[head(s, g)]
            a = max(t, p.t)
            si += waited(s, INPUT, t, a)
            t = a
            k, v = p.x & KIND, p.v
            take_one(s, g, t)
            if nd.phase == _CLOSING:
                if k != STOP or v != nd.hv - 1:
                    return fail(nd, t, GUIDE_DISAGREES)
                nd.phase = _TOTAL
            else:
                nd.guide_kind, nd.guide_level = k, v
                nd.phase = _VALUES
        if nd.phase == _VALUES:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            k, v = p.x & KIND, p.v
            a = max(t, p.t)
            in_fiber = is_leaf(nd.guide_kind)
            if in_fiber and k == EMPTY:
                a = pass_by(s, i, t)
                si += waited(s, INPUT, t, a)
                t = a
                continue
            si += waited(s, INPUT, t, a)
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
            a = max(t, free_at(s, o))
            so += waited(s, ROOM, t, a)
            t = a
            if nd.phase == _TOTAL:
                _put_total(s, nd, o, t)
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
