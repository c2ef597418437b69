"""The sparse accumulator (``docs/spec/machine.md`` §6.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe import numbers

from fuseloom.dataflow.sim.compiled import functions, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

WORD = 64
trailing_zeros: Any = numbers.trailing_zeros

(
    _ROW, _FLUSH, _CRD_VALUE,  # take heads; put a row; put the sum of a coordinate that was put
    _VAL_STOP, _CRD_STOP,  # put the stops behind a row
    _NEXT, _END, _END_VALUE,  # is the inner stop that of an empty fiber?; put the ends
    _START, _START_INNER, _START_VALUE,  # is the first fiber empty?; take its stops
) = range(11)  # fmt: skip

_ROWS = slots(
    # In the floats, one per coordinate; -0.0 where there is none, as -0.0 + x is x for all x.
    sums="p0",
    dim="p1",  # their number
    marks="p2",  # bitmap of the coordinates that have a sum
    words="p3",  # bitmap of that bitmap's words that are not 0
    is_max="p4",  # values are not added, the largest is kept
    strict="p5",  # as the reference machine has it
    phase="s0",  # what comes next, one of those above
    next="s1",  # coordinate to flush
    first="s2",  # of the row's coordinates
    end="s3",  # one behind the last of them
    scattered="s4",  # they are in the bitmaps, not all of that range
    inner_kind="s5",  # of the token at the head of inner when the flush began
    inner_level="s6",  # its level
)


def _accumulator(setup: Setup) -> dict[str, float]:
    dim = int(setup.param("dim"))
    words = dim // WORD + 1
    return {
        "sums": setup.floats.add(np.full(dim + 1, -0.0, np.float32)),
        "dim": dim,
        "marks": setup.ints.add(np.zeros(words, np.int64)),
        "words": setup.ints.add(np.zeros(words // WORD + 1, np.int64)),
        "is_max": setup.param("fn") == "max",
        "strict": setup.quirks.spacc_strict,
        "phase": _ROW if setup.quirks.spacc_strict else _START,
    }


@inline
def _mark(s: SimulationState, nd: Any, c: Int) -> Int:
    """Note that a coordinate has a sum; whether it had one before."""
    w = nd.marks + (c >> 6)
    word = s.ints[w]
    bit = np.int64(1) << (c & 63)
    if word == 0:
        s.ints[nd.words + (c >> 12)] |= np.int64(1) << ((c >> 6) & 63)
    s.ints[w] = word | bit
    return (word & bit) != 0


@inline
def _next(s: SimulationState, nd: Any, c: Int) -> Int:
    """The smallest marked coordinate >= ``c``; there is one."""
    word = s.ints[nd.marks + (c >> 6)] >> (c & 63) if c & 63 else s.ints[nd.marks + (c >> 6)]
    if c & 63:
        word &= (np.int64(1) << (64 - (c & 63))) - 1  # the shift of a negative word is filled
    if word != 0:
        return c + trailing_zeros(word)
    w = (c >> 6) + 1
    group = w >> 6
    word = s.ints[nd.words + group] & -(np.int64(1) << (w & 63))
    while word == 0:
        group += 1
        word = s.ints[nd.words + group]
    w = (group << 6) + trailing_zeros(word)
    return (w << 6) + trailing_zeros(s.ints[nd.marks + w])


@inline
def _unmark(s: SimulationState, nd: Any, c: Int) -> None:
    w = nd.marks + (c >> 6)
    word = s.ints[w] & ~(np.int64(1) << (c & 63))
    s.ints[w] = word
    if word == 0:
        s.ints[nd.words + (c >> 12)] &= ~(np.int64(1) << ((c >> 6) & 63))


@inline
def _scatter(s: SimulationState, nd: Any) -> None:
    """Go over from a range of coordinates to bitmaps."""
    if not nd.scattered:
        if nd.first == nd.end:
            nd.first, nd.end = nd.dim, 0
        else:
            for c in range(nd.first, nd.end):
                _mark(s, nd, c)
        nd.scattered = 1


@inline
def _accumulate(s: SimulationState, nd: Any, r: Int, q: Int, m: Int) -> Int:
    """Add ``m`` values at their coordinates; whether all coordinates are inside."""
    x, v = s.run[r].x, s.run[r].v
    w = s.run[q].v
    step = 1 if s.run[q].x & runs.STEP else 0
    sums, dim = nd.sums, nd.dim
    if x & runs.STEP and not x & runs.MEM and not nd.is_max:
        if v < 0 or v + m > dim:
            return False
        if not nd.scattered and (nd.first == nd.end or (nd.first <= v <= nd.end)):
            if nd.first == nd.end:
                nd.first, nd.end = v, v
            nd.end = max(nd.end, v + m)
        else:
            _scatter(s, nd)
            for c in range(v, v + m):
                _mark(s, nd, c)
            nd.first, nd.end = min(nd.first, v), max(nd.end, v + m)
        total = view(s.floats, sums + v, m)
        if step:
            given = view(s.floats, w, m)
            for e in range(m):
                total[e] += given[e]
        else:
            f = s.floats[w]
            for e in range(m):
                total[e] += f
        return True
    _scatter(s, nd)
    lo, hi = nd.first, nd.end
    for e in range(m):
        c = rings.number(s, r, e)
        if c < 0 or c >= dim:
            return False
        f = s.floats[w + e * step]
        known = _mark(s, nd, c)
        if not nd.is_max:
            s.floats[sums + c] += f
        elif known:
            s.floats[sums + c] = functions.larger(s.floats[sums + c], f)
        else:
            s.floats[sums + c] = f
        lo, hi = min(lo, c), max(hi, c + 1)
    nd.first, nd.end = lo, hi
    return True


@inline
def _emit(s: SimulationState, nd: Any, o1: Int, o2: Int, m: Int, t1: Int, t2: Int) -> None:
    """Put the row's next ``m`` coordinates and sums; the first at ``t1``, ``t2``, all others
    at ``t2``."""
    w = rings.slot(s, o2)
    p = nd.next
    if nd.scattered:
        u = rings.slot(s, o1)
        for e in range(m):
            p = _next(s, nd, p)
            _unmark(s, nd, p)
            s.ints[u + e] = p
            s.floats[w + e] = s.floats[nd.sums + p]
            s.floats[nd.sums + p] = np.float32(-0.0)
            p += 1
        rings.put(s, o1, m, t1 + 1, t2 + 1, runs.LEAF | runs.STEP | runs.MEM | runs.RING, u)
    else:
        a = nd.sums + p
        sums = view(s.floats, a, m)
        rings.copy(view(s.floats, w, m), sums)
        for e in range(m):
            sums[e] = np.float32(-0.0)
        rings.put(s, o1, m, t1 + 1, t2 + 1, runs.LEAF | runs.STEP, p)
        p += m
    rings.put(s, o2, m, t2 + 1, t2 + 1, runs.LEAF | runs.STEP | runs.MEM | runs.RING, w)
    nd.next = p


@inline
def _count(s: SimulationState, nd: Any, limit: Int) -> Int:
    """Count the coordinates left to flush, at most ``limit``."""
    if not nd.scattered:
        return min(limit, nd.end - nd.next)
    n = 0
    p = nd.next
    while n < limit and p < nd.end:
        p = _next(s, nd, p) + 1
        n += 1
    return n


@inline
def pass_empty(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Take the inner stop at hand if it is that of an empty outer fiber."""
    u = s.ints[nd.ins]
    if not rings.has(s, u):
        return t, si, visits.leave(nd, t, si, so, waits.INPUT, u)
    p = s.run[rings.head(s, u)]
    t, si = visits.stall(s, waits.INPUT, t, p.t, si)
    if p.x & runs.KIND == runs.STOP:
        if nd.inner_level == p.v + 1:
            rings.take_one(s, s.ints[nd.ins + 1], t)
            rings.take_one(s, s.ints[nd.ins + 2], t)
        elif not nd.strict:
            return t, si, visits.fail(nd, t, rules.SPACC_EMPTY_FIBER)
    elif nd.strict and nd.inner_level > 0:
        return t, si, visits.fail(nd, t, rules.SPACC_LEADING)
    return t + 1, si, visits.GOES_ON


@inline
def pass_leading(
    s: SimulationState, nd: Any, turn: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int, Int]:
    """Take the inner stop and that of the values, in turn, if the first outer fiber is empty.

    The clock, the stalls for input, the next turn or 0, and the status.
    """
    c = s.ints[nd.ins + turn]
    if not rings.has(s, c):
        return t, si, turn, visits.leave(nd, t, si, so, waits.INPUT, c)
    p = s.run[rings.head(s, c)]
    t, si = visits.stall(s, waits.INPUT, t, p.t, si)
    if turn == 0:
        return t, si, 1 if p.x & runs.KIND == runs.STOP else 0, visits.GOES_ON
    rings.take_one(s, c, t)
    return t, si, 2 if turn == 1 else 0, visits.GOES_ON


@kernel("spacc1", _ROWS, _accumulator)
def spacc1(node: Int, table: Int) -> Int:
    """Per fiber of outer coordinates, fold values by inner coordinate."""
    s = state_of(table)
    nd = node_of(s, node, _ROWS)
    u, i, v = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.ins + 2]
    o1, o2 = s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so, strict = nd.clk, nd.si, nd.so, nd.strict
    zero = np.float32(0)
    while True:
        if nd.phase == _ROW:
            c = u if not rings.has(s, u) else i if not rings.has(s, i) else v
            if not rings.has(s, c):
                return visits.leave(nd, t, si, so, waits.INPUT, c)
            ru, ri, rv = rings.head(s, u), rings.head(s, i), rings.head(s, v)
            ku, ki, kv = s.run[ru].x & runs.KIND, s.run[ri].x & runs.KIND, s.run[rv].x & runs.KIND
            a = max(t, s.run[ru].t, s.run[ri].t)
            a = max(a, s.run[rv].t)
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            if ku == runs.STOP:
                nd.inner_kind, nd.inner_level = ki, s.run[ri].v
                nd.next = nd.first
                nd.phase = _FLUSH
            elif ki == runs.LEAF and rings.is_leaf(kv) and ku != runs.DONE:
                m = min(s.run[ri].n, s.run[rv].n)
                if kv == runs.EMPTY:
                    if strict:
                        return visits.fail(nd, t, rules.EMPTY_VALUE)
                elif not _accumulate(s, nd, ri, rv, m):
                    return visits.fail(nd, t, rules.OUTSIDE_DIMENSION)
                rings.take(s, i, m, t, t + 1, 1)
                rings.take(s, v, m, t, t + 1, 1)
                t += m
                continue
            elif ki == runs.STOP and kv == runs.STOP and s.run[ri].v == s.run[rv].v:
                if ku != runs.DONE:
                    rings.take_one(s, u, t)
                elif not strict:
                    return visits.fail(nd, t, rules.SPACC_DISAGREES)
                rings.take_one(s, i, t)
                rings.take_one(s, v, t)
                t += 1
                continue
            elif ku == runs.DONE and ki == runs.DONE:
                if kv != runs.DONE:
                    return visits.fail(nd, t, rules.SPACC_DISAGREES)
                nd.phase = _END
            else:
                return visits.fail(nd, t, rules.SPACC_DISAGREES)
        if nd.phase == _FLUSH:  # the whole row at one clock: only slots can hold it up
            full = -1
            while nd.next < nd.end:
                m = min(rings.room(s, o1), rings.room(s, o2))
                if m == 0:
                    full = o1 if rings.room(s, o1) == 0 else o2
                    break
                t1 = max(t, rings.free_at(s, o1))
                t2 = max(t1, rings.free_at(s, o2))
                m = rings.even(s, o2, t2, rings.even(s, o1, t2, m))
                if rings.rising(s, o1, t2) or rings.rising(s, o2, t2):
                    m = 1
                m = _count(s, nd, m)
                so += visits.waited(s, waits.ROOM, t, t2)
                t = t2
                _emit(s, nd, o1, o2, m, t1, t2)
            if full >= 0:
                if full == o1 or not (nd.eager and rings.starved(s, o2)):
                    return visits.leave(nd, t, si, so, waits.ROOM, full)
                t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o1), so)
                if nd.scattered:
                    nd.next = _next(s, nd, nd.next)
                rings.put_one(s, o1, t + 1, runs.LEAF, nd.next, zero)
                nd.phase = _CRD_VALUE
            else:
                nd.phase = _VAL_STOP
        if nd.phase == _CRD_VALUE:
            if rings.room(s, o2) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o2)
            t, so = visits.put_token(s, o2, t, so, runs.LEAF, 0, s.floats[nd.sums + nd.next])
            s.floats[nd.sums + nd.next] = np.float32(-0.0)
            if nd.scattered:
                _unmark(s, nd, nd.next)
            nd.next += 1
            nd.phase = _FLUSH
            continue
        if nd.phase == _VAL_STOP:
            if rings.room(s, o2) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o2)
            t, so = visits.put_token(s, o2, t, so, runs.STOP, s.run[rings.head(s, u)].v, zero)
            nd.phase = _CRD_STOP
        if nd.phase == _CRD_STOP:
            if rings.room(s, o1) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o1)
            t, so = visits.put_token(s, o1, t, so, runs.STOP, s.run[rings.head(s, u)].v, zero)
            nd.first, nd.end, nd.scattered = 0, 0, 0
            rings.take_one(s, u, t)
            nd.phase = _NEXT
            if nd.inner_kind != runs.STOP:
                t += 1
                nd.phase = _ROW
                continue
        if nd.phase == _NEXT:
            t, si, status = pass_empty(s, nd, t, si, so)
            if status != visits.GOES_ON:
                return status
            nd.phase = _ROW
            continue
        if nd.phase == _END or nd.phase == _END_VALUE:
            c = o1 if nd.phase == _END else o2
            if rings.room(s, c) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, c)
            t, so = visits.put_token(s, c, t, so, runs.DONE, 0, zero)
            if c == o2:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            nd.phase = _END_VALUE
        while nd.phase >= _START:
            t, si, following, status = pass_leading(s, nd, nd.phase - _START, t, si, so)
            if status != visits.GOES_ON:
                return status
            nd.phase = _START + following if following else _ROW
