"""Sparse accumulators of any order, and that of order 1 on tiles (``samml.md`` §2.12, §2.13)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.sim.cache import kernel
from engine.sim.inlining import inline
from engine.sim.kernels import trees
from engine.sim.kernels.rules import (
    EMPTY_VALUE,
    NONE,
    OUTSIDE_DIMENSION,
    SPACC_DISAGREES,
    SPACC_EMPTY_FIBER,
    SPACC_LEADING,
    TREE_DISAGREES,
)
from engine.sim.kernels.setup import Setup
from engine.sim.kernels.trees import COUNT, KEY, KEYS, ORDER, REHASH, ROOM, SUMS
from engine.sim.layout import (
    DONE,
    EMPTY,
    FOREVER,
    KIND,
    LEAF,
    MEM,
    RING,
    STEP,
    STOP,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    State,
    state_of,
)
from engine.sim.runs import (
    even,
    fail,
    free_at,
    has,
    head,
    is_leaf,
    leave,
    number,
    put,
    put_one,
    rising,
    room,
    slot,
    starved,
    take,
    take_one,
)

GENERIC, REFERENCE, ROW = range(3)
"""Which twin it follows: that of any order, the reference's of order 2, that of order 1."""

# Parameters: p0 tree, p1 order, p2 which twin, p3 fold, p4 numbers in a value, p5 strict,
# p6 free tiles, p7 dimension.  State: s0 phase; s1 level inside which the next coordinate is
# taken (-1: the outer stream); s2 next stream to take a stop from; s3 level of that stop, of the
# stop outside, then of the stop that closes the tree; s4 next entry to put; s5 its level at hand;
# s6 the first level at which it differs from the entry before; s7, s8 kind and level at the head
# of inner.
(
    _TAKE,
    _VALUE,
    _DEEPER,
    _UP,
    _FLUSH,
    _CLOSE,
    _CLOSE_SECOND,
    _OPEN,
    _PAIR,
    _PAIR_SECOND,
    _CLOSED,
    _NEXT,
    _ENDS,
    _DONE,
    _START,
    _START_INNER,
    _START_VALUE,
) = range(17)


def _tree(setup: Setup) -> dict[str, float]:
    order = len(setup.node.inputs) - 2
    strict = setup.quirks.spacc_strict
    mode = ROW if order == 1 else REFERENCE if order == 2 and strict else GENERIC
    fold = 1 if setup.param("fn", "add") == "max" else 0
    size = setup.elements
    start = {GENERIC: -1, REFERENCE: 0, ROW: 0}[mode]
    return {
        "p0": setup.stores.tree(setup.node.id, order, size),
        "p1": order,
        "p2": mode,
        "p3": 2 if mode == REFERENCE else fold,
        "p4": size,
        "p5": strict,
        "p6": setup.stores.pool(size) if setup.tiled else 0,
        "p7": int(setup.param("dim", FOREVER)) if mode == ROW else FOREVER,
        "s0": _START if mode == ROW and not strict else _TAKE,
        "s1": start,
    }


@inline
def _expected(level: Int, inside: Int, order: Int, at: Int) -> Int:
    """Level of the stop that the stream ``inside`` has for a stop of the stream ``at``."""
    return level + min(inside - at, order - 1 - at)


@inline
def _inside(s: State, r: Int, m: Int, dim: Int) -> Int:
    """Whether the first ``m`` coordinates of a run are below the dimension."""
    good = True
    for e in range(m):
        good &= 0 <= number(s, r, e) < dim
    return good


@inline
def _begin_flush(s: State, nd: Any, closing: Int) -> None:
    trees.sort(s, nd.p0)
    nd.s3 = closing
    nd.s4, nd.s6 = 0, 0
    nd.s5 = 0
    nd.s0 = _OPEN
    if s.ints[nd.p0 + COUNT] == 0:
        nd.s0 = _CLOSE
        nd.s6 = -1
        nd.s5 = 0 if nd.p2 == GENERIC else nd.p1 - 1


@inline
def _put_pairs(s: State, nd: Any, oc: Int, ov: Int, m: Int, t1: Int, t2: Int) -> None:
    """Put ``m`` innermost coordinates and sums; the first at ``t1``, ``t2``, the rest at ``t2``."""
    f, order, size = nd.p0, nd.p1, nd.p4
    u, w = slot(s, oc), slot(s, ov)
    for e in range(m):
        entry = s.ints[s.ints[f + ORDER] + nd.s4 + e]
        s.ints[u + e] = s.ints[s.ints[f + KEYS] + entry * order + order - 1]
        total = s.ints[f + SUMS] + entry * size
        if s.ch[ov].val:
            s.floats[w + e] = s.floats[total]
        elif nd.p6:
            made = trees.tile(s, nd.p6)
            s.ints[w + e] = made
            for k in range(size):
                s.floats[made * size + k] = s.floats[total + k]
    first_c, first_v = (t2, t1) if nd.p2 == REFERENCE else (t1, t2)
    put(s, oc, m, first_c + 1, t2 + 1, LEAF | STEP | MEM | RING, u)
    put(s, ov, m, first_v + 1, t2 + 1, LEAF | STEP | MEM | RING, w)


@inline
def _alike(s: State, nd: Any, limit: Int) -> Int:
    """How many entries from the next on differ in the innermost coordinate only."""
    f = nd.p0
    count = min(limit, s.ints[f + COUNT] - nd.s4)
    order = s.ints[f + ORDER] + nd.s4
    n = 1
    while n < count:
        if trees.first_difference(s, f, s.ints[order + n - 1], s.ints[order + n]) < nd.p1 - 1:
            break
        n += 1
    return n


@kernel("spacc", _tree)
def spacc(node: Int, table: Int) -> Int:
    """Per fiber of outer coordinates, fold values by the inner ones."""
    s = state_of(table)
    nd = s.nd[node]
    f, order, mode, fold, strict = nd.p0, nd.p1, nd.p2, nd.p3, nd.p5
    ins, outs = nd.ins, nd.outs
    u, cv = s.ints[ins], s.ints[ins + order + 1]
    oc, ov = s.ints[outs + order - 1], s.ints[outs + order]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    if s.ints[f + REHASH]:
        trees.rehash(s, f)
    while True:
        m, rc, rv, a, b = 0, 0, 0, t, t  # values to accumulate: how many, runs, clocks
        if nd.s0 == _TAKE and mode == GENERIC:
            c = s.ints[ins + nd.s1 + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            rc = head(s, c)
            k, v = s.run[rc].x & KIND, s.run[rc].v
            a = max(t, s.run[rc].t)
            if k == LEAF and nd.s1 == order - 1:
                if has(s, cv):
                    rv = head(s, cv)
                    b = max(a, s.run[rv].t)
                    if not is_leaf(s.run[rv].x & KIND):
                        return fail(nd, b, TREE_DISAGREES)
                    m = min(s.run[rc].n, s.run[rv].n)
                elif nd.eager or starved(s, c):
                    si += a - t
                    t = a
                    s.ints[f + KEY + order - 1] = number(s, rc, 0)
                    take_one(s, c, t)
                    nd.s0 = _VALUE
                else:
                    return leave(nd, t, si, so, WAIT_INPUT, cv)
            else:
                si += a - t
                t = a
                if k == LEAF:
                    if nd.s1 >= 0:
                        s.ints[f + KEY + nd.s1] = number(s, rc, 0)
                    nd.s1 += 1
                elif k == STOP:
                    nd.s3, nd.s2 = v, nd.s1 + 1
                    nd.s0 = _DEEPER
                elif k == DONE and nd.s1 < 0:
                    nd.s2 = 0
                    nd.s0 = _ENDS
                else:
                    return fail(nd, t, TREE_DISAGREES)
                take_one(s, c, t)
        elif nd.s0 == _TAKE:  # every head at once
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
                si += a - t
                t = a
                nd.s7, nd.s8 = kc, s.run[rc].v
                _begin_flush(s, nd, v)
            elif mode == REFERENCE:
                if ku == DONE:
                    if k == STOP:
                        take_one(s, nested, a)
                    elif k == DONE and kc == DONE and kv == DONE:
                        nd.s0 = _DONE
                        nd.s2 = 0
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
                nd.s0 = _DONE
                nd.s2 = 0
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
                elif not _inside(s, rc, m, nd.p7):
                    rule = OUTSIDE_DIMENSION
            else:
                rule = SPACC_DISAGREES
            if rule:
                return fail(nd, a, rule)
            if m == 0 and nd.s0 != _OPEN and nd.s0 != _CLOSE:
                si += a - t
                t = a
                if nd.s0 == _TAKE:
                    t += 1
        elif nd.s0 == _VALUE:
            if not has(s, cv):
                return leave(nd, t, si, so, WAIT_INPUT, cv)
            rc, rv = -1, head(s, cv)  # the coordinate is in the tree's key already
            b = max(t, s.run[rv].t)
            if not is_leaf(s.run[rv].x & KIND):
                return fail(nd, b, TREE_DISAGREES)
            m = 1
        if m > 0:
            m = min(m, s.ints[f + ROOM] - s.ints[f + COUNT])
            if m == 0:
                return leave(nd, t, si, so, WAIT_DRAIN, cv)
            si += b - t
            t = b
            trees.accumulate(s, f, rc, cv, rv, m, fold)
            if nd.s0 == _TAKE:
                take(s, s.ints[ins + order], m, a, t + 1, 1)
            take(s, cv, m, b, t + 1, 1)
            nd.s0 = _TAKE
            t += m
            continue
        while nd.s0 == _DEEPER:
            c = s.ints[ins + nd.s2 + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            p = s.run[head(s, c)]
            a = max(t, p.t)
            si += a - t
            t = a
            if p.x & KIND != STOP or p.v != _expected(nd.s3, nd.s2, order, nd.s1):
                return fail(nd, t, TREE_DISAGREES)
            take_one(s, c, t)
            nd.s2 += 1
            if nd.s2 > order:
                t += 1
                if nd.s1 < 0:
                    _begin_flush(s, nd, nd.s3)
                else:
                    nd.s1 -= 1
                    nd.s0 = _UP
        while nd.s0 == _UP:
            if nd.s3 == 0:
                nd.s0 = _TAKE
                break
            c = s.ints[ins + nd.s1 + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            p = s.run[head(s, c)]
            a = max(t, p.t)
            si += a - t
            t = a
            if p.x & KIND != STOP or p.v != nd.s3 - 1:
                return fail(nd, t, TREE_DISAGREES)
            take_one(s, c, t)
            nd.s3 -= 1
            if nd.s1 < 0:
                _begin_flush(s, nd, nd.s3)
            else:
                nd.s1 -= 1
        while _FLUSH < nd.s0 < _CLOSED:  # the whole tree at one clock: only slots hold it up
            if nd.s0 == _PAIR:
                one, two = (ov, oc) if mode == REFERENCE else (oc, ov)
                m = min(room(s, one), room(s, two))
                if nd.p6:
                    m = min(m, trees.unused(s, nd.p6))
                    if trees.unused(s, nd.p6) == 0:
                        return leave(nd, t, si, so, WAIT_DRAIN, ov)
                if m > 0:
                    t1 = max(t, free_at(s, one))
                    t2 = max(t1, free_at(s, two))
                    m = even(s, two, t2, even(s, one, t2, m))
                    if rising(s, one, t2) or rising(s, two, t2):
                        m = 1
                    m = _alike(s, nd, m)
                    so += t2 - t
                    t = t2
                    _put_pairs(s, nd, oc, ov, m, t1, t2)
                    nd.s4 += m
                    nd.s0 = _CLOSE
                else:
                    nd.s0 = _PAIR_SECOND
                    nd.s2 = 0
            if nd.s0 == _PAIR_SECOND:
                while nd.s2 < 2:
                    c = ov if (nd.s2 == 1) != (mode == REFERENCE) else oc
                    if room(s, c) == 0:
                        return leave(nd, t, si, so, WAIT_OUTPUT, c)
                    a = max(t, free_at(s, c))
                    so += a - t
                    t = a
                    entry = s.ints[s.ints[f + ORDER] + nd.s4]
                    total = s.ints[f + SUMS] + entry * nd.p4
                    last = s.ints[s.ints[f + KEYS] + entry * order + order - 1]
                    if c == ov and nd.p6:
                        if trees.unused(s, nd.p6) == 0:
                            return leave(nd, t, si, so, WAIT_DRAIN, ov)
                        last = trees.tile(s, nd.p6)
                        for k in range(nd.p4):
                            s.floats[last * nd.p4 + k] = s.floats[total + k]
                    put_one(s, c, t + 1, LEAF, last, s.floats[total])
                    nd.s2 += 1
                nd.s4 += 1
                nd.s0 = _CLOSE
            if nd.s0 == _CLOSE and nd.s6 >= 0:  # what the next entry, or none, closes
                same = order
                if nd.s4 < s.ints[f + COUNT]:
                    entries = s.ints[f + ORDER] + nd.s4
                    same = trees.first_difference(s, f, s.ints[entries - 1], s.ints[entries])
                    nd.s6 = same
                    nd.s0 = _PAIR if same == order - 1 else _CLOSE_SECOND
                else:
                    nd.s6 = -1
                    nd.s0 = _CLOSE_SECOND
                nd.s5 = order - 1
                nd.s2 = 0
            elif nd.s0 == _CLOSE:  # an empty tree
                nd.s0 = _CLOSE_SECOND
                nd.s2 = 0
            while nd.s0 == _CLOSE_SECOND:
                innermost = nd.s5 == order - 1
                level = nd.s5 - nd.s6 - 1
                if nd.s6 < 0:
                    level = nd.s3 + nd.s5
                c = s.ints[outs + nd.s5]
                if innermost and (nd.s2 == 1) == (mode == GENERIC):
                    c = ov
                empty = s.ints[f + COUNT] == 0
                if empty and mode == REFERENCE:
                    c, level, innermost = s.ints[outs], nd.s3, False
                if room(s, c) == 0:
                    return leave(nd, t, si, so, WAIT_OUTPUT, c)
                a = max(t, free_at(s, c))
                so += a - t
                t = a
                put_one(s, c, t + 1, STOP, level, zero)
                if innermost and nd.s2 == 0:
                    nd.s2 = 1
                elif empty and mode == GENERIC:
                    nd.s5 += 1
                    nd.s2 = 0
                    if nd.s5 == order:
                        nd.s0 = _CLOSED
                elif empty:
                    nd.s0 = _CLOSED
                else:
                    nd.s5 -= 1
                    nd.s2 = 0
                    if nd.s5 == nd.s6:
                        nd.s0 = _CLOSED if nd.s6 < 0 else _OPEN
            while nd.s0 == _OPEN:
                if nd.s5 == order - 1:
                    nd.s0 = _PAIR
                    break
                c = s.ints[outs + nd.s5]
                if room(s, c) == 0:
                    return leave(nd, t, si, so, WAIT_OUTPUT, c)
                a = max(t, free_at(s, c))
                so += a - t
                t = a
                entry = s.ints[s.ints[f + ORDER] + nd.s4]
                put_one(s, c, t + 1, LEAF, s.ints[s.ints[f + KEYS] + entry * order + nd.s5], zero)
                nd.s5 += 1
        if nd.s0 == _CLOSED:
            trees.clear(s, f)
            nd.s0 = _TAKE
            if mode == GENERIC:
                nd.s1 = -1
            else:
                take_one(s, u, t)
            if mode == ROW and nd.s7 == STOP:
                nd.s0 = _NEXT
            else:
                t += 1
        if nd.s0 == _NEXT:  # is the inner stop at hand that of an empty outer fiber?
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            ru = head(s, u)
            a = max(t, s.run[ru].t)
            si += a - t
            t = a
            if s.run[ru].x & KIND == STOP:
                if nd.s8 == s.run[ru].v + 1:
                    take_one(s, s.ints[ins + 1], t)
                    take_one(s, cv, t)
                elif not strict:
                    return fail(nd, t, SPACC_EMPTY_FIBER)
            elif strict and nd.s8 > 0:
                return fail(nd, t, SPACC_LEADING)
            t += 1
            nd.s0 = _TAKE
        while nd.s0 == _ENDS:
            c = s.ints[ins + nd.s2 + 1]
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            p = s.run[head(s, c)]
            a = max(t, p.t)
            si += a - t
            t = a
            if p.x & KIND != DONE:
                return fail(nd, t, TREE_DISAGREES)
            take_one(s, c, t)
            nd.s2 += 1
            if nd.s2 > order:
                nd.s2 = 0
                nd.s0 = _DONE
        while nd.s0 == _DONE:
            c = s.ints[outs + nd.s2]
            if mode == REFERENCE and nd.s2 < 2:
                c = s.ints[outs + 1 - nd.s2]
            if room(s, c) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, c)
            a = max(t, free_at(s, c))
            so += a - t
            t = a
            put_one(s, c, t + 1, DONE, 0, zero)
            nd.s2 += 1
            if nd.s2 > order:
                return leave(nd, t, si, so, WAIT_NONE, 0)
        if nd.s0 == _START:  # a leading empty outer fiber: its inner stop goes first
            if not has(s, u):
                return leave(nd, t, si, so, WAIT_INPUT, u)
            a = max(t, s.run[head(s, u)].t)
            si += a - t
            t = a
            nd.s0 = _START_INNER if s.run[head(s, u)].x & KIND == STOP else _TAKE
        while nd.s0 == _START_INNER or nd.s0 == _START_VALUE:
            c = s.ints[ins + 1] if nd.s0 == _START_INNER else cv
            if not has(s, c):
                return leave(nd, t, si, so, WAIT_INPUT, c)
            a = max(t, s.run[head(s, c)].t)
            si += a - t
            t = a
            take_one(s, c, t)
            nd.s0 = _START_VALUE if nd.s0 == _START_INNER else _TAKE
