"""Intersecter and unioner of any number of operands (``docs/spec/machine.md`` §4.4, §4.5).

Ports of a node: inputs crd, payload of each operand in turn; outputs crd, then payloads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import layout, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

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
    if p.x & runs.STEP and not p.x & runs.MEM:
        return min(n, limit - p.v)
    if p.x & runs.STEP:
        return _jump(layout.pointer(s.ints), p.v, n, limit)
    return n  # all the same


@inline
def _common(s: SimulationState, r: Int, q: Int, n: Int) -> Int:
    """Count the first ``n`` coordinates of two runs that agree (at least one does)."""
    a, b = s.run[r], s.run[q]
    if a.x == b.x and a.v == b.v:
        return n
    if a.x & runs.STEP and b.x & runs.STEP and not (a.x | b.x) & runs.MEM:
        return n  # both count up from the same number
    e = 1
    while e < n and rings.number(s, r, e) == rings.number(s, q, e):
        e += 1
    return e


@inline
def _finish_step(s: SimulationState, nd: Any, t: Int, so: Int) -> tuple[Int, Int, Int]:
    """Put and take one operand after the other; clock, stall and the full channel, or -1."""
    zero = np.float32(0)
    while nd.operand < nd.operands:
        k = nd.operand
        crd, load = s.ints[nd.ins + 2 * k], s.ints[nd.ins + 2 * k + 1]
        r = rings.head(s, crd)
        member = nd.whole or (
            (s.run[r].x & runs.KIND) == runs.LEAF and rings.number(s, r, 0) == nd.crd
        )
        if k == nd.leader and not nd.crd_put:
            c = s.ints[nd.outs]
            if rings.room(s, c) == 0:
                return t, so, c
            t, so = visits.put_token(s, c, t, so, nd.kind, nd.crd, zero)
            nd.crd_put = 1
        if not nd.silent and (member or nd.is_union):
            c = s.ints[nd.outs + 1 + k]
            if rings.room(s, c) == 0:
                return t, so, c
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
            q = rings.head(s, load)
            if not member:
                rings.put_one(s, c, t + 1, runs.EMPTY, 0, zero)
            elif s.run[q].x & runs.KIND == runs.LEAF and s.ch[c].val:
                rings.put_one(s, c, t + 1, runs.LEAF, 0, s.floats[s.run[q].v])
            else:
                rings.put_one(s, c, t + 1, s.run[q].x & runs.KIND, rings.number(s, q, 0), zero)
        if member:
            rings.take_one(s, crd, t)
            rings.take_one(s, load, t)
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
    p.t += m if x & runs.SLOPE else 0
    p.v += m if x & runs.STEP else 0


@inline
def _apart(s: SimulationState, r: Int, n: Int, q: Int, m: Int) -> tuple[Int, Int]:
    """Count those of ``n`` and ``m`` coordinates before the first that both runs have.

    Those of a run are consecutive or in memory, and ascending; one run ends where none is common.
    """
    a, b = s.run[r], s.run[q]
    u, v = a.v, b.v
    k, w = 0, 0
    if a.x & b.x & runs.MEM:
        c = layout.pointer(s.ints)
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
    elif b.x & runs.MEM:
        while k < n and w < m:
            right = s.ints[v + w]
            if u + k == right:
                break
            if u + k < right:
                k = min(n, right - u)
            elif m - w > FAR and s.ints[v + w + FAR] < u + k:
                w += _jump(layout.pointer(s.ints), v + w, m - w, u + k)
            else:
                w += 1
    elif a.x & runs.MEM:
        while k < n and w < m:
            left = s.ints[u + k]
            if left == v + w:
                break
            if left > v + w:
                w = min(m, left - v)
            elif n - k > FAR and s.ints[u + k + FAR] < v + w:
                k += _jump(layout.pointer(s.ints), u + k, n - k, v + w)
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
        ra, re, rb, rf = rings.head(s, i), rings.head(s, y), rings.head(s, j), rings.head(s, z)
        a, e, b, f = s.run[ra], s.run[re], s.run[rb], s.run[rf]
        ka, kb = a.x & runs.KIND, b.x & runs.KIND
        clock = max(t, a.t, b.t)
        clock = max(clock, e.t, f.t)
        if (e.x & runs.KIND) != ka or (f.x & runs.KIND) != kb:
            break
        if ka == runs.STOP and (a.v != e.v or (kb == runs.STOP and a.v != b.v)):
            break
        if kb == runs.STOP and b.v != f.v:
            break
        # Data that move when others before them are taken are left to the others' code.
        x = (a.x & e.x if ka == runs.LEAF else runs.STEP) & (
            b.x & f.x if kb == runs.LEAF else runs.STEP
        )
        if not x & runs.STEP and (a.x | e.x | b.x | f.x) & runs.RING:
            break
        n, m = min(a.n, e.n), min(b.n, f.n)
        cycles = 1
        if ka == runs.LEAF and kb == runs.LEAF:
            if not a.x & b.x & runs.STEP:
                break
            k, w = _apart(s, ra, n, rb, m)
            cycles = k + w
            if cycles == 0:
                cycles = min(n, m, rings.room(s, o))
                cycles = min(cycles, rings.room(s, p), rings.room(s, q))
                if cycles == 0:
                    break
                k = w = cycles = _common(s, ra, rb, cycles)
                rings.pass_on(s, o, ra, k, clock + 1, clock + 1)
                rings.pass_on(s, p, re, k, clock + 1, clock + 1)
                rings.pass_on(s, q, rf, k, clock + 1, clock + 1)
            n, m = k, w
        elif ka == runs.LEAF and kb == runs.STOP:
            m = 0
            cycles = n
        elif ka == runs.STOP and kb == runs.LEAF:
            n = 0
            cycles = m
        elif ka == runs.STOP and kb == runs.STOP:
            if rings.room(s, o) == 0 or rings.room(s, p) == 0 or rings.room(s, q) == 0:
                break
            rings.pass_on(s, o, ra, 1, clock + 1, clock + 1)
            rings.pass_on(s, p, re, 1, clock + 1, clock + 1)
            rings.pass_on(s, q, rf, 1, clock + 1, clock + 1)
        else:
            break
        si += visits.waited(s, waits.INPUT, t, clock)
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
                return visits.leave(nd, t, si, so, waits.ROOM, c)
            if whole and kind == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            nd.begun = 0 if whole and kind == runs.STOP else not gated
            t += 1
        if not union and count == 2:
            t, si = _meet(s, nd, t, si)
        # The heads: coordinates first, then payloads.
        missing = -1
        a = t
        for j in range(2 * count):
            k = 2 * j if j < count else 2 * (j - count) + 1
            c = s.ints[ins + k]
            if not rings.has(s, c):
                missing = c
                break
            a = max(a, s.run[rings.head(s, c)].t)
        if missing >= 0:
            return visits.leave(nd, t, si, so, waits.INPUT, missing)
        r0 = rings.head(s, s.ints[ins])
        kind = s.run[r0].x & runs.KIND
        first = rings.number(s, r0, 0)
        whole, rule = True, rules.NONE
        leaves, stops, level = 0, 0, 0
        # The smallest coordinate, the next larger, whose the smallest is.
        least, after, member = layout.FOREVER, layout.FOREVER, -1
        members = 0
        for k in range(count):
            r, q = rings.head(s, s.ints[ins + 2 * k]), rings.head(s, s.ints[ins + 2 * k + 1])
            kr, kq = s.run[r].x & runs.KIND, s.run[q].x & runs.KIND
            v = rings.number(s, r, 0)
            if kr != kq and not (rings.is_leaf(kr) and rings.is_leaf(kq)):
                rule = rules.PAYLOAD_DISAGREES
            if kr == runs.STOP and v != s.run[q].v:
                rule = rules.PAYLOAD_DISAGREES
            if kr != kind or v != first:
                whole = False
            if kr == runs.LEAF:
                leaves += 1
                if v < least:
                    after = least
                    least, member, members = v, k, 1
                elif v == least:
                    members += 1
                elif v < after:
                    after = v
            elif kr == runs.STOP:
                if stops > 0 and v != level:
                    leaves = -layout.FOREVER
                stops += 1
                level = v
            elif kr == runs.EMPTY and union:
                rule = rules.EMPTY_COORDINATE
        if rule == rules.NONE and not whole and (leaves <= 0 or leaves + stops < count):
            rule = rules.OPERANDS_DISAGREE
        if rule != rules.NONE:
            return visits.fail(nd, a, rule)
        gated = False
        if not whole and gate > 0 and not nd.begun:
            gated = True
            for k in range(gate):
                if s.run[rings.head(s, s.ints[ins + 2 * k])].x & runs.KIND != runs.STOP:
                    gated = False
        silent = gated or not (whole or union)
        # How many coordinates alike can be worked off at once.
        m = layout.FOREVER
        if (whole and kind != runs.LEAF) or (not whole and members > 1):
            m = 1
        if not silent:
            full = -1
            for k in range(count + 1):
                free = rings.room(s, s.ints[outs + k])
                if free == 0 and (full < 0 or k == 0):
                    full = s.ints[outs + k]
                m = min(m, free)
            if m == 0:
                if not nd.eager or not rings.starved(s, full):
                    return visits.leave(nd, t, si, so, waits.ROOM, full)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                lead = 0 if whole else member
                nd.stepping, nd.operand, nd.crd_put, nd.leader, nd.whole = 1, 0, 0, lead, whole
                nd.kind, nd.crd = kind if whole else runs.LEAF, first if whole else least
                nd.silent = False
                continue
        if whole:
            for k in range(count):
                r, q = rings.head(s, s.ints[ins + 2 * k]), rings.head(s, s.ints[ins + 2 * k + 1])
                m = min(m, s.run[r].n, s.run[q].n)
            if m > 1:
                for k in range(1, count):
                    m = _common(s, r0, rings.head(s, s.ints[ins + 2 * k]), m)
        elif members == 1:
            r = rings.head(s, s.ints[ins + 2 * member])
            m = min(m, s.run[r].n, s.run[rings.head(s, s.ints[ins + 2 * member + 1])].n)
            if m > 1 and after < layout.FOREVER:
                m = _below(s, r, m, after)
        t, si = visits.stall(s, waits.INPUT, t, a, si)
        # Clocks at which the first of them leaves through each output, in the order of puts.
        if not silent:
            for k in range(count):
                if k == (0 if whole else member):
                    t = max(t, rings.free_at(s, s.ints[outs]))
                    s.ints[scratch] = t
                t = max(t, rings.free_at(s, s.ints[outs + 1 + k]))
                s.ints[scratch + 1 + k] = t
            so += visits.waited(s, waits.ROOM, a, t)
            r = r0 if whole else rings.head(s, s.ints[ins + 2 * member])
            c = s.ints[outs]
            rings.pass_on(s, c, r, m, s.ints[scratch] + 1, t + 1)
        for k in range(count):
            crd, load = s.ints[ins + 2 * k], s.ints[ins + 2 * k + 1]
            r, q = rings.head(s, crd), rings.head(s, load)
            taking = whole or (
                (s.run[r].x & runs.KIND) == runs.LEAF and rings.number(s, r, 0) == least
            )
            at = t if silent else s.ints[scratch + 1 + k]
            if not silent:
                c = s.ints[outs + 1 + k]
                if taking:
                    rings.pass_on(s, c, q, m, at + 1, t + 1)
                else:
                    rings.put(s, c, m, at + 1, t + 1, runs.EMPTY | runs.SLOPE, 0)
            if taking:
                if m == 1:
                    rings.take_one(s, crd, at)
                    rings.take_one(s, load, at)
                else:
                    rings.take(s, crd, m, at, t + 1, 1)
                    rings.take(s, load, m, at, t + 1, 1)
        if whole and kind == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
        nd.begun = 0 if whole and kind == runs.STOP else not gated
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
