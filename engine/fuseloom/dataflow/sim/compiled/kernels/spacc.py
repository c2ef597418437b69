"""Sparse accumulators of any order, and that of order 1 on tiles (``docs/spec/machine.md`` §6)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled import trees
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.flushing import (
    CLOSE,
    CLOSED,
    FLUSHED,
    GENERIC,
    OPEN,
    REFERENCE,
    ROW,
    begin_flush,
    flush,
)
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    FOREVER,
    GOES_ON,
    INPUT,
    KIND,
    LEAF,
    ROOM,
    STOP,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    SimulationState,
    state_of,
)
from fuseloom.dataflow.sim.compiled.rings import (
    free_at,
    has,
    head,
    is_leaf,
    number,
    put_one,
    room,
    starved,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import (
    EMPTY_VALUE,
    NONE,
    OUTSIDE_DIMENSION,
    SPACC_DISAGREES,
    SPACC_EMPTY_FIBER,
    SPACC_LEADING,
    TREE_DISAGREES,
)
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of
from fuseloom.dataflow.sim.compiled.trees import COUNT, KEY, REHASH
from fuseloom.dataflow.sim.compiled.trees import ROOM as TREE_ROOM
from fuseloom.dataflow.sim.compiled.visits import fail, leave, stall

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
) = range(CLOSED + 1, CLOSED + 11)

# Before the flush, ``turn`` is the next stream to take a stop from, and ``stop_level`` the level
# of that stop, then of the stop outside.
_ACCUMULATOR = FLUSHED.also(
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
    mode = ROW if order == 1 else REFERENCE if order == 2 and strict else GENERIC
    fold = 1 if setup.param("fn", "add") == "max" else 0
    size = setup.elements
    start = {GENERIC: -1, REFERENCE: 0, ROW: 0}[mode]
    return {
        "tree": setup.stores.tree(setup.node.id, order, size),
        "order": order,
        "golden": mode,
        "fold": 2 if mode == REFERENCE else fold,
        "elements": size,
        "strict": strict,
        "pool": setup.stores.pool(size) if setup.tiled else 0,
        "dim": int(setup.param("dim", FOREVER)) if mode == ROW else FOREVER,
        "phase": _START if mode == ROW and not strict else _TAKE,
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
        good &= 0 <= number(s, r, e) < dim
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
    if s.ints[f + REHASH]:
        trees.rehash(s, f)
    while True:
        m, rc, rv, a, b = 0, 0, 0, t, t  # values to accumulate: how many, runs, clocks
        if nd.phase == _TAKE and mode == GENERIC:
            c = s.ints[ins + nd.level + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            rc = head(s, c)
            k, v = s.run[rc].x & KIND, s.run[rc].v
            a = max(t, s.run[rc].t)
            if k == LEAF and nd.level == order - 1:
                if has(s, cv):
                    rv = head(s, cv)
                    b = max(a, s.run[rv].t)
                    if not is_leaf(s.run[rv].x & KIND):
                        return fail(nd, b, TREE_DISAGREES)
                    m = min(s.run[rc].n, s.run[rv].n)
                elif nd.eager or starved(s, c):
                    t, si = stall(s, INPUT, t, a, si)
                    s.ints[f + KEY + order - 1] = number(s, rc, 0)
                    take_one(s, c, t)
                    nd.phase = _VALUE
                else:
                    return leave(nd, t, si, so, WAIT_INPUT, cv)
            else:
                t, si = stall(s, INPUT, t, a, si)
                if k == LEAF:
                    if nd.level >= 0:
                        s.ints[f + KEY + nd.level] = number(s, rc, 0)
                    nd.level += 1
                elif k == STOP:
                    nd.stop_level, nd.turn = v, nd.level + 1
                    nd.phase = _DEEPER
                elif k == DONE and nd.level < 0:
                    nd.turn = 0
                    nd.phase = _ENDS
                else:
                    return fail(nd, t, TREE_DISAGREES)
                take_one(s, c, t)
        elif nd.phase == _TAKE:  # every head at once
            for k in range(order + 2):
                c = s.ints[ins + k]
                if not has(s, c):
                    return leave(nd, t, si, so, WAIT_INPUT, c)
                a = max(a, s.run[head(s, c)].t)
            b = a
            c = s.ints[ins + order]
            rc, rv = head(s, c), head(s, cv)
            ku, v = s.run[head(s, u)].x & KIND, s.run[head(s, u)].v
            kc, kv = s.run[rc].x & KIND, s.run[rv].x & KIND
            paired = kc == STOP and kv == STOP and s.run[rc].v == s.run[rv].v
            nested = s.ints[ins + 1]  # of order 2: the level between
            k = s.run[head(s, nested)].x & KIND
            rule = NONE
            if ku == STOP:
                t, si = stall(s, INPUT, t, a, si)
                nd.inner_kind, nd.inner_level = kc, s.run[rc].v
                begin_flush(s, nd, v)
            elif mode == REFERENCE:
                if ku == DONE:
                    if k == STOP:
                        take_one(s, nested, a)
                    elif k == DONE and kc == DONE and kv == DONE:
                        nd.phase = _DONE
                        nd.turn = 0
                    else:
                        rule = TREE_DISAGREES
                elif k == STOP:
                    take_one(s, nested, a)
                    take_one(s, u, a)
                elif paired:
                    take_one(s, c, a)
                    take_one(s, cv, a)
                    take_one(s, nested, a)
                elif k == LEAF and kc == LEAF and kv == LEAF:
                    m = min(s.run[rc].n, s.run[rv].n)
                    s.ints[f + KEY] = number(s, head(s, nested), 0)
                else:
                    rule = TREE_DISAGREES
            elif ku == DONE and kc == DONE:
                rule = NONE if kv == DONE else SPACC_DISAGREES
                nd.phase = _DONE
                nd.turn = 0
            elif paired:
                if ku != DONE:
                    take_one(s, u, a)
                elif not strict:
                    rule = SPACC_DISAGREES
                take_one(s, c, a)
                take_one(s, cv, a)
            elif kc == LEAF and is_leaf(kv) and ku != DONE:
                m = min(s.run[rc].n, s.run[rv].n)
                if kv == EMPTY:
                    rule = EMPTY_VALUE if strict else NONE
                elif not _inside(s, rc, m, nd.dim):
                    rule = OUTSIDE_DIMENSION
            else:
                rule = SPACC_DISAGREES
            if rule:
                return fail(nd, a, rule)
            if m == 0 and nd.phase != OPEN and nd.phase != CLOSE:
                t, si = stall(s, INPUT, t, a, si)
                if nd.phase == _TAKE:
                    t += 1
        elif nd.phase == _VALUE:
            if not has(s, cv):
                return leave(nd, t, si, so, WAIT_INPUT, cv)
            rc, rv = -1, head(s, cv)  # the coordinate is in the tree's key already
            b = max(t, s.run[rv].t)
            if not is_leaf(s.run[rv].x & KIND):
                return fail(nd, b, TREE_DISAGREES)
            m = 1
        if m > 0:
            m = min(m, s.ints[f + TREE_ROOM] - s.ints[f + COUNT])
            if m == 0:
                return leave(nd, t, si, so, WAIT_DRAIN, cv)
            t, si = stall(s, INPUT, t, b, si)
            trees.accumulate(s, f, rc, cv, rv, m, fold)
            if nd.phase == _TAKE:
                take(s, s.ints[ins + order], m, a, t + 1, 1)
            take(s, cv, m, b, t + 1, 1)
            nd.phase = _TAKE
            t += m
            continue
        while nd.phase == _DEEPER:
            c = s.ints[ins + nd.turn + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            p = s.run[head(s, c)]
            t, si = stall(s, INPUT, t, p.t, si)
            if p.x & KIND != STOP or p.v != _expected(nd.stop_level, nd.turn, order, nd.level):
                return fail(nd, t, TREE_DISAGREES)
            take_one(s, c, t)
            nd.turn += 1
            if nd.turn > order:
                t += 1
                if nd.level < 0:
                    begin_flush(s, nd, nd.stop_level)
                else:
                    nd.level -= 1
                    nd.phase = _UP
        while nd.phase == _UP:
            if nd.stop_level == 0:
                nd.phase = _TAKE
                break
            c = s.ints[ins + nd.level + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            p = s.run[head(s, c)]
            t, si = stall(s, INPUT, t, p.t, si)
            if p.x & KIND != STOP or p.v != nd.stop_level - 1:
                return fail(nd, t, TREE_DISAGREES)
            take_one(s, c, t)
            nd.stop_level -= 1
            if nd.level < 0:
                begin_flush(s, nd, nd.stop_level)
            else:
                nd.level -= 1
        if nd.phase < CLOSED:
            t, so, status = flush(s, nd, t, si, so)
            if status != GOES_ON:
                return status
        if nd.phase == CLOSED:
            trees.clear(s, f)
            nd.phase = _TAKE
            if mode == GENERIC:
                nd.level = -1
            else:
                take_one(s, u, t)
            if mode == ROW and nd.inner_kind == STOP:
                nd.phase = _NEXT
            else:
                t += 1
        if nd.phase == _NEXT:  # is the inner stop at hand that of an empty outer fiber?
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            ru = head(s, u)
            t, si = stall(s, INPUT, t, s.run[ru].t, si)
            if s.run[ru].x & KIND == STOP:
                if nd.inner_level == s.run[ru].v + 1:
                    take_one(s, s.ints[ins + 1], t)
                    take_one(s, cv, t)
                elif not strict:
                    return fail(nd, t, SPACC_EMPTY_FIBER)
            elif strict and nd.inner_level > 0:
                return fail(nd, t, SPACC_LEADING)
            t += 1
            nd.phase = _TAKE
        while nd.phase == _ENDS:
            c = s.ints[ins + nd.turn + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            p = s.run[head(s, c)]
            t, si = stall(s, INPUT, t, p.t, si)
            if p.x & KIND != DONE:
                return fail(nd, t, TREE_DISAGREES)
            take_one(s, c, t)
            nd.turn += 1
            if nd.turn > order:
                nd.turn = 0
                nd.phase = _DONE
        while nd.phase == _DONE:
            c = s.ints[outs + nd.turn]
            if mode == REFERENCE and nd.turn < 2:
                c = s.ints[outs + 1 - nd.turn]
            if room(s, c) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, c)
            t, so = stall(s, ROOM, t, free_at(s, c), so)
            put_one(s, c, t + 1, DONE, 0, zero)
            nd.turn += 1
            if nd.turn > order:
                return leave(nd, t, si, so, WAIT_NONE, 0)
        if nd.phase == _START:  # a leading empty outer fiber: its inner stop goes first
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            t, si = stall(s, INPUT, t, s.run[head(s, u)].t, si)
            nd.phase = _START_INNER if s.run[head(s, u)].x & KIND == STOP else _TAKE
        while nd.phase == _START_INNER or nd.phase == _START_VALUE:
            c = s.ints[ins + 1] if nd.phase == _START_INNER else cv
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            t, si = stall(s, INPUT, t, s.run[head(s, c)].t, si)
            take_one(s, c, t)
            nd.phase = _START_VALUE if nd.phase == _START_INNER else _TAKE
