"""Reducers (``docs/spec/machine.md`` §6.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import functions, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import FOREVER, Int, SimulationState, state_of, view
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
    end_kind="s3",  # of the guide's token, or of what is to be put behind the total
    end_level="s4",  # its level
)
"""The slots that reducers of numbers and of tiles share."""

_REDUCER = REGISTER.also(
    total="f0",  # the register's content
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


_GUIDE, _VALUES, _CLOSING, _TOTAL, _END = range(5)
# Take the guide's token; take values; take the guide's stop; put the total; put a stop or D.


def reducer(guided: Any, most: Any, fold: Any, lacks_space: Any, put_total: Any) -> Any:
    """The visit of a kernel that folds each innermost fiber, or one per coordinate of a guide.

    ``hv`` is the level of the stop of the values.

    Parameters
    ----------
    guided : helper
        ``guided(nd)``: whether the second input is a guide.
    most : helper
        ``most(nd)``: how many values one visit may fold.
    fold : helper
        ``fold(s, nd, i, r, m)``: adds the first ``m`` values of run ``r`` of channel ``i``.
    lacks_space : helper
        ``lacks_space(s, nd)``: whether nothing can hold the total that is to be put.
    put_total : helper
        ``put_total(s, nd, o, a, t)``: puts the register's content, or what nothing adds up to, at
        clock ``t``, and empties it; the wait for room began at ``a``.
    """

    @inline
    def visit(s: SimulationState, nd: Any) -> Int:
        i, o, has_guide, left = s.ints[nd.ins], s.ints[nd.outs], guided(nd), most(nd)
        t, si, so = nd.clk, nd.si, nd.so
        while True:
            if has_guide and (nd.phase == _GUIDE or nd.phase == _CLOSING):
                g = s.ints[nd.ins + 1]
                if not rings.has(s, g):
                    return visits.leave(nd, t, si, so, waits.INPUT, g)
                p = s.run[rings.head(s, g)]
                t, si = visits.stall(s, waits.INPUT, t, p.t, si)
                k, v = p.x & runs.KIND, p.v
                rings.take_one(s, g, t)
                if nd.phase == _GUIDE:
                    nd.end_kind, nd.end_level = k, v
                    nd.phase = _VALUES
                elif k != runs.STOP or v != nd.hv - 1:
                    return visits.fail(nd, t, rules.GUIDE_DISAGREES)
                else:
                    nd.phase = _TOTAL
            elif nd.phase == _GUIDE:
                nd.phase = _VALUES
            while nd.phase == _VALUES:
                if not rings.has(s, i):
                    return visits.leave(nd, t, si, so, waits.INPUT, i)
                r = rings.head(s, i)
                k, v, m = s.run[r].x & runs.KIND, s.run[r].v, min(s.run[r].n, left)
                a = max(t, s.run[r].t)
                in_fiber = not has_guide or rings.is_leaf(nd.end_kind)
                if in_fiber and k == runs.LEAF:
                    if m == 0:
                        nd.ready = 1
                        return visits.leave(nd, t, si, so, waits.INPUT, i)
                    left -= m
                    si += visits.waited(s, waits.INPUT, t, a)
                    fold(s, nd, i, r, m)
                    rings.take(s, i, m, a, a + 1, 1)
                    t = a + m
                    continue
                if in_fiber and k == runs.EMPTY:
                    a = rings.pass_by(s, i, t)
                    t, si = visits.stall(s, waits.INPUT, t, a, si)
                    continue
                if (
                    not has_guide
                    and rings.room(s, o) == 0
                    and not (nd.eager or rings.starved(s, i))
                ):
                    return visits.leave(nd, t, si, so, waits.ROOM, o)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                rings.take_one(s, i, t)
                if in_fiber and k == runs.STOP:
                    nd.hv = v
                    nd.phase = _CLOSING if has_guide and v > 0 else _TOTAL
                    continue
                if not has_guide:
                    nd.end_kind, nd.end_level = k, 0
                elif k != nd.end_kind or (k == runs.STOP and v != nd.end_level + 1):
                    return visits.fail(nd, t, rules.GUIDE_DISAGREES)
                nd.phase = _END
            if nd.phase == _CLOSING:
                continue
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            if nd.phase == _TOTAL:
                if lacks_space(s, nd):
                    return visits.leave(nd, t, si, so, waits.DRAIN, o)
                a = t
                t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o), so)
                put_total(s, nd, o, a, t)
                nd.filled, nd.added = nd.starts_filled, 0
                if nd.hv > 0:
                    nd.end_kind, nd.end_level = runs.STOP, nd.hv - 1
                    nd.phase = _END
                    continue
            else:
                kind = nd.end_kind
                t, so = visits.put_token(s, o, t, so, kind, nd.end_level, np.float32(0))
                if kind == runs.DONE:
                    return visits.leave(nd, t, si, so, waits.NONE, 0)
            t += 1
            nd.phase = _GUIDE

    return visit


@inline
def _has_guide(nd: Any) -> Int:
    return True


@inline
def _has_none(nd: Any) -> Int:
    return False


@inline
def _any_number(nd: Any) -> Int:
    return FOREVER


@inline
def _fold(s: SimulationState, nd: Any, i: Int, r: Int, n: Int) -> None:
    """Add the values of a run, one after the other: that order decides the rounding."""
    v, step = s.run[r].v, s.run[r].x & runs.STEP
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
def _lacks_nothing(s: SimulationState, nd: Any) -> Int:
    return False


@inline
def _put_total(s: SimulationState, nd: Any, o: Int, a: Int, t: Int) -> None:
    if nd.filled and (nd.added or nd.default):
        rings.put_one(s, o, t + 1, runs.LEAF, 0, np.float32(nd.total))
    else:
        rings.put_one(s, o, t + 1, runs.LEAF if nd.empty_is_zero else runs.EMPTY, 0, np.float32(0))
    nd.total = 0.0


_reduce = reducer(_has_none, _any_number, _fold, _lacks_nothing, _put_total)
_guided_reduce = reducer(_has_guide, _any_number, _fold, _lacks_nothing, _put_total)


@kernel("reduce", _REDUCER, register)
def reduce(node: Int, table: Int) -> Int:
    """Fold each innermost fiber."""
    s = state_of(table)
    return _reduce(s, node_of(s, node, _REDUCER))


@kernel("guided_reduce", _REDUCER, register)
def guided_reduce(node: Int, table: Int) -> Int:
    """One fiber per coordinate of the guide."""
    s = state_of(table)
    return _guided_reduce(s, node_of(s, node, _REDUCER))
