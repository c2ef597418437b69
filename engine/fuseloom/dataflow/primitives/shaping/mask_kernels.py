"""Dropper of masked elements (``docs/spec/machine.md`` §7.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_TAKE, _REF, _FIRST_STOP, _INNER, _LOAD, _OUTER, _CLOSE, _CLOSING, _PASS, _LEFT = range(10)
# Take an inner token; its reference; put the outer stop in front (reference machine); put the
# inner token, the reference, the outer coordinate; take the outer stop that an inner one closes
# too; put it; take the outer token (reference machine); take the end of the outer stream.

_CRDMASK = slots(
    literal="p0",  # as the reference machine: stops of empty fibers are lost
    ends_early="p1",  # the end of the outer stream is left in it
    phase="s0",  # what comes next, one of those above
    ref_kind="s1",  # of the held inner token's reference
    ref="s2",  # its number
    nonempty="s3",  # something of the fiber was kept
    outer_kind="s4",  # of the outer token
    outer="s5",  # its number
)


def _mask(setup: Setup) -> dict[str, float]:
    quirks = setup.quirks
    return {"literal": quirks.mask_loses_stops, "ends_early": quirks.ends_with_unread_input}


@inline
def _alike(s: SimulationState, r: Int, m: Int, least: Int) -> Int:
    """Count the first ``m`` numbers that are on the same side of ``least`` as the first."""
    p = s.run[r]
    if not p.x & runs.STEP:
        return m
    if not p.x & runs.MEM:
        return m if p.v >= least else min(m, least - p.v)
    kept = rings.number(s, r, 0) >= least
    e = 1
    while e < m and (rings.number(s, r, e) >= least) == kept:
        e += 1
    return e


@inline
def _take_inner(
    s: SimulationState, nd: Any, i: Int, u: Int, j: Int, o1: Int, o3: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int, Int]:
    """Take inner tokens with their references, a run of those alike at once.

    Where a reference is missing, a slot, or an element, one inner token is taken and held.
    """
    if not rings.has(s, u):
        return t, si, so, visits.leave(nd, t, si, so, waits.INPUT, u)
    if not rings.has(s, i):
        return t, si, so, visits.leave(nd, t, si, so, waits.INPUT, i)
    r, q = rings.head(s, i), rings.head(s, u)
    k, outer_kind, outer = s.run[r].x & runs.KIND, s.run[q].x & runs.KIND, rings.number(s, q, 0)
    a = max(t, s.run[r].t, s.run[q].t)
    plain = k == runs.LEAF and outer_kind == runs.LEAF
    keeps = plain and rings.number(s, r, 0) >= outer
    m = s.run[r].n if plain and not keeps else min(rings.room(s, o1), rings.room(s, o3))
    if not rings.has(s, j) or m == 0:
        if not visits.goes_ahead(s, nd, i, j):
            if not rings.has(s, j):
                return t, si, so, visits.leave(nd, t, si, so, waits.INPUT, j)
            full = o1 if rings.room(s, o1) == 0 else o3
            return t, si, so, visits.leave(nd, t, si, so, waits.ROOM, full)
    elif plain and rings.is_leaf(s.run[rings.head(s, j)].x & runs.KIND):
        w = rings.head(s, j)
        m = _alike(s, r, min(m, s.run[r].n, s.run[w].n), outer)
        b = max(a, s.run[w].t)
        t, si = visits.stall(s, waits.INPUT, t, b, si)
        if keeps:
            nd.nonempty = 1
            t, so = visits.pass_pair(s, o1, r, o3, w, m, t, so)
        rings.take(s, i, m, a, t + 1, 1)
        rings.take(s, j, m, b, t + 1, 1)
        return t + m, si, so, visits.GOES_ON
    t, si = visits.stall(s, waits.INPUT, t, a, si)
    visits.hold(s, nd, i, r)
    nd.outer_kind, nd.outer = outer_kind, outer
    rings.take_one(s, i, t)
    nd.phase = _REF
    return t, si, so, visits.GOES_ON


@inline
def _take_reference(
    s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Take the held token's reference; drop both if the token is masked."""
    if not rings.has(s, c):
        return t, si, visits.leave(nd, t, si, so, waits.INPUT, c)
    w = rings.head(s, c)
    kind, v = s.run[w].x & runs.KIND, rings.number(s, w, 0)
    t, si = visits.stall(s, waits.INPUT, t, s.run[w].t, si)
    rings.take_one(s, c, t)
    nd.ref_kind, nd.ref = kind, v
    if nd.literal:
        nd.phase = _FIRST_STOP
        return t, si, visits.GOES_ON
    leaf = rings.is_leaf(nd.hk)
    if not (leaf and rings.is_leaf(kind)) and (nd.hk != kind or (kind == runs.STOP and nd.hv != v)):
        return t, si, visits.fail(nd, t, rules.LOCATE_MISMATCH)
    if leaf and (nd.hk == runs.EMPTY or nd.outer_kind != runs.LEAF):
        return t, si, visits.fail(nd, t, rules.NO_OUTER)
    if nd.hk == runs.LEAF and nd.hv < nd.outer:
        nd.phase = _TAKE
        return t + 1, si, visits.GOES_ON
    nd.phase = _INNER
    return t, si, visits.GOES_ON


@inline
def _put_first_stop(
    s: SimulationState, nd: Any, u: Int, c: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Put the outer stop in front, and see whether the held token follows (reference machine)."""
    if nd.outer_kind == runs.STOP:
        if rings.room(s, c) == 0:
            return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
        t, so = visits.put_token(s, c, t, so, runs.STOP, nd.outer, np.float32(0))
        rings.take_one(s, u, t)
    nd.phase = _INNER
    if nd.hk == runs.STOP:
        if not nd.nonempty:
            nd.phase = _PASS
        nd.nonempty = 0
    elif nd.hk == runs.LEAF and nd.outer_kind == runs.LEAF and nd.hv < nd.outer:
        nd.phase = _TAKE
        t += 1
    elif nd.hk != runs.DONE:
        nd.nonempty = 1
    return t, so, visits.GOES_ON


@inline
def _put_inner(
    s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Put the held token."""
    if rings.room(s, c) == 0:
        return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
    t, so = visits.release(s, nd, c, t, so)
    nd.phase = _LOAD
    return t, so, visits.GOES_ON


@inline
def _put_reference(
    s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Put its reference."""
    if rings.room(s, c) == 0:
        return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
    t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
    if nd.hk == runs.DONE:
        nd.ref_kind, nd.ref = runs.DONE, 0
    rings.put_one(s, c, t + 1, nd.ref_kind, nd.ref, np.float32(0))
    nd.phase = _OUTER
    if rings.is_leaf(nd.hk):
        nd.phase = _TAKE
        t += 1
    elif nd.hk == runs.STOP and not nd.literal and nd.outer_kind != runs.LEAF:
        nd.phase = _CLOSE
    return t, so, visits.GOES_ON


@inline
def _put_outer(
    s: SimulationState, nd: Any, u: Int, c: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Put the outer coordinate behind its fiber, or the end."""
    zero = np.float32(0)
    if rings.room(s, c) == 0:
        return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
    t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
    if nd.hk == runs.DONE:
        rings.put_one(s, c, t + 1, runs.DONE, 0, zero)
        if nd.ends_early:
            return t, so, visits.leave(nd, t, si, so, waits.NONE, 0)
        nd.phase = _LEFT
        return t, so, visits.GOES_ON
    rings.put_one(s, c, t + 1, nd.outer_kind, nd.outer, zero)
    if nd.literal:
        nd.phase = _PASS
        return t, so, visits.GOES_ON
    rings.take_one(s, u, t)
    nd.phase = _CLOSE
    if nd.hv == 0:
        nd.phase = _TAKE
        t += 1
    return t, so, visits.GOES_ON


@inline
def _pass_outer(
    s: SimulationState, nd: Any, u: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Take the outer token (reference machine)."""
    if not rings.has(s, u):
        return t, si, visits.leave(nd, t, si, so, waits.INPUT, u)
    t, si = visits.stall(s, waits.INPUT, t, s.run[rings.head(s, u)].t, si)
    rings.take_one(s, u, t)
    nd.phase = _TAKE
    return t + 1, si, visits.GOES_ON


@inline
def _take_closing(
    s: SimulationState, nd: Any, u: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Take the outer stop that an inner one closes too."""
    rule = rules.DROP_DISAGREES
    t, si, status = visits.expect(s, nd, u, runs.STOP, nd.hv - 1, rule, t, si, so)
    if status == visits.GOES_ON:
        nd.phase = _CLOSING
    return t, si, status


@inline
def _put_closing(
    s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Put that stop."""
    if rings.room(s, c) == 0:
        return t, so, visits.leave(nd, t, si, so, waits.ROOM, c)
    t, so = visits.put_token(s, c, t, so, runs.STOP, nd.hv - 1, np.float32(0))
    nd.phase = _TAKE
    return t + 1, so, visits.GOES_ON


@kernel("crdmask", _CRDMASK, _mask)
def crdmask(node: Int, table: Int) -> Int:
    """Drop elements whose outer coordinate is greater; the inner token is held."""
    s = state_of(table)
    nd = node_of(s, node, _CRDMASK)
    i, u, j = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.ins + 2]
    o1, o2, o3 = s.ints[nd.outs], s.ints[nd.outs + 1], s.ints[nd.outs + 2]
    t, si, so, status = nd.clk, nd.si, nd.so, visits.GOES_ON
    nd.ht = 0
    while status == visits.GOES_ON:
        phase = nd.phase
        if phase == _TAKE:
            t, si, so, status = _take_inner(s, nd, i, u, j, o1, o3, t, si, so)
        elif phase == _REF:
            t, si, status = _take_reference(s, nd, j, t, si, so)
        elif phase == _FIRST_STOP:
            t, so, status = _put_first_stop(s, nd, u, o2, t, si, so)
        elif phase == _INNER:
            t, so, status = _put_inner(s, nd, o1, t, si, so)
        elif phase == _LOAD:
            t, so, status = _put_reference(s, nd, o3, t, si, so)
        elif phase == _OUTER:
            t, so, status = _put_outer(s, nd, u, o2, t, si, so)
        elif phase == _CLOSE:
            t, si, status = _take_closing(s, nd, u, t, si, so)
        elif phase == _CLOSING:
            t, so, status = _put_closing(s, nd, o2, t, si, so)
        elif phase == _PASS:
            t, si, status = _pass_outer(s, nd, u, t, si, so)
        else:
            status = visits.finish(s, nd, u, t, si, so)
    return status
