"""Level scanners and locators (``docs/spec/machine.md`` §3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    GOES_ON,
    INPUT,
    KIND,
    LEAF,
    MEM,
    RING,
    ROOM,
    SLOPE,
    STEP,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    SimulationState,
    state_of,
)
from fuseloom.dataflow.sim.compiled.rings import (
    copied,
    free_at,
    has,
    head,
    is_leaf,
    number,
    put,
    put_one,
    room,
    slot,
    starved,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import BAD_FIBER, LOCATE_MISMATCH
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import fail, leave, no_room, put_held, stall, waited

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
            if not has(s, i):
                wait, c = WAIT_INPUT, i
                break
            r = head(s, i)
            q = s.run[r]
            k = q.x & KIND
            t, si = stall(s, INPUT, t, q.t, si)
            if k == LEAF:
                ref = number(s, r, 0)
                if compressed:
                    if ref < 0 or ref >= size:
                        return fail(nd, t, BAD_FIBER)
                    p, end = s.ints[seg + ref], s.ints[seg + ref + 1]
                    base = 0
                else:
                    p, end, base = 0, size, ref * size
                phase = _FIBER
            elif k == EMPTY and not forwards_empty:
                p, end = 0, 0
                phase = _AHEAD
            else:
                nd.hk = k
                nd.hv = q.v + 1 if k == STOP else 0
                phase = _CRD
            take_one(s, i, t)
        if phase == _FIBER:
            stuck = False
            while p < end:
                m = min(room(s, o1), room(s, o2), end - p)
                if m == 0:
                    stuck = True
                    break
                a = max(t, free_at(s, o1))
                b = max(a, free_at(s, o2))
                so += waited(s, ROOM, t, b)
                if compressed:
                    put(s, o1, m, a + 1, b + 1, LEAF | SLOPE | STEP | MEM, crd + p)
                else:
                    put(s, o1, m, a + 1, b + 1, LEAF | SLOPE | STEP, p)
                put(s, o2, m, b + 1, b + 1, LEAF | SLOPE | STEP, base + p)
                p += m
                t = b + m
            if stuck:
                if room(s, o1) == 0:
                    wait, c = WAIT_OUTPUT, o1
                    break
                if not (nd.eager and starved(s, o2)):
                    wait, c = WAIT_OUTPUT, o2
                    break
                t, so = stall(s, ROOM, t, free_at(s, o1), so)
                put_one(s, o1, t + 1, LEAF, s.ints[crd + p] if compressed else p, zero)
                phase = _LAST_REF
            else:
                phase = _AHEAD
        if phase == _LAST_REF:
            if room(s, o2) == 0:
                wait, c = WAIT_OUTPUT, o2
                break
            a = max(t, free_at(s, o2))
            so += waited(s, ROOM, t, a)
            put_one(s, o2, a + 1, LEAF, base + p, zero)
            t = a + 1
            p += 1
            phase = _FIBER
            continue
        if phase == _AHEAD:
            if not has(s, i):
                wait, c = WAIT_INPUT, i
                break
            q = s.run[head(s, i)]
            t, si = stall(s, INPUT, t, q.t, si)
            nd.hk = STOP
            nd.hv = 0
            if q.x & KIND == STOP:
                nd.hv = q.v + 1
                take_one(s, i, t)
            phase = _CRD
        if phase == _CRD:
            if room(s, o1) == 0:
                wait, c = WAIT_OUTPUT, o1
                break
            t, so = stall(s, ROOM, t, free_at(s, o1), so)
            put(s, o1, 1, t + 1, t + 1, nd.hk | STEP, nd.hv)
            phase = _REF
        if phase == _REF:
            if room(s, o2) == 0:
                wait, c = WAIT_OUTPUT, o2
                break
            t, so = stall(s, ROOM, t, free_at(s, o2), so)
            put(s, o2, 1, t + 1, t + 1, nd.hk | STEP, nd.hv)
            phase = _REFS
            if nd.hk == DONE:
                wait, c = WAIT_NONE, 0
                break
            t += 1
    nd.phase, nd.position, nd.end, nd.base = phase, p, end, base
    return leave(nd, t, si, so, wait, c)


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
            t, so, status = put_held(s, nd, o, t, si, so, 1)
            if status != GOES_ON:
                return status
            nd.phase = _BOTH
            continue
        if nd.phase == _SECOND:
            if not has(s, j):
                return leave(nd, t, si, so, WAIT_INPUT, j)
            q = head(s, j)
            t, si = stall(s, INPUT, t, s.run[q].t, si)
            kj = s.run[q].x & KIND
            nd.hk, nd.hv = nd.crd_kind, nd.crd
            if is_leaf(nd.crd_kind):
                if not is_leaf(kj):
                    return fail(nd, t, LOCATE_MISMATCH)
                if kj == EMPTY:
                    nd.hk = EMPTY
                elif nd.crd_kind == LEAF:
                    nd.hv = number(s, q, 0) * dim + nd.crd
            elif kj != nd.crd_kind or s.run[q].v != nd.crd:
                return fail(nd, t, LOCATE_MISMATCH)
            take_one(s, j, t)
            nd.phase = _PUT
            continue
        if not has(s, i):
            return leave(nd, t, si, so, WAIT_INPUT, i)
        r = head(s, i)
        x, v = s.run[r].x, s.run[r].v
        k = x & KIND
        ahead = not has(s, j)
        if ahead and not (nd.eager or starved(s, i)):
            return leave(nd, t, si, so, WAIT_INPUT, j)
        m = room(s, o)
        if m == 0 and not ahead:
            if not (no_room(s, nd, i, o) or no_room(s, nd, j, o)):
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            ahead = True
        a = max(t, s.run[r].t)
        if ahead:
            t, si = stall(s, INPUT, t, a, si)
            nd.crd_kind, nd.crd = k, number(s, r, 0) if k == LEAF else v
            take_one(s, i, t)
            nd.phase = _SECOND
            continue
        q = head(s, j)
        y, w = s.run[q].x, s.run[q].v
        kj = y & KIND
        m = min(m, s.run[r].n, s.run[q].n)
        b = max(a, s.run[q].t)
        si += waited(s, INPUT, t, b)
        t = max(b, free_at(s, o))
        so += waited(s, ROOM, b, t)
        if k == LEAF and kj == LEAF:
            if m == 1:
                z, u = LEAF | STEP, number(s, q, 0) * dim + number(s, r, 0)
            elif (y & (STEP | MEM)) == 0 and w == 0:  # the fiber of reference 0: as it is
                z, u = LEAF | SLOPE | (x & (STEP | MEM | RING)), copied(s, o, r, m)
            elif (y & (STEP | MEM)) == 0 and (x & MEM) == 0:
                z, u = LEAF | SLOPE | (x & STEP), w * dim + v
            else:
                z, u = LEAF | SLOPE | STEP | MEM | RING, slot(s, o)
                for e in range(m):
                    s.ints[u + e] = number(s, q, e) * dim + number(s, r, e)
        elif is_leaf(k) and is_leaf(kj):
            z, u = EMPTY | SLOPE, 0
        else:
            if k != kj or v != w:
                return fail(nd, t, LOCATE_MISMATCH)
            z, u = k | STEP, v
        take(s, i, m, a, t + 1, 1)
        take(s, j, m, b, t + 1, 1)
        put(s, o, m, t + 1, t + 1, z, u)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
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
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            a = max(t, s.run[r].t)
            m = min(room(s, o1), room(s, o2), room(s, o3))
            if not has(s, j) or m == 0:
                if not (nd.eager or starved(s, i) or (has(s, j) and starved(s, j))):
                    if not has(s, j):
                        return leave(nd, t, si, so, WAIT_INPUT, j)
                    c = o1 if room(s, o1) == 0 else o2 if room(s, o2) == 0 else o3
                    return leave(nd, t, si, so, WAIT_OUTPUT, c)
                t, si = stall(s, INPUT, t, a, si)
                nd.ref_kind = s.run[r].x & KIND
                nd.ref = number(s, r, 0) if nd.ref_kind == LEAF else s.run[r].v
                take_one(s, i, t)
                nd.phase = _SECOND
                continue
            q = head(s, j)
            k = s.run[r].x & KIND
            m = min(m, s.run[r].n, s.run[q].n)
            b = max(a, s.run[q].t)
            si += waited(s, INPUT, t, b)
            t1 = max(b, free_at(s, o1))
            t2 = max(t1, free_at(s, o2))
            t = max(t2, free_at(s, o3))
            so += waited(s, ROOM, b, t)
            x = (s.run[q].x & ~SLOPE) | SLOPE
            put(s, o1, m, t1 + 1, t + 1, x, copied(s, o1, q, m))
            put(s, o2, m, t2 + 1, t + 1, s.run[r].x | SLOPE, copied(s, o2, r, m))
            put(s, o3, m, t + 1, t + 1, x, copied(s, o3, q, m))
            take(s, i, m, a, t + 1, 1)
            take(s, j, m, b, t + 1, 1)
            if k == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += m
            continue
        if nd.phase == _SECOND:
            if not has(s, j):
                return leave(nd, t, si, so, WAIT_INPUT, j)
            q = head(s, j)
            t, si = stall(s, INPUT, t, s.run[q].t, si)
            hold_kind = s.run[q].x & KIND
            nd.hk = hold_kind
            nd.hv = number(s, q, 0) if hold_kind == LEAF else s.run[q].v
            take_one(s, j, t)
            nd.phase = _PUT
        c = o1 if nd.phase == _PUT else o2 if nd.phase == _PUT_2 else o3
        if room(s, c) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, c)
        t, so = stall(s, ROOM, t, free_at(s, c), so)
        if nd.phase == _PUT_2:
            put_one(s, c, t + 1, nd.ref_kind, nd.ref, zero)
        else:
            put_one(s, c, t + 1, nd.hk, nd.hv, zero)
        nd.phase += 1
        if nd.phase > _PUT_3:
            nd.phase = _BOTH
            if nd.ref_kind == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += 1
