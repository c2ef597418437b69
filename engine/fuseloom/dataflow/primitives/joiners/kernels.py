"""Intersecter and unioner of any number of operands (``docs/spec/machine.md`` §4.4, §4.5).

Ports of a node: inputs crd, payload of each operand in turn; outputs crd, then payloads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.primitives.joiners import intersection_kernels
from fuseloom.dataflow.sim.compiled import layout, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

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
def _heads(s: SimulationState, nd: Any, t: Int) -> tuple[Int, Int]:
    """Clock from which all heads are there, coordinates first; the channel that lacks one, or -1.

    Payloads are looked for after all coordinates.
    """
    count = nd.operands
    for j in range(2 * count):
        k = 2 * j if j < count else 2 * (j - count) + 1
        c = s.ints[nd.ins + k]
        if not rings.has(s, c):
            return t, c
        t = max(t, s.run[rings.head(s, c)].t)
    return t, -1


@inline
def _compare(s: SimulationState, nd: Any) -> tuple[Int, Int, Int, Int, Int, Int]:
    """Compare the heads: the rule they break, and whether all are the same token.

    Else the smallest coordinate, an operand that has it, how many have, and the next larger one.
    """
    count, union = nd.operands, nd.is_union
    r0 = rings.head(s, s.ints[nd.ins])
    kind, first = s.run[r0].x & runs.KIND, rings.number(s, r0, 0)
    whole, rule = True, rules.NONE
    leaves, stops, level = 0, 0, 0
    least, after, member, members = layout.FOREVER, layout.FOREVER, -1, 0
    for k in range(count):
        r, q = rings.head(s, s.ints[nd.ins + 2 * k]), rings.head(s, s.ints[nd.ins + 2 * k + 1])
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
    return rule, whole, least, member, members, after


@inline
def _gates(s: SimulationState, nd: Any) -> Int:
    """Return whether the operands at the gate have nothing in this fiber, so that it is empty."""
    if nd.gate == 0 or nd.begun:
        return False
    gated = True
    for k in range(nd.gate):
        if s.run[rings.head(s, s.ints[nd.ins + 2 * k])].x & runs.KIND != runs.STOP:
            gated = False
    return gated


@inline
def _room(s: SimulationState, nd: Any, m: Int) -> tuple[Int, Int]:
    """Count those of ``m`` coordinates for which all outputs have room; one that is full, or -1."""
    full = -1
    for k in range(nd.operands + 1):
        c = s.ints[nd.outs + k]
        free = rings.room(s, c)
        if free == 0 and (full < 0 or k == 0):
            full = c
        m = min(m, free)
    return m, full


@inline
def _alike(s: SimulationState, nd: Any, m: Int, whole: Int, member: Int, after: Int) -> Int:
    """Count the first ``m`` coordinates that all operands have, or only ``member`` has."""
    if not whole:
        r = rings.head(s, s.ints[nd.ins + 2 * member])
        m = min(m, s.run[r].n, s.run[rings.head(s, s.ints[nd.ins + 2 * member + 1])].n)
        return intersection_kernels.below(s, r, m, after) if m > 1 and after < layout.FOREVER else m
    for k in range(nd.operands):
        r, q = rings.head(s, s.ints[nd.ins + 2 * k]), rings.head(s, s.ints[nd.ins + 2 * k + 1])
        m = min(m, s.run[r].n, s.run[q].n)
    if m > 1:
        r = rings.head(s, s.ints[nd.ins])
        for k in range(1, nd.operands):
            m = intersection_kernels.common(s, r, rings.head(s, s.ints[nd.ins + 2 * k]), m)
    return m


@inline
def _put_coordinate(s: SimulationState, nd: Any, m: Int, t: Int, leader: Int) -> Int:
    """Put ``m`` coordinates of an operand before its payloads; the clock.

    Scratch keeps the clocks at which the first leaves through each output, in the order of puts.
    """
    for k in range(nd.operands):
        if k == leader:
            t = max(t, rings.free_at(s, s.ints[nd.outs]))
            s.ints[nd.clocks] = t
        t = max(t, rings.free_at(s, s.ints[nd.outs + 1 + k]))
        s.ints[nd.clocks + 1 + k] = t
    r = rings.head(s, s.ints[nd.ins + 2 * leader])
    rings.pass_on(s, s.ints[nd.outs], r, m, s.ints[nd.clocks] + 1, t + 1)
    return t


@inline
def _put_payloads(
    s: SimulationState, nd: Any, m: Int, t: Int, whole: Int, least: Int, silent: Int
) -> None:
    """Put the payloads of ``m`` coordinates, and take both from the operands that have them."""
    for k in range(nd.operands):
        crd, load = s.ints[nd.ins + 2 * k], s.ints[nd.ins + 2 * k + 1]
        r, q = rings.head(s, crd), rings.head(s, load)
        taking = whole or (s.run[r].x & runs.KIND == runs.LEAF and rings.number(s, r, 0) == least)
        at = t if silent else s.ints[nd.clocks + 1 + k]
        c = s.ints[nd.outs + 1 + k]
        if not silent and taking:
            rings.pass_on(s, c, q, m, at + 1, t + 1)
        elif not silent:
            rings.put(s, c, m, at + 1, t + 1, runs.EMPTY | runs.SLOPE, 0)
        if taking and m == 1:
            rings.take_one(s, crd, at)
            rings.take_one(s, load, at)
        elif taking:
            rings.take(s, crd, m, at, t + 1, 1)
            rings.take(s, load, m, at, t + 1, 1)


@inline
def _join(s: SimulationState, nd: Any) -> Int:
    """Walk the operands' coordinates in order."""
    union = nd.is_union
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
        if not union and nd.operands == 2:
            t, si = intersection_kernels.meet(s, nd, t, si)
        a, missing = _heads(s, nd, t)
        if missing >= 0:
            return visits.leave(nd, t, si, so, waits.INPUT, missing)
        rule, whole, least, member, members, after = _compare(s, nd)
        if rule:
            return visits.fail(nd, a, rule)
        r = rings.head(s, s.ints[nd.ins])
        kind = s.run[r].x & runs.KIND
        gated = not whole and _gates(s, nd)
        silent = gated or not (whole or union)
        leader = 0 if whole else member
        single = (whole and kind != runs.LEAF) or (not whole and members > 1)
        m = 1 if single else layout.FOREVER  # coordinates alike that can be worked off at once
        if not silent:
            m, full = _room(s, nd, m)
            if m == 0:
                if not nd.eager or not rings.starved(s, full):
                    return visits.leave(nd, t, si, so, waits.ROOM, full)
                t, si = visits.stall(s, waits.INPUT, t, a, si)
                nd.stepping, nd.operand, nd.crd_put, nd.leader, nd.whole = 1, 0, 0, leader, whole
                nd.kind, nd.crd = kind if whole else runs.LEAF, least
                if whole:
                    nd.crd = rings.number(s, r, 0)
                nd.silent = False
                continue
        if whole or members == 1:
            m = _alike(s, nd, m, whole, member, after)
        t, si = visits.stall(s, waits.INPUT, t, a, si)
        if not silent:
            t = _put_coordinate(s, nd, m, t, leader)
            so += visits.waited(s, waits.ROOM, a, t)
        _put_payloads(s, nd, m, t, whole, least, silent)
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
