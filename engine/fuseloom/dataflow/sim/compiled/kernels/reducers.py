"""Reducers (``docs/spec/machine.md`` §6.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import functions, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

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
    v, n, step = p.v, p.n, p.x & runs.STEP
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
                total = functions.larger(total, values[e])
        else:
            total = functions.larger(total, values[0])
    nd.total = total
    nd.filled = 1
    nd.added = 1


@inline
def _put_total(s: SimulationState, nd: Any, o: Int, t: Int) -> None:
    """Put the register's content, or what nothing adds up to, and begin the next fiber."""
    if nd.filled and (nd.added or nd.default):
        rings.put_one(s, o, t + 1, runs.LEAF, 0, np.float32(nd.total))
    else:
        rings.put_one(s, o, t + 1, runs.LEAF if nd.empty_is_zero else runs.EMPTY, 0, np.float32(0))
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
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            p = s.run[r]
            k = p.x & runs.KIND
            a = max(t, p.t)
            if k == runs.LEAF:
                si += visits.waited(s, waits.INPUT, t, a)
                m = p.n
                _fold(s, nd, r)
                rings.take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            if k == runs.EMPTY:
                a = rings.pass_by(s, i, t)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                continue
            if rings.room(s, o) == 0 and not (nd.eager or rings.starved(s, i)):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            nd.hv = p.v
            rings.take_one(s, i, t)
            nd.phase = _PUT_TOTAL if k == runs.STOP else _PUT_DONE
        if rings.room(s, o) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o), so)
        if nd.phase == _PUT_TOTAL:
            _put_total(s, nd, o, t)
            if nd.hv > 0:
                nd.phase = _PUT_STOP
                continue
        elif nd.phase == _PUT_STOP:
            rings.put_one(s, o, t + 1, runs.STOP, nd.hv - 1, zero)
        else:
            rings.put_one(s, o, t + 1, runs.DONE, 0, zero)
            return visits.leave(nd, t, si, so, waits.NONE, 0)
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
            if not rings.has(s, g):
                return visits.leave(nd, t, si, so, waits.INPUT, g)
            p = s.run[rings.head(s, g)]
            a = max(t, p.t)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            k, v = p.x & runs.KIND, p.v
            rings.take_one(s, g, t)
            if nd.phase == _CLOSING:
                if k != runs.STOP or v != nd.hv - 1:
                    return visits.fail(nd, t, rules.GUIDE_DISAGREES)
                nd.phase = _TOTAL
            else:
                nd.guide_kind, nd.guide_level = k, v
                nd.phase = _VALUES
        if nd.phase == _VALUES:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            p = s.run[r]
            k, v = p.x & runs.KIND, p.v
            a = max(t, p.t)
            in_fiber = rings.is_leaf(nd.guide_kind)
            if in_fiber and k == runs.EMPTY:
                a = rings.pass_by(s, i, t)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                continue
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            if in_fiber and k == runs.LEAF:
                m = p.n
                _fold(s, nd, r)
                rings.take(s, i, m, a, a + 1, 1)
                t = a + m
                continue
            rings.take_one(s, i, t)
            if in_fiber:
                if k == runs.DONE:
                    return visits.fail(nd, t, rules.GUIDE_DISAGREES)
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
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o), so)
            if nd.phase == _TOTAL:
                _put_total(s, nd, o, t)
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
