"""Intersecter and unioner of any number of operands (``docs/spec/machine.md`` §4.4, §4.5).

Ports of a node: inputs crd, payload of each operand in turn; outputs crd, then payloads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    FOREVER,
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
    pointer,
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
    starved,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import (
    EMPTY_COORDINATE,
    NONE,
    OPERANDS_DISAGREE,
    PAYLOAD_DISAGREES,
)
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import fail, leave, stall, waited

FAR = 16
"""Coordinates that are passed one by one; more of them are jumped over."""

_JOINER = slots(
    operands="p0",  # how many
    is_union="p1",  # coordinates that one of them has, not only those that all have
    gate="p2",  # how many operands, all empty, make a fiber empty; 0: none does
    clocks="p3",  # in the integers, scratch: one per output
    stepping="s0",  # in the middle of a step that goes token by token
    operand="s1",  # next one of that step
    crd_put="s2",  # the coordinate of that step was put, or is not to be
    leader="s3",  # operand before whose payload the coordinate goes
    whole="s4",  # all operands take part
    kind="s5",  # of the coordinate
    crd="s6",  # its number
    begun="s7",  # something of this fiber was put
    silent="s8",  # the step puts nothing
)


@inline
def _jump(c: Any, at: Int, n: Int, limit: Int) -> Int:
    """Count those of ``n`` ascending numbers that are below ``limit``, by a galloping search."""
    step, low = 1, 0  # all before low are below
    while low + step <= n and c[at + low + step - 1] < limit:
        low += step
        step *= 2
    high = min(n, low + step - 1)  # none from there on is
    while low < high:
        middle = (low + high) >> 1
        if c[at + middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def _below(s: SimulationState, r: Int, n: Int, limit: Int) -> Int:
    """Count the first ``n`` coordinates of a run that are below ``limit`` (at least one is)."""
    p = s.run[r]
    if p.x & STEP and not p.x & MEM:
        return min(n, limit - p.v)
    if p.x & STEP:
        return _jump(pointer(s.ints), p.v, n, limit)
    return n  # all the same


@inline
def _common(s: SimulationState, r: Int, q: Int, n: Int) -> Int:
    """Count the first ``n`` coordinates of two runs that agree (at least one does)."""
    a, b = s.run[r], s.run[q]
    if a.x == b.x and a.v == b.v:
        return n
    if a.x & STEP and b.x & STEP and not (a.x | b.x) & MEM:
        return n  # both count up from the same number
    e = 1
    while e < n and number(s, r, e) == number(s, q, e):
        e += 1
    return e


@inline
def _finish_step(s: SimulationState, nd: Any, t: Int, so: Int) -> tuple[Int, Int, Int]:
    """Put and take one operand after the other; clock, stall and the full channel, or -1."""
    zero = np.float32(0)
    while nd.operand < nd.operands:
        k = nd.operand
        crd, load = s.ints[nd.ins + 2 * k], s.ints[nd.ins + 2 * k + 1]
        r = head(s, crd)
        member = nd.whole or ((s.run[r].x & KIND) == LEAF and number(s, r, 0) == nd.crd)
        if k == nd.leader and not nd.crd_put:
            c = s.ints[nd.outs]
            if room(s, c) == 0:
                return t, so, c
            t, so = stall(s, ROOM, t, free_at(s, c), so)
            put_one(s, c, t + 1, nd.kind, nd.crd, zero)
            nd.crd_put = 1
        if not nd.silent and (member or nd.is_union):
            c = s.ints[nd.outs + 1 + k]
            if room(s, c) == 0:
                return t, so, c
            t, so = stall(s, ROOM, t, free_at(s, c), so)
            q = head(s, load)
            if not member:
                put_one(s, c, t + 1, EMPTY, 0, zero)
            elif s.run[q].x & KIND == LEAF and s.ch[c].val:
                put_one(s, c, t + 1, LEAF, 0, s.floats[s.run[q].v])
            else:
                put_one(s, c, t + 1, s.run[q].x & KIND, number(s, q, 0), zero)
        if member:
            take_one(s, crd, t)
            take_one(s, load, t)
        nd.operand = k + 1
    nd.stepping = 0
    return t, so, -1


@inline
def _free(s: SimulationState, c: Int) -> Int:
    """Return whether taking tokens of a channel needs no note and gives no slot back."""
    q = s.ch[c]
    return q.cap == 0 and q.rs < 0 and q.ht > 0


@inline
def _drop(s: SimulationState, c: Int, m: Int) -> None:
    """Remove ``m`` numbers or stops of the first run of such a channel."""
    q = s.ch[c]
    p = s.run[q.ro + (q.hr & q.rm)]
    q.ht += m
    if p.n == m:
        q.hr += 1
        return
    p.n -= m
    x = p.x
    p.t += m if x & SLOPE else 0
    p.v += m if x & STEP else 0


@inline
def _apart(s: SimulationState, r: Int, n: Int, q: Int, m: Int) -> tuple[Int, Int]:
    """Count those of ``n`` and ``m`` coordinates before the first that both runs have.

    Those of a run are consecutive or in memory, and ascending; one run ends where none is common.
    """
    a, b = s.run[r], s.run[q]
    u, v = a.v, b.v
    k, w = 0, 0
    if a.x & b.x & MEM:
        c = pointer(s.ints)
        while k < n and w < m:
            left, right = c[u + k], c[v + w]
            if left == right:
                break
            if m - w > FAR and c[v + w + FAR] < left:
                w += _jump(c, v + w, m - w, left)
            elif n - k > FAR and c[u + k + FAR] < right:
                k += _jump(c, u + k, n - k, right)
            else:
                k += left < right
                w += right < left
    elif b.x & MEM:
        while k < n and w < m:
            right = s.ints[v + w]
            if u + k == right:
                break
            if u + k < right:
                k = min(n, right - u)
            elif m - w > FAR and s.ints[v + w + FAR] < u + k:
                w += _jump(pointer(s.ints), v + w, m - w, u + k)
            else:
                w += 1
    elif a.x & MEM:
        while k < n and w < m:
            left = s.ints[u + k]
            if left == v + w:
                break
            if left > v + w:
                w = min(m, left - v)
            elif n - k > FAR and s.ints[u + k + FAR] < v + w:
                k += _jump(pointer(s.ints), u + k, n - k, v + w)
            else:
                k += 1
    elif u < v:
        k = min(n, v - u)
    else:
        w = min(m, u - v)
    return k, w


@inline
def _meet(s: SimulationState, nd: Any, t: Int, si: Int) -> tuple[Int, Int]:
    """Go on with an intersection of two streams, without limits, while all heads are at hand.

    The same steps as :func:`_join` takes, many at once.  Every cycle takes one coordinate, or one
    that both have, and tokens of a run come at most a cycle apart: so where the heads are there
    at the first step, those after them are there in time.  The clock and the stalls for input.
    """
    i, y = s.ints[nd.ins], s.ints[nd.ins + 1]
    j, z = s.ints[nd.ins + 2], s.ints[nd.ins + 3]
    o, p, q = s.ints[nd.outs], s.ints[nd.outs + 1], s.ints[nd.outs + 2]
    free = _free(s, i) and _free(s, y) and _free(s, j) and _free(s, z)
    if not free or s.ch[o].cap > 0 or s.ch[p].cap > 0 or s.ch[q].cap > 0:
        return t, si
    ci, cy, cj, cz = s.ch[i], s.ch[y], s.ch[j], s.ch[z]
    while ci.tr > ci.hr and cy.tr > cy.hr and cj.tr > cj.hr and cz.tr > cz.hr:
        ra, re, rb, rf = head(s, i), head(s, y), head(s, j), head(s, z)
        a, e, b, f = s.run[ra], s.run[re], s.run[rb], s.run[rf]
        ka, kb = a.x & KIND, b.x & KIND
        clock = max(t, a.t, b.t)
        clock = max(clock, e.t, f.t)
        if (e.x & KIND) != ka or (f.x & KIND) != kb:
            break
        if ka == STOP and (a.v != e.v or (kb == STOP and a.v != b.v)):
            break
        if kb == STOP and b.v != f.v:
            break
        # Data that move when others before them are taken are left to the others' code.
        x = (a.x & e.x if ka == LEAF else STEP) & (b.x & f.x if kb == LEAF else STEP)
        if not x & STEP and (a.x | e.x | b.x | f.x) & RING:
            break
        n, m = min(a.n, e.n), min(b.n, f.n)
        cycles = 1
        if ka == LEAF and kb == LEAF:
            if not a.x & b.x & STEP:
                break
            k, w = _apart(s, ra, n, rb, m)
            cycles = k + w
            if cycles == 0:
                cycles = min(n, m, room(s, o))
                cycles = min(cycles, room(s, p), room(s, q))
                if cycles == 0:
                    break
                k = w = cycles = _common(s, ra, rb, cycles)
                put(s, o, k, clock + 1, clock + 1, a.x | SLOPE, copied(s, o, ra, k))
                put(s, p, k, clock + 1, clock + 1, e.x | SLOPE, copied(s, p, re, k))
                put(s, q, k, clock + 1, clock + 1, f.x | SLOPE, copied(s, q, rf, k))
            n, m = k, w
        elif ka == LEAF and kb == STOP:
            m = 0
            cycles = n
        elif ka == STOP and kb == LEAF:
            n = 0
            cycles = m
        elif ka == STOP and kb == STOP:
            if room(s, o) == 0 or room(s, p) == 0 or room(s, q) == 0:
                break
            put(s, o, 1, clock + 1, clock + 1, a.x | SLOPE, a.v)
            put(s, p, 1, clock + 1, clock + 1, e.x | SLOPE, e.v)
            put(s, q, 1, clock + 1, clock + 1, f.x | SLOPE, f.v)
        else:
            break
        si += waited(s, INPUT, t, clock)
        t = clock + cycles
        if n > 0:
            _drop(s, i, n)
            _drop(s, y, n)
        if m > 0:
            _drop(s, j, m)
            _drop(s, z, m)
    return t, si


@inline
def _join(s: SimulationState, nd: Any) -> Int:
    """Walk the operands' coordinates in order."""
    count, union, gate, scratch = nd.operands, nd.is_union, nd.gate, nd.clocks
    ins, outs = nd.ins, nd.outs
    t, si, so = nd.clk, nd.si, nd.so
    while True:
        if nd.stepping:
            kind, gated, whole = nd.kind, nd.silent, nd.whole
            t, so, c = _finish_step(s, nd, t, so)
            if c >= 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, c)
            if whole and kind == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            nd.begun = 0 if whole and kind == STOP else not gated
            t += 1
        if not union and count == 2:
            t, si = _meet(s, nd, t, si)
        # The heads: coordinates first, then payloads.
        missing = -1
        a = t
        for j in range(2 * count):
            k = 2 * j if j < count else 2 * (j - count) + 1
            c = s.ints[ins + k]
            if not has(s, c):
                missing = c
                break
            a = max(a, s.run[head(s, c)].t)
        if missing >= 0:
            return leave(nd, t, si, so, WAIT_INPUT, missing)
        r0 = head(s, s.ints[ins])
        kind = s.run[r0].x & KIND
        first = number(s, r0, 0)
        whole, rule = True, NONE
        leaves, stops, level = 0, 0, 0
        least, after, member = FOREVER, FOREVER, -1  # smallest coordinate, next larger, whose
        members = 0
        for k in range(count):
            r, q = head(s, s.ints[ins + 2 * k]), head(s, s.ints[ins + 2 * k + 1])
            kr, kq = s.run[r].x & KIND, s.run[q].x & KIND
            v = number(s, r, 0)
            if kr != kq and not (is_leaf(kr) and is_leaf(kq)):
                rule = PAYLOAD_DISAGREES
            if kr == STOP and v != s.run[q].v:
                rule = PAYLOAD_DISAGREES
            if kr != kind or v != first:
                whole = False
            if kr == LEAF:
                leaves += 1
                if v < least:
                    after = least
                    least, member, members = v, k, 1
                elif v == least:
                    members += 1
                elif v < after:
                    after = v
            elif kr == STOP:
                if stops > 0 and v != level:
                    leaves = -FOREVER
                stops += 1
                level = v
            elif kr == EMPTY and union:
                rule = EMPTY_COORDINATE
        if rule == NONE and not whole and (leaves <= 0 or leaves + stops < count):
            rule = OPERANDS_DISAGREE
        if rule != NONE:
            return fail(nd, a, rule)
        gated = False
        if not whole and gate > 0 and not nd.begun:
            gated = True
            for k in range(gate):
                if s.run[head(s, s.ints[ins + 2 * k])].x & KIND != STOP:
                    gated = False
        silent = gated or not (whole or union)
        # How many coordinates alike can be worked off at once.
        m = FOREVER
        if (whole and kind != LEAF) or (not whole and members > 1):
            m = 1
        if not silent:
            full = -1
            for k in range(count + 1):
                free = room(s, s.ints[outs + k])
                if free == 0 and (full < 0 or k == 0):
                    full = s.ints[outs + k]
                m = min(m, free)
            if m == 0:
                if not nd.eager or not starved(s, full):
                    return leave(nd, t, si, so, WAIT_OUTPUT, full)
                t, si = stall(s, INPUT, t, a, si)
                lead = 0 if whole else member
                nd.stepping, nd.operand, nd.crd_put, nd.leader, nd.whole = 1, 0, 0, lead, whole
                nd.kind, nd.crd = kind if whole else LEAF, first if whole else least
                nd.silent = False
                continue
        if whole:
            for k in range(count):
                r, q = head(s, s.ints[ins + 2 * k]), head(s, s.ints[ins + 2 * k + 1])
                m = min(m, s.run[r].n, s.run[q].n)
            if m > 1:
                for k in range(1, count):
                    m = _common(s, r0, head(s, s.ints[ins + 2 * k]), m)
        elif members == 1:
            r = head(s, s.ints[ins + 2 * member])
            m = min(m, s.run[r].n, s.run[head(s, s.ints[ins + 2 * member + 1])].n)
            if m > 1 and after < FOREVER:
                m = _below(s, r, m, after)
        t, si = stall(s, INPUT, t, a, si)
        # Clocks at which the first of them leaves through each output, in the order of puts.
        if not silent:
            for k in range(count):
                if k == (0 if whole else member):
                    t = max(t, free_at(s, s.ints[outs]))
                    s.ints[scratch] = t
                t = max(t, free_at(s, s.ints[outs + 1 + k]))
                s.ints[scratch + 1 + k] = t
            so += waited(s, ROOM, a, t)
            r = r0 if whole else head(s, s.ints[ins + 2 * member])
            c = s.ints[outs]
            x = (s.run[r].x & ~SLOPE) | SLOPE
            put(s, c, m, s.ints[scratch] + 1, t + 1, x, copied(s, c, r, m))
        for k in range(count):
            crd, load = s.ints[ins + 2 * k], s.ints[ins + 2 * k + 1]
            r, q = head(s, crd), head(s, load)
            taking = whole or ((s.run[r].x & KIND) == LEAF and number(s, r, 0) == least)
            at = t if silent else s.ints[scratch + 1 + k]
            if not silent:
                c = s.ints[outs + 1 + k]
                if taking:
                    x = (s.run[q].x & ~SLOPE) | SLOPE
                    put(s, c, m, at + 1, t + 1, x, copied(s, c, q, m))
                else:
                    put(s, c, m, at + 1, t + 1, EMPTY | SLOPE, 0)
            if taking:
                if m == 1:
                    take_one(s, crd, at)
                    take_one(s, load, at)
                else:
                    take(s, crd, m, at, t + 1, 1)
                    take(s, load, m, at, t + 1, 1)
        if whole and kind == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
        nd.begun = 0 if whole and kind == STOP else not gated
        t += m


def _operands(setup: Setup) -> dict[str, float]:
    count = len(setup.node.inputs) // 2
    return {"operands": count, "clocks": setup.ints.reserve(count + 1)}


def _gated_operands(setup: Setup) -> dict[str, float]:
    return {**_operands(setup), "is_union": 1, "gate": int(setup.param("gate", 0))}


@kernel("intersect", _JOINER, _operands)
def intersect(node: Int, table: Int) -> Int:
    """The coordinates that all operands have."""
    s = state_of(table)
    return _join(s, node_of(s, node, _JOINER))


@kernel("union", _JOINER, _gated_operands)
def union(node: Int, table: Int) -> Int:
    """The coordinates that any operand has, with N for operands that lack one.

    With ``gate`` = g > 0, a fiber in which the first g operands have nothing is empty.
    """
    s = state_of(table)
    return _join(s, node_of(s, node, _JOINER))
