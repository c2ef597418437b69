"""Sparse accumulators of any order, and that of order 1 on tiles (``docs/spec/machine.md`` §6)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled import (
    flushing,
    layout,
    rings,
    rules,
    runs,
    trees,
    visits,
    waits,
)
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of
from fuseloom.dataflow.sim.compiled.trees import ROOM as TREE_ROOM

(
    _TAKE,
    _VALUE,
    _DEEPER,
    _UP,
    _NEXT,
    _ENDS,
    _DONE,
    _START,
    _START_INNER,
    _START_VALUE,
) = range(flushing.CLOSED + 1, flushing.CLOSED + 11)

# Before the flush, ``turn`` is the next stream to take a stop from, and ``stop_level`` the level
# of that stop, then of the stop outside.
_ACCUMULATOR = flushing.FLUSHED.also(
    fold="p3",  # as of :func:`trees.accumulate`
    strict="p5",  # as the reference machine has it
    dim="p7",  # coordinates are below it
    level="s1",  # inside which the next coordinate is taken; -1: the outer stream
    inner_kind="s7",  # of the token at the head of inner when the flush began
    inner_level="s8",  # its level
)


def _tree(setup: Setup) -> dict[str, float]:
    order = len(setup.node.inputs) - 2
    strict = setup.quirks.spacc_strict
    mode = (
        flushing.ROW
        if order == 1
        else flushing.REFERENCE
        if order == 2 and strict
        else flushing.GENERIC
    )
    fold = 1 if setup.param("fn", "add") == "max" else 0
    size = setup.elements
    start = {flushing.GENERIC: -1, flushing.REFERENCE: 0, flushing.ROW: 0}[mode]
    return {
        "tree": setup.stores.tree(setup.node.id, order, size),
        "order": order,
        "golden": mode,
        "fold": 2 if mode == flushing.REFERENCE else fold,
        "elements": size,
        "strict": strict,
        "pool": setup.stores.pool(size) if setup.tiled else 0,
        "dim": int(setup.param("dim", layout.FOREVER)) if mode == flushing.ROW else layout.FOREVER,
        "phase": _START if mode == flushing.ROW and not strict else _TAKE,
        "level": start,
    }


@inline
def _expected(level: Int, inside: Int, order: Int, at: Int) -> Int:
    """Level of the stop that the stream ``inside`` has for a stop of the stream ``at``."""
    return level + min(inside - at, order - 1 - at)


@inline
def _inside(s: SimulationState, r: Int, m: Int, dim: Int) -> Int:
    """Return whether the first ``m`` coordinates of a run are below the dimension."""
    good = True
    for e in range(m):
        good &= 0 <= rings.number(s, r, e) < dim
    return good


@kernel("spacc", _ACCUMULATOR, _tree)
def spacc(node: Int, table: Int) -> Int:
    """Per fiber of outer coordinates, fold values by the inner ones."""
    s = state_of(table)
    nd = node_of(s, node, _ACCUMULATOR)
    f, order, mode, fold, strict = nd.tree, nd.order, nd.golden, nd.fold, nd.strict
    ins, outs = nd.ins, nd.outs
    u, cv = s.ints[ins], s.ints[ins + order + 1]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    if s.ints[f + trees.REHASH]:
        trees.rehash(s, f)
    while True:
        m, rc, rv, a, b = 0, 0, 0, t, t  # values to accumulate: how many, runs, clocks
        if nd.phase == _TAKE and mode == flushing.GENERIC:
            c = s.ints[ins + nd.level + 1]
            if not rings.has(s, c):
                return visits.leave(nd, t, si, so, waits.INPUT, c)
            rc = rings.head(s, c)
            k, v = s.run[rc].x & runs.KIND, s.run[rc].v
            a = max(t, s.run[rc].t)
            if k == runs.LEAF and nd.level == order - 1:
                if rings.has(s, cv):
                    rv = rings.head(s, cv)
                    b = max(a, s.run[rv].t)
                    if not rings.is_leaf(s.run[rv].x & runs.KIND):
                        return visits.fail(nd, b, rules.TREE_DISAGREES)
                    m = min(s.run[rc].n, s.run[rv].n)
                elif nd.eager or rings.starved(s, c):
                    t, si = visits.stall(s, waits.INPUT, t, a, si)
                    s.ints[f + trees.KEY + order - 1] = rings.number(s, rc, 0)
                    rings.take_one(s, c, t)
                    nd.phase = _VALUE
                else:
                    return visits.leave(nd, t, si, so, waits.INPUT, cv)
            else:
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                if k == runs.LEAF:
                    if nd.level >= 0:
                        s.ints[f + trees.KEY + nd.level] = rings.number(s, rc, 0)
                    nd.level += 1
                elif k == runs.STOP:
                    nd.stop_level, nd.turn = v, nd.level + 1
                    nd.phase = _DEEPER
                elif k == runs.DONE and nd.level < 0:
                    nd.turn = 0
                    nd.phase = _ENDS
                else:
                    return visits.fail(nd, t, rules.TREE_DISAGREES)
                rings.take_one(s, c, t)
        elif nd.phase == _TAKE:  # every head at once
            for k in range(order + 2):
                c = s.ints[ins + k]
                if not rings.has(s, c):
                    return visits.leave(nd, t, si, so, waits.INPUT, c)
                a = max(a, s.run[rings.head(s, c)].t)
            b = a
            c = s.ints[ins + order]
            rc, rv = rings.head(s, c), rings.head(s, cv)
            ku, v = s.run[rings.head(s, u)].x & runs.KIND, s.run[rings.head(s, u)].v
            kc, kv = s.run[rc].x & runs.KIND, s.run[rv].x & runs.KIND
            paired = kc == runs.STOP and kv == runs.STOP and s.run[rc].v == s.run[rv].v
            nested = s.ints[ins + 1]  # of order 2: the level between
            k = s.run[rings.head(s, nested)].x & runs.KIND
            rule = rules.NONE
            if ku == runs.STOP:
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                nd.inner_kind, nd.inner_level = kc, s.run[rc].v
                flushing.begin_flush(s, nd, v)
            elif mode == flushing.REFERENCE:
                if ku == runs.DONE:
                    if k == runs.STOP:
                        rings.take_one(s, nested, a)
                    elif k == runs.DONE and kc == runs.DONE and kv == runs.DONE:
                        nd.phase = _DONE
                        nd.turn = 0
                    else:
                        rule = rules.TREE_DISAGREES
                elif k == runs.STOP:
                    rings.take_one(s, nested, a)
                    rings.take_one(s, u, a)
                elif paired:
                    rings.take_one(s, c, a)
                    rings.take_one(s, cv, a)
                    rings.take_one(s, nested, a)
                elif k == runs.LEAF and kc == runs.LEAF and kv == runs.LEAF:
                    m = min(s.run[rc].n, s.run[rv].n)
                    s.ints[f + trees.KEY] = rings.number(s, rings.head(s, nested), 0)
                else:
                    rule = rules.TREE_DISAGREES
            elif ku == runs.DONE and kc == runs.DONE:
                rule = rules.NONE if kv == runs.DONE else rules.SPACC_DISAGREES
                nd.phase = _DONE
                nd.turn = 0
            elif paired:
                if ku != runs.DONE:
                    rings.take_one(s, u, a)
                elif not strict:
                    rule = rules.SPACC_DISAGREES
                rings.take_one(s, c, a)
                rings.take_one(s, cv, a)
            elif kc == runs.LEAF and rings.is_leaf(kv) and ku != runs.DONE:
                m = min(s.run[rc].n, s.run[rv].n)
                if kv == runs.EMPTY:
                    rule = rules.EMPTY_VALUE if strict else rules.NONE
                elif not _inside(s, rc, m, nd.dim):
                    rule = rules.OUTSIDE_DIMENSION
            else:
                rule = rules.SPACC_DISAGREES
            if rule:
                return visits.fail(nd, a, rule)
            if m == 0 and nd.phase != flushing.OPEN and nd.phase != flushing.CLOSE:
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                if nd.phase == _TAKE:
                    t += 1
        elif nd.phase == _VALUE:
            if not rings.has(s, cv):
                return visits.leave(nd, t, si, so, waits.INPUT, cv)
            rc, rv = -1, rings.head(s, cv)  # the coordinate is in the tree's key already
            b = max(t, s.run[rv].t)
            if not rings.is_leaf(s.run[rv].x & runs.KIND):
                return visits.fail(nd, b, rules.TREE_DISAGREES)
            m = 1
        if m > 0:
            m = min(m, s.ints[f + TREE_ROOM] - s.ints[f + trees.COUNT])
            if m == 0:
                return visits.leave(nd, t, si, so, waits.DRAIN, cv)
            t, si = visits.stall(s, waits.INPUT, t, b, si)
            trees.accumulate(s, f, rc, cv, rv, m, fold)
            if nd.phase == _TAKE:
                rings.take(s, s.ints[ins + order], m, a, t + 1, 1)
            rings.take(s, cv, m, b, t + 1, 1)
            nd.phase = _TAKE
            t += m
            continue
        while nd.phase == _DEEPER:
            c = s.ints[ins + nd.turn + 1]
            if not rings.has(s, c):
                return visits.leave(nd, t, si, so, waits.INPUT, c)
            p = s.run[rings.head(s, c)]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            if p.x & runs.KIND != runs.STOP or p.v != _expected(
                nd.stop_level, nd.turn, order, nd.level
            ):
                return visits.fail(nd, t, rules.TREE_DISAGREES)
            rings.take_one(s, c, t)
            nd.turn += 1
            if nd.turn > order:
                t += 1
                if nd.level < 0:
                    flushing.begin_flush(s, nd, nd.stop_level)
                else:
                    nd.level -= 1
                    nd.phase = _UP
        while nd.phase == _UP:
            if nd.stop_level == 0:
                nd.phase = _TAKE
                break
            c = s.ints[ins + nd.level + 1]
            if not rings.has(s, c):
                return visits.leave(nd, t, si, so, waits.INPUT, c)
            p = s.run[rings.head(s, c)]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            if p.x & runs.KIND != runs.STOP or p.v != nd.stop_level - 1:
                return visits.fail(nd, t, rules.TREE_DISAGREES)
            rings.take_one(s, c, t)
            nd.stop_level -= 1
            if nd.level < 0:
                flushing.begin_flush(s, nd, nd.stop_level)
            else:
                nd.level -= 1
        if nd.phase < flushing.CLOSED:
            t, so, status = flushing.flush(s, nd, t, si, so)
            if status != visits.GOES_ON:
                return status
        if nd.phase == flushing.CLOSED:
            trees.clear(s, f)
            nd.phase = _TAKE
            if mode == flushing.GENERIC:
                nd.level = -1
            else:
                rings.take_one(s, u, t)
            if mode == flushing.ROW and nd.inner_kind == runs.STOP:
                nd.phase = _NEXT
            else:
                t += 1
        if nd.phase == _NEXT:  # is the inner stop at hand that of an empty outer fiber?
            if not rings.has(s, u):
                return visits.leave(nd, t, si, so, waits.INPUT, u)
            ru = rings.head(s, u)
            t, si = visits.stall(s, waits.INPUT, t, s.run[ru].t, si)
            if s.run[ru].x & runs.KIND == runs.STOP:
                if nd.inner_level == s.run[ru].v + 1:
                    rings.take_one(s, s.ints[ins + 1], t)
                    rings.take_one(s, cv, t)
                elif not strict:
                    return visits.fail(nd, t, rules.SPACC_EMPTY_FIBER)
            elif strict and nd.inner_level > 0:
                return visits.fail(nd, t, rules.SPACC_LEADING)
            t += 1
            nd.phase = _TAKE
        while nd.phase == _ENDS:
            c = s.ints[ins + nd.turn + 1]
            if not rings.has(s, c):
                return visits.leave(nd, t, si, so, waits.INPUT, c)
            p = s.run[rings.head(s, c)]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            if p.x & runs.KIND != runs.DONE:
                return visits.fail(nd, t, rules.TREE_DISAGREES)
            rings.take_one(s, c, t)
            nd.turn += 1
            if nd.turn > order:
                nd.turn = 0
                nd.phase = _DONE
        while nd.phase == _DONE:
            c = s.ints[outs + nd.turn]
            if mode == flushing.REFERENCE and nd.turn < 2:
                c = s.ints[outs + 1 - nd.turn]
            if rings.room(s, c) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, c)
            t, so = visits.put_token(s, c, t, so, runs.DONE, 0, zero)
            nd.turn += 1
            if nd.turn > order:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
        if nd.phase == _START:  # a leading empty outer fiber: its inner stop goes first
            if not rings.has(s, u):
                return visits.leave(nd, t, si, so, waits.INPUT, u)
            t, si = visits.stall(s, waits.INPUT, t, s.run[rings.head(s, u)].t, si)
            nd.phase = _START_INNER if s.run[rings.head(s, u)].x & runs.KIND == runs.STOP else _TAKE
        while nd.phase == _START_INNER or nd.phase == _START_VALUE:
            c = s.ints[ins + 1] if nd.phase == _START_INNER else cv
            if not rings.has(s, c):
                return visits.leave(nd, t, si, so, waits.INPUT, c)
            t, si = visits.stall(s, waits.INPUT, t, s.run[rings.head(s, c)].t, si)
            rings.take_one(s, c, t)
            nd.phase = _START_VALUE if nd.phase == _START_INNER else _TAKE
