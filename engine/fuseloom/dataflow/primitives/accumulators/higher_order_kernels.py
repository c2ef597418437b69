"""Sparse accumulators of any order, and that of order 1 on tiles (``docs/spec/machine.md`` §6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.primitives.accumulators.kernels import pass_empty, pass_leading
from fuseloom.dataflow.sim.compiled import flushing, rings, rules, runs, trees, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import FOREVER, Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of

(
    _TAKE, _FOLD, _VALUE,  # take heads; fold values; the value of a coordinate taken
    _DEEPER, _UP,  # take stops of the streams inside a level, and of those outside
    _NEXT, _ENDS, _DONE,  # is the inner stop that of an empty fiber?; take ends; put them
    _START, _START_INNER, _START_VALUE,  # is the first fiber empty?; take its stops
) = range(flushing.CLOSED + 1, flushing.CLOSED + 12)  # fmt: skip

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
    mode = flushing.REFERENCE if order == 2 and strict else flushing.GENERIC
    if order == 1:
        mode = flushing.ROW
    fold = 1 if setup.param("fn", "add") == "max" else 0
    size = setup.elements
    return {
        "tree": setup.stores.tree(setup.node.id, order, size),
        "order": order,
        "golden": mode,
        "fold": 2 if mode == flushing.REFERENCE else fold,
        "elements": size,
        "strict": strict,
        "pool": setup.stores.pool(size) if setup.tiled else 0,
        "dim": int(setup.param("dim", FOREVER)) if mode == flushing.ROW else FOREVER,
        "phase": _START if mode == flushing.ROW and not strict else _TAKE,
        "level": -1 if mode == flushing.GENERIC else 0,
    }


@inline
def _inside(s: SimulationState, r: Int, m: Int, dim: Int) -> Int:
    """Return whether the first ``m`` coordinates of a run are below the dimension."""
    good = True
    for e in range(m):
        good &= 0 <= rings.number(s, r, e) < dim
    return good


@inline
def _take_level(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Take the head of the stream of one level: go deeper, fold values, or close fibers."""
    c, cv = s.ints[nd.ins + nd.level + 1], s.ints[nd.ins + nd.order + 1]
    if not rings.has(s, c):
        return t, si, visits.leave(nd, t, si, so, waits.INPUT, c)
    r = rings.head(s, c)
    k = s.run[r].x & runs.KIND
    innermost = k == runs.LEAF and nd.level == nd.order - 1
    if innermost and rings.has(s, cv):
        nd.phase = _FOLD
        return t, si, visits.GOES_ON
    if innermost and not (nd.eager or rings.starved(s, c)):
        return t, si, visits.leave(nd, t, si, so, waits.INPUT, cv)
    t, si = visits.stall(s, waits.INPUT, t, s.run[r].t, si)
    if k == runs.LEAF:
        if nd.level >= 0:
            s.ints[nd.tree + trees.KEY + nd.level] = rings.number(s, r, 0)
        if innermost:
            nd.phase = _VALUE
        else:
            nd.level += 1
    elif k == runs.STOP:
        nd.stop_level, nd.turn = s.run[r].v, nd.level + 1
        nd.phase = _DEEPER
    elif k == runs.DONE and nd.level < 0:
        nd.turn = 0
        nd.phase = _ENDS
    else:
        return t, si, visits.fail(nd, t, rules.TREE_DISAGREES)
    rings.take_one(s, c, t)
    return t, si, visits.GOES_ON


@inline
def _take_heads(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Look at the heads of all streams at once, and take those that belong together."""
    a = t
    for k in range(nd.order + 2):
        c = s.ints[nd.ins + k]
        if not rings.has(s, c):
            return t, si, visits.leave(nd, t, si, so, waits.INPUT, c)
        a = max(a, s.run[rings.head(s, c)].t)
    p = s.run[rings.head(s, s.ints[nd.ins])]
    rule = rules.NONE
    if p.x & runs.KIND == runs.STOP:
        q = s.run[rings.head(s, s.ints[nd.ins + nd.order])]
        nd.inner_kind, nd.inner_level = q.x & runs.KIND, q.v
        flushing.begin_flush(s, nd, p.v)
    elif nd.golden == flushing.REFERENCE:
        rule = _match_three(s, nd, a)
    else:
        rule = _match_two(s, nd, a)
    if rule:
        return t, si, visits.fail(nd, a, rule)
    t, si = visits.stall(s, waits.INPUT, t, a, si)
    if nd.phase == _TAKE:
        t += 1
    return t, si, visits.GOES_ON


@inline
def _match_three(s: SimulationState, nd: Any, t: Int) -> Int:
    """Take heads that end something, of order 2 on the reference machine; the rule they break."""
    u, i = s.ints[nd.ins], s.ints[nd.ins + 1]
    c, cv = s.ints[nd.ins + 2], s.ints[nd.ins + 3]
    outer, middle = s.run[rings.head(s, u)], s.run[rings.head(s, i)]
    inner, value = s.run[rings.head(s, c)], s.run[rings.head(s, cv)]
    ku, k = outer.x & runs.KIND, middle.x & runs.KIND
    kc, kv = inner.x & runs.KIND, value.x & runs.KIND
    if ku == runs.DONE and k == runs.DONE and kc == runs.DONE and kv == runs.DONE:
        nd.phase, nd.turn = _DONE, 0
    elif k == runs.STOP:
        rings.take_one(s, i, t)
        if ku != runs.DONE:
            rings.take_one(s, u, t)
    elif ku == runs.DONE:
        return rules.TREE_DISAGREES
    elif kc == runs.STOP and kv == runs.STOP and inner.v == value.v:
        rings.take_one(s, c, t)
        rings.take_one(s, cv, t)
        rings.take_one(s, i, t)
    elif k == runs.LEAF and kc == runs.LEAF and kv == runs.LEAF:
        s.ints[nd.tree + trees.KEY] = rings.number(s, rings.head(s, i), 0)
        nd.phase = _FOLD
    else:
        return rules.TREE_DISAGREES
    return rules.NONE


@inline
def _match_two(s: SimulationState, nd: Any, t: Int) -> Int:
    """Take heads that end something, of order 1; the rule they break."""
    u, c, cv = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.ins + 2]
    rc = rings.head(s, c)
    inner, value = s.run[rc], s.run[rings.head(s, cv)]
    kc, kv = inner.x & runs.KIND, value.x & runs.KIND
    ended = s.run[rings.head(s, u)].x & runs.KIND == runs.DONE
    if ended and kc == runs.DONE:
        if kv != runs.DONE:
            return rules.SPACC_DISAGREES
        nd.phase, nd.turn = _DONE, 0
    elif kc == runs.STOP and kv == runs.STOP and inner.v == value.v:
        if ended and not nd.strict:
            return rules.SPACC_DISAGREES
        if not ended:
            rings.take_one(s, u, t)
        rings.take_one(s, c, t)
        rings.take_one(s, cv, t)
    elif kc != runs.LEAF or not rings.is_leaf(kv) or ended:
        return rules.SPACC_DISAGREES
    elif kv == runs.EMPTY and nd.strict:
        return rules.EMPTY_VALUE
    elif kv == runs.LEAF and not _inside(s, rc, min(inner.n, value.n), nd.dim):
        return rules.OUTSIDE_DIMENSION
    else:
        nd.phase = _FOLD
    return rules.NONE


@inline
def _fold(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Fold values at the heads of the innermost level, as many as the tree has room for."""
    f, c, cv = nd.tree, s.ints[nd.ins + nd.order], s.ints[nd.ins + nd.order + 1]
    if not rings.has(s, cv):
        return t, si, visits.leave(nd, t, si, so, waits.INPUT, cv)
    rc, rv, m, a = -1, rings.head(s, cv), 1, t  # a coordinate taken is in the tree's key
    if nd.phase == _FOLD:
        rc = rings.head(s, c)
        m, a = min(s.run[rc].n, s.run[rv].n), max(t, s.run[rc].t)
    b = max(a, s.run[rv].t)
    if not rings.is_leaf(s.run[rv].x & runs.KIND):
        return t, si, visits.fail(nd, b, rules.TREE_DISAGREES)
    m = min(m, s.ints[f + trees.ROOM] - s.ints[f + trees.COUNT])
    if m == 0:
        return t, si, visits.leave(nd, t, si, so, waits.DRAIN, cv)
    t, si = visits.stall(s, waits.INPUT, t, b, si)
    trees.accumulate(s, f, rc, cv, rv, m, nd.fold)
    if nd.phase == _FOLD:
        rings.take(s, c, m, a, t + 1, 1)
    rings.take(s, cv, m, b, t + 1, 1)
    nd.phase = _TAKE
    return t + m, si, visits.GOES_ON


@inline
def _close_inside(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Take the stops that the streams inside a level have for its stop, and that of the values."""
    c = s.ints[nd.ins + nd.turn + 1]
    level = nd.stop_level + min(nd.turn - nd.level, nd.order - 1 - nd.level)
    rule = rules.TREE_DISAGREES
    t, si, status = visits.expect(s, nd, c, runs.STOP, level, rule, t, si, so)
    if status == visits.GOES_ON:
        nd.turn += 1
        if nd.turn > nd.order:
            t += 1
            _close(s, nd)
    return t, si, status


@inline
def _close_outside(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Take the stops that the streams outside have for a stop of more than one level."""
    if nd.stop_level == 0:
        nd.phase = _TAKE
        return t, si, visits.GOES_ON
    c, level = s.ints[nd.ins + nd.level + 1], nd.stop_level - 1
    rule = rules.TREE_DISAGREES
    t, si, status = visits.expect(s, nd, c, runs.STOP, level, rule, t, si, so)
    if status == visits.GOES_ON:
        nd.stop_level = level
        _close(s, nd)
    return t, si, status


@inline
def _close(s: SimulationState, nd: Any) -> None:
    """Go on outside the level whose fiber is closed; outside all levels, put the tree."""
    if nd.level < 0:
        flushing.begin_flush(s, nd, nd.stop_level)
    else:
        nd.level -= 1
        nd.phase = _UP


@inline
def _begin_tree(s: SimulationState, nd: Any, t: Int) -> Int:
    """Begin the next tree when one is put; the clock."""
    trees.clear(s, nd.tree)
    nd.phase = _TAKE
    if nd.golden == flushing.GENERIC:
        nd.level = -1
    else:
        rings.take_one(s, s.ints[nd.ins], t)
    if nd.golden == flushing.ROW and nd.inner_kind == runs.STOP:
        nd.phase = _NEXT
        return t
    return t + 1


@inline
def _take_ends(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Take the ends of the streams inside the outermost."""
    c, rule = s.ints[nd.ins + nd.turn + 1], rules.TREE_DISAGREES
    t, si, status = visits.expect(s, nd, c, runs.DONE, 0, rule, t, si, so)
    if status == visits.GOES_ON:
        nd.turn += 1
        if nd.turn > nd.order:
            nd.turn = 0
            nd.phase = _DONE
    return t, si, status


@inline
def _put_ends(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Put the ends of all outputs."""
    swapped = nd.golden == flushing.REFERENCE and nd.turn < 2
    c = s.ints[nd.outs + (1 - nd.turn if swapped else nd.turn)]
    if rings.room(s, c) == 0:
        return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
    t, so = visits.put_token(s, c, t, so, runs.DONE, 0, np.float32(0))
    nd.turn += 1
    if nd.turn > nd.order:
        return t, so, visits.leave(nd, t, si, so, waits.NONE, 0)
    return t, so, visits.GOES_ON


@kernel("spacc", _ACCUMULATOR, _tree)
def spacc(node: Int, table: Int) -> Int:
    """Per fiber of outer coordinates, fold values by the inner ones."""
    s = state_of(table)
    nd = node_of(s, node, _ACCUMULATOR)
    t, si, so, status = nd.clk, nd.si, nd.so, visits.GOES_ON
    if s.ints[nd.tree + trees.REHASH]:
        trees.rehash(s, nd.tree)
    while status == visits.GOES_ON:
        if nd.phase == _TAKE and nd.golden == flushing.GENERIC:
            t, si, status = _take_level(s, nd, t, si, so)
        elif nd.phase == _TAKE:
            t, si, status = _take_heads(s, nd, t, si, so)
        phase = nd.phase
        if phase == _TAKE:
            continue
        if phase in (_FOLD, _VALUE):
            t, si, status = _fold(s, nd, t, si, so)
        elif phase == _DEEPER:
            t, si, status = _close_inside(s, nd, t, si, so)
        elif phase == _UP:
            t, si, status = _close_outside(s, nd, t, si, so)
        elif phase < flushing.CLOSED:
            t, so, status = flushing.flush(s, nd, t, si, so)
        elif phase == flushing.CLOSED:
            t = _begin_tree(s, nd, t)
        elif phase == _NEXT:
            t, si, status = pass_empty(s, nd, t, si, so)
            if status == visits.GOES_ON:
                nd.phase = _TAKE
        elif phase == _ENDS:
            t, si, status = _take_ends(s, nd, t, si, so)
        elif phase == _DONE:
            t, so, status = _put_ends(s, nd, t, si, so)
        else:
            t, si, following, status = pass_leading(s, nd, phase - _START, t, si, so)
            if status == visits.GOES_ON:
                nd.phase = _START + following if following else _TAKE
    return status
