"""Level scanners and locators (``docs/spec/machine.md`` §3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_REFS, _FIBER, _AHEAD, _CRD, _REF, _LAST_REF = range(6)
# Next reference; inside a fiber; before its stop; put a control token as coordinate, and as
# reference; put the reference of a coordinate already put.

FIBERS = slots(
    size="p0",  # fibers stored; of a dense level, coordinates of each
    seg="p1",  # in the integers: where each fiber begins and ends
    crd="p2",  # in the integers: the coordinates
)
"""A stored level."""

STORED_LEVEL = FIBERS.also(
    forwards_empty="p3",  # as the reference machine: the empty token is passed on
)
"""The slots of scanners, which describe the scanned level."""

_SCANNER = STORED_LEVEL.also(
    phase="s0",  # what comes next, one of those above
    position="s1",  # in the fiber,
    end="s2",  # and where that ends
    base="s3",  # first reference of a dense fiber
)


@inline
def _scan(s: SimulationState, nd: Any, compressed: Int) -> Int:
    """Replace references by fibers."""
    i, o1, o2 = s.ints[nd.ins], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so = nd.clk, nd.si, nd.so
    phase, p, end, base = nd.phase, nd.position, nd.end, nd.base
    size, seg, crd, forwards_empty = nd.size, nd.seg, nd.crd, nd.forwards_empty
    zero = np.float32(0)
    while True:
        if phase == _REFS:
            if not rings.has(s, i):
                wait, c = waits.INPUT, i
                break
            r = rings.head(s, i)
            q = s.run[r]
            k = q.x & runs.KIND
            t, si = visits.stall(s, waits.INPUT, t, q.t, si)
            if k == runs.LEAF:
                ref = rings.number(s, r, 0)
                if compressed:
                    if ref < 0 or ref >= size:
                        return visits.fail(nd, t, rules.BAD_FIBER)
                    p, end = s.ints[seg + ref], s.ints[seg + ref + 1]
                    base = 0
                else:
                    p, end, base = 0, size, ref * size
                phase = _FIBER
            elif k == runs.EMPTY and not forwards_empty:
                p, end = 0, 0
                phase = _AHEAD
            else:
                nd.hk = k
                nd.hv = q.v + 1 if k == runs.STOP else 0
                phase = _CRD
            rings.take_one(s, i, t)
        if phase == _FIBER:
            stuck = False
            while p < end:
                m = min(rings.room(s, o1), rings.room(s, o2), end - p)
                if m == 0:
                    stuck = True
                    break
                a = max(t, rings.free_at(s, o1))
                b = max(a, rings.free_at(s, o2))
                so += visits.waited(s, waits.ROOM, t, b)
                if compressed:
                    rings.put(
                        s,
                        o1,
                        m,
                        a + 1,
                        b + 1,
                        runs.LEAF | runs.SLOPE | runs.STEP | runs.MEM,
                        crd + p,
                    )
                else:
                    rings.put(s, o1, m, a + 1, b + 1, runs.LEAF | runs.SLOPE | runs.STEP, p)
                rings.put(s, o2, m, b + 1, b + 1, runs.LEAF | runs.SLOPE | runs.STEP, base + p)
                p += m
                t = b + m
            if stuck:
                if rings.room(s, o1) == 0:
                    wait, c = waits.ROOM, o1
                    break
                if not (nd.eager and rings.starved(s, o2)):
                    wait, c = waits.ROOM, o2
                    break
                t, so = visits.put_token(
                    s, o1, t, so, runs.LEAF, s.ints[crd + p] if compressed else p, zero
                )
                phase = _LAST_REF
            else:
                phase = _AHEAD
        if phase == _LAST_REF:
            if rings.room(s, o2) == 0:
                wait, c = waits.ROOM, o2
                break
            a = max(t, rings.free_at(s, o2))
            so += visits.waited(s, waits.ROOM, t, a)
            rings.put_one(s, o2, a + 1, runs.LEAF, base + p, zero)
            t = a + 1
            p += 1
            phase = _FIBER
            continue
        if phase == _AHEAD:
            if not rings.has(s, i):
                wait, c = waits.INPUT, i
                break
            q = s.run[rings.head(s, i)]
            t, si = visits.stall(s, waits.INPUT, t, q.t, si)
            nd.hk = runs.STOP
            nd.hv = 0
            if q.x & runs.KIND == runs.STOP:
                nd.hv = q.v + 1
                rings.take_one(s, i, t)
            phase = _CRD
        if phase == _CRD:
            if rings.room(s, o1) == 0:
                wait, c = waits.ROOM, o1
                break
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o1), so)
            rings.put(s, o1, 1, t + 1, t + 1, nd.hk | runs.STEP, nd.hv)
            phase = _REF
        if phase == _REF:
            if rings.room(s, o2) == 0:
                wait, c = waits.ROOM, o2
                break
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, o2), so)
            rings.put(s, o2, 1, t + 1, t + 1, nd.hk | runs.STEP, nd.hv)
            phase = _REFS
            if nd.hk == runs.DONE:
                wait, c = waits.NONE, 0
                break
            t += 1
    nd.phase, nd.position, nd.end, nd.base = phase, p, end, base
    return visits.leave(nd, t, si, so, wait, c)


def fibers_setup(setup: Setup) -> dict[str, float]:
    seg, crd = setup.array("seg"), setup.array("crd")
    fits = len(seg) == 0 or (int(seg[0]) >= 0 and int(seg[-1]) <= len(crd))
    setup.require(
        bool(fits and np.all(seg[1:] >= seg[:-1])), "its segments do not fit its coordinates"
    )
    return {
        "size": len(seg) - 1,
        "seg": setup.ints.refer(seg),
        "crd": setup.ints.refer(crd),
    }


def stored_level_setup(setup: Setup) -> dict[str, float]:
    return {**fibers_setup(setup), "forwards_empty": setup.quirks.scanner_forwards_empty}


@kernel("scan", _SCANNER, stored_level_setup)
def scan(node: Int, table: Int) -> Int:
    """Compressed level: the stored coordinates and their positions."""
    s = state_of(table)
    return _scan(s, node_of(s, node, _SCANNER), True)


def _dense_level(setup: Setup) -> dict[str, float]:
    return {"size": int(setup.param("dim")), "forwards_empty": setup.quirks.scanner_forwards_empty}


@kernel("dense_scan", _SCANNER, _dense_level)
def dense_scan(node: Int, table: Int) -> Int:
    """Dense level: every coordinate, at position ``reference * dim + coordinate``."""
    s = state_of(table)
    return _scan(s, node_of(s, node, _SCANNER), False)


_BOTH, _SECOND, _PUT, _PUT_2, _PUT_3 = range(5)
# Take both operands; the second; put the held token into the first, second, third output.

_LOCATOR = slots(
    dim="p0",  # coordinates of a fiber
    phase="s0",  # what comes next, one of those above
    crd_kind="s1",  # of the coordinate held,
    crd="s2",  # and its number
)


@kernel("locate", _LOCATOR, lambda setup: {"dim": int(setup.param("dim"))})
def locate(node: Int, table: Int) -> Int:
    """``reference * dim + coordinate``."""
    s = state_of(table)
    nd = node_of(s, node, _LOCATOR)
    i, j, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.outs]
    t, si, so, dim = nd.clk, nd.si, nd.so, nd.dim
    nd.ht = 0
    while True:
        if nd.phase == _PUT:
            t, so, status = visits.put_held(s, nd, o, t, si, so, 1)
            if status != visits.GOES_ON:
                return status
            nd.phase = _BOTH
            continue
        if nd.phase == _SECOND:
            if not rings.has(s, j):
                return visits.leave(nd, t, si, so, waits.INPUT, j)
            q = rings.head(s, j)
            t, si = visits.stall(s, waits.INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & runs.KIND
            nd.hk, nd.hv = nd.crd_kind, nd.crd
            if rings.is_leaf(nd.crd_kind):
                if not rings.is_leaf(kj):
                    return visits.fail(nd, t, rules.LOCATE_MISMATCH)
                if kj == runs.EMPTY:
                    nd.hk = runs.EMPTY
                elif nd.crd_kind == runs.LEAF:
                    nd.hv = rings.number(s, q, 0) * dim + nd.crd
            elif kj != nd.crd_kind or s.run[q].v != nd.crd:
                return visits.fail(nd, t, rules.LOCATE_MISMATCH)
            rings.take_one(s, j, t)
            nd.phase = _PUT
            continue
        if not rings.has(s, i):
            return visits.leave(nd, t, si, so, waits.INPUT, i)
        r = rings.head(s, i)
        x, v = s.run[r].x, s.run[r].v
        k = x & runs.KIND
        ahead = not rings.has(s, j)
        if ahead and not (nd.eager or rings.starved(s, i)):
            return visits.leave(nd, t, si, so, waits.INPUT, j)
        m = rings.room(s, o)
        if m == 0 and not ahead:
            if not (visits.no_room(s, nd, i, o) or visits.no_room(s, nd, j, o)):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            ahead = True
        a = max(t, s.run[r].t)
        if ahead:
            t, si = visits.stall(s, waits.INPUT, t, a, si)
            nd.crd_kind, nd.crd = k, rings.number(s, r, 0) if k == runs.LEAF else v
            rings.take_one(s, i, t)
            nd.phase = _SECOND
            continue
        q = rings.head(s, j)
        y, w = s.run[q].x, s.run[q].v
        kj = y & runs.KIND
        m = min(m, s.run[r].n, s.run[q].n)
        b = max(a, s.run[q].t)
        t, si, so = visits.begin(s, o, t, b, si, so)
        if k == runs.LEAF and kj == runs.LEAF:
            if m == 1:
                z, u = runs.LEAF | runs.STEP, rings.number(s, q, 0) * dim + rings.number(s, r, 0)
            elif (y & (runs.STEP | runs.MEM)) == 0 and w == 0:  # the fiber of reference 0: as it is
                u = rings.copied(s, o, r, m)
                z = runs.LEAF | runs.SLOPE | (x & (runs.STEP | runs.MEM | runs.RING))
            elif (y & (runs.STEP | runs.MEM)) == 0 and (x & runs.MEM) == 0:
                z, u = runs.LEAF | runs.SLOPE | (x & runs.STEP), w * dim + v
            else:
                z, u = runs.LEAF | runs.SLOPE | runs.STEP | runs.MEM | runs.RING, rings.slot(s, o)
                for e in range(m):
                    s.ints[u + e] = rings.number(s, q, e) * dim + rings.number(s, r, e)
        elif rings.is_leaf(k) and rings.is_leaf(kj):
            z, u = runs.EMPTY | runs.SLOPE, 0
        else:
            if k != kj or v != w:
                return visits.fail(nd, t, rules.LOCATE_MISMATCH)
            z, u = k | runs.STEP, v
        rings.take(s, i, m, a, t + 1, 1)
        rings.take(s, j, m, b, t + 1, 1)
        rings.put(s, o, m, t + 1, t + 1, z, u)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        t += m


_SAM_LOCATOR = slots(
    phase="s0",  # what comes next, one of those above
    ref_kind="s1",  # of the reference held,
    ref="s2",  # and its number
)


@kernel("sam_locate", _SAM_LOCATOR)
def sam_locate(node: Int, table: Int) -> Int:
    """Coordinate as reference, reference, coordinate; the coordinate is held as others hold."""
    s = state_of(table)
    nd = node_of(s, node, _SAM_LOCATOR)
    i, j = s.ints[nd.ins], s.ints[nd.ins + 1]
    o1, o2, o3 = s.ints[nd.outs], s.ints[nd.outs + 1], s.ints[nd.outs + 2]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.phase == _BOTH:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            a = max(t, s.run[r].t)
            m = min(rings.room(s, o1), rings.room(s, o2), rings.room(s, o3))
            if not rings.has(s, j) or m == 0:
                if not visits.goes_ahead(s, nd, i, j):
                    if not rings.has(s, j):
                        return visits.leave(nd, t, si, so, waits.INPUT, j)
                    c = o1 if rings.room(s, o1) == 0 else o2 if rings.room(s, o2) == 0 else o3
                    return visits.leave(nd, t, si, so, waits.ROOM, c)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                nd.ref_kind = s.run[r].x & runs.KIND
                nd.ref = rings.number(s, r, 0) if nd.ref_kind == runs.LEAF else s.run[r].v
                rings.take_one(s, i, t)
                nd.phase = _SECOND
                continue
            q = rings.head(s, j)
            k = s.run[r].x & runs.KIND
            m = min(m, s.run[r].n, s.run[q].n)
            b = max(a, s.run[q].t)
            si += visits.waited(s, waits.INPUT, t, b)
            t1 = max(b, rings.free_at(s, o1))
            t2 = max(t1, rings.free_at(s, o2))
            t = max(t2, rings.free_at(s, o3))
            so += visits.waited(s, waits.ROOM, b, t)
            rings.pass_on(s, o1, q, m, t1 + 1, t + 1)
            rings.pass_on(s, o2, r, m, t2 + 1, t + 1)  # s.run[r].x
            rings.pass_on(s, o3, q, m, t + 1, t + 1)
            rings.take(s, i, m, a, t + 1, 1)
            rings.take(s, j, m, b, t + 1, 1)
            if k == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            t += m
            continue
        if nd.phase == _SECOND:
            if not rings.has(s, j):
                return visits.leave(nd, t, si, so, waits.INPUT, j)
            q = rings.head(s, j)
            t, si = visits.stall(s, waits.INPUT, t, s.run[q].t, si)
            hold_kind = s.run[q].x & runs.KIND
            nd.hk = hold_kind
            nd.hv = rings.number(s, q, 0) if hold_kind == runs.LEAF else s.run[q].v
            rings.take_one(s, j, t)
            nd.phase = _PUT
        c = o1 if nd.phase == _PUT else o2 if nd.phase == _PUT_2 else o3
        if rings.room(s, c) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, c)
        t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
        if nd.phase == _PUT_2:
            rings.put_one(s, c, t + 1, nd.ref_kind, nd.ref, zero)
        else:
            rings.put_one(s, c, t + 1, nd.hk, nd.hv, zero)
        nd.phase += 1
        if nd.phase > _PUT_3:
            nd.phase = _BOTH
            if nd.ref_kind == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            t += 1
