"""Runs of two streams of coordinates: how far they agree, differ, and intersect.

Parts of the joiners (:mod:`fuseloom.dataflow.primitives.joiners.kernels`).
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import layout, rings, runs, visits, waits
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState

FAR = 16
"""Coordinates that are passed one by one; more of them are jumped over."""


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
def below(s: SimulationState, r: Int, n: Int, limit: Int) -> Int:
    """Count the first ``n`` coordinates of a run that are below ``limit`` (at least one is)."""
    p = s.run[r]
    if p.x & runs.STEP and not p.x & runs.MEM:
        return min(n, limit - p.v)
    if p.x & runs.STEP:
        return _jump(layout.pointer(s.ints), p.v, n, limit)
    return n  # all the same


@inline
def common(s: SimulationState, r: Int, q: Int, n: Int) -> Int:
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
def meet(s: SimulationState, nd: Any, t: Int, si: Int) -> tuple[Int, Int]:
    """Go on with an intersection of two streams, without limits, while all heads are at hand.

    The same steps as the joiner takes, many at once.  Every cycle takes one coordinate, or one
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
                k = w = cycles = common(s, ra, rb, cycles)
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
