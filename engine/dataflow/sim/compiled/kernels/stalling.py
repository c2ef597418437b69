"""Primitives as the reference has them when its memory is modelled (``twins/stalling.py``).

They go token by token, as the memory lets them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.dataflow.sim.compiled.asking import answer, ask, base_of, stand_still
from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.inlining import inline
from engine.dataflow.sim.compiled.kernels.scanners import stored_level_setup
from engine.dataflow.sim.compiled.kernels.values import load_setup
from engine.dataflow.sim.compiled.kernels.writers import level_setup, values_setup
from engine.dataflow.sim.compiled.layout import (
    DONE,
    EMPTY,
    KIND,
    LEAF,
    STOP,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_MEMORY,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    State,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
    fail,
    free_at,
    has,
    head,
    leave,
    number,
    put_one,
    room,
    take_one,
    value,
)
from engine.dataflow.sim.compiled.rules import BAD_FIBER, BAD_VALUE_REFERENCE
from engine.dataflow.sim.compiled.setup import Setup
from engine.dataflow.sim.dram.config import BUNDLE


@inline
def _request(s: State, port: Int, t: Int, words: Int, write: Int) -> None:
    """Ask for words; a node has one request under way, so its number does not matter."""
    ask(s, port, 0, t, base_of(s, port), words, write)


# ---------------------------------------------------------------------------- scanner

_REFS, _SEGMENTS, _FIBER, _COORDINATES, _CRD, _REF, _AHEAD, _CLOSE, _CLOSE_REF = range(9)
# Next reference; its segment ends are asked for; next bundle; its coordinates are asked for;
# put a coordinate, and its reference; look for a stop; put the closing token on both outputs.


def _scanner(setup: Setup) -> dict[str, float]:
    segments, coordinates = setup.ports
    return {**stored_level_setup(setup), "p4": segments.number, "p5": coordinates.number}


@kernel("stalling_scan", _scanner)
def stalling_scan(node: Int, table: Int) -> Int:
    """Fibers, eight coordinates at a time.

    State: ``s0`` phase, ``s1`` position, ``s2`` end of the fiber, ``s3`` end of the bundle.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, o1, o2 = s.ints[nd.ins], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.s0 == _REFS or nd.s0 == _AHEAD:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            a = max(t, p.t)
            si += a - t
            t = a
            k, v = p.x & KIND, p.v
            if nd.s0 == _AHEAD:
                nd.hk, nd.hv = STOP, 0
                if k == STOP:
                    nd.hv = v + 1
                    take_one(s, i, t)
                nd.s0 = _CLOSE
            elif k == LEAF:
                ref = number(s, r, 0)
                if ref < 0 or ref >= nd.p0:
                    return fail(nd, t, BAD_FIBER)
                take_one(s, i, t)
                nd.s1, nd.s2 = s.ints[nd.p1 + ref], s.ints[nd.p1 + ref + 1]
                _request(s, nd.p4, t, 2, 0)
                nd.s0 = _SEGMENTS
            else:
                take_one(s, i, t)
                nd.hk, nd.hv = k, v + 1 if k == STOP else 0
                nd.s0 = _AHEAD if k == EMPTY and not nd.p3 else _CLOSE
            continue
        if nd.s0 == _SEGMENTS or nd.s0 == _COORDINATES:
            when = answer(s, nd.p4 if nd.s0 == _SEGMENTS else nd.p5, 0)
            if when < 0:
                return leave(nd, t, si, so, WAIT_MEMORY, 0)
            t = stand_still(nd, t, when)
            nd.s0 = _FIBER if nd.s0 == _SEGMENTS else _CRD
        if nd.s0 == _FIBER:
            if nd.s1 == nd.s2:
                nd.s0 = _AHEAD
            else:
                nd.s3 = min(nd.s2, nd.s1 + BUNDLE)
                _request(s, nd.p5, t, nd.s3 - nd.s1, 0)
                nd.s0 = _COORDINATES
            continue
        first = nd.s0 == _CRD or nd.s0 == _CLOSE
        c = o1 if first else o2
        if room(s, c) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, c)
        a = max(t, free_at(s, c))
        so += a - t
        t = a
        if nd.s0 == _CRD or nd.s0 == _REF:
            put_one(s, c, t + 1, LEAF, s.ints[nd.p2 + nd.s1] if first else nd.s1, zero)
            if first:
                nd.s0 = _REF
            else:
                nd.s1 += 1
                nd.s0 = _CRD if nd.s1 < nd.s3 else _FIBER
        else:
            put_one(s, c, t + 1, nd.hk, nd.hv, zero)
            if first:
                nd.s0 = _CLOSE_REF
            elif nd.hk == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            else:
                t += 1
                nd.s0 = _REFS


# ---------------------------------------------------------------------------- value load

_GATHER, _ANSWER, _PUT, _PASS = range(4)
# Next token; values are asked for; put them; put the token that had them loaded.


def _loader(setup: Setup) -> dict[str, float]:
    gathered = setup.ints.reserve(BUNDLE)
    return {**load_setup(setup), "p5": setup.ports[0].number, "p6": gathered}


@kernel("stalling_array", _loader)
def stalling_array(node: Int, table: Int) -> Int:
    """Values, eight at a time.

    State: ``s0`` phase, ``s1`` references gathered, ``s2`` next of them to put, ``s3`` kind of
    the token that had them loaded, with its number in ``hv``.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.s0 == _GATHER:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            a = max(t, p.t)
            si += a - t
            t = a
            k, v = p.x & KIND, p.v
            if k == LEAF:
                ref = number(s, r, 0)
                if ref < 0 or ref >= nd.p3:
                    return fail(nd, t, BAD_VALUE_REFERENCE)
                s.ints[nd.p6 + nd.s1] = ref
                nd.s1 += 1
            take_one(s, i, t)
            nd.s3, nd.hv = k, v
            if k == LEAF and nd.s1 < BUNDLE:
                t += nd.p1
                continue
            if nd.s1:
                _request(s, nd.p5, t, nd.s1, 0)
                nd.s2 = 0
                nd.s0 = _ANSWER
            else:
                nd.s0 = _PASS
        if nd.s0 == _ANSWER:
            when = answer(s, nd.p5, 0)
            if when < 0:
                return leave(nd, t, si, so, WAIT_MEMORY, 0)
            t = stand_still(nd, t, when)
            nd.s0 = _PUT
        if room(s, o) == 0:
            return leave(nd, t, si, so, WAIT_OUTPUT, o)
        free = max(t, free_at(s, o))
        so += free - t
        if nd.s0 == _PUT:
            # The value's time counts from when it wanted out, its slot's from when it could.
            stamp = max(t + (nd.p0 if nd.s3 == LEAF else 1), free + 1)
            t = free
            put_one(s, o, stamp, LEAF, 0, s.floats[nd.p2 + s.ints[nd.p6 + nd.s2]])
            nd.s2 += 1
            if nd.s2 < nd.s1:
                continue
            nd.s1 = 0
            nd.s0 = _GATHER if nd.s3 == LEAF else _PASS
        else:
            t = free
            k = LEAF if nd.s3 == EMPTY and nd.p4 else nd.s3
            put_one(s, o, t + 1, k, nd.hv if k == STOP else 0, zero)
            if nd.s3 == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            nd.s0 = _GATHER
        if nd.s0 == _GATHER:
            t += nd.p1


# ---------------------------------------------------------------------------- writers

_TAKE, _STALLED, _LAST_CRD, _LAST_SEG = range(4)
# Next token; it stalls; it has coordinates written, and segment ends.


def _level_writer(setup: Setup) -> dict[str, float]:
    coordinates, segments = setup.ports
    return {**level_setup(setup), "p3": coordinates.number, "p4": segments.number}


@inline
def _answered(s: State, nd: Any, port: Int, t: Int) -> Int:
    """The clock once a request is answered, or -1."""
    when = answer(s, port, 0)
    return -1 if when < 0 else stand_still(nd, t, when)


@kernel("stalling_crdwrite", _level_writer)
def stalling_crdwrite(node: Int, table: Int) -> Int:
    """Coordinates and segments, eight at a time.

    State: as ``crdwrite``; ``s4``, ``s5`` coordinates and segment ends held, ``s6`` phase,
    ``s7`` the port that stalls, ``s8`` kind of the token that had all written.
    """
    s = state_of(table)
    nd = s.nd[node]
    i, size = s.ints[nd.ins], nd.p2
    t, si = nd.clk, nd.si
    while True:
        if nd.s6 == _TAKE:
            if not has(s, i):
                return leave(nd, t, si, 0, WAIT_INPUT, i)
            r = head(s, i)
            p = s.run[r]
            k = p.x & KIND
            if nd.s0 == size or nd.s1 == size:
                return leave(nd, t, si, 0, WAIT_DRAIN, i)
            a = max(t, p.t)
            si += a - t
            t = a
            if k == LEAF:
                s.ints[nd.p0 + nd.s0] = number(s, r, 0)
                nd.s0 += 1
                nd.s2 += 1
                nd.s3 = 1
                nd.s4 += 1
                take_one(s, i, t)
                if nd.s4 < BUNDLE:
                    t += 1
                    continue
                nd.s4, nd.s7 = 0, nd.p3
            elif k == STOP and nd.s3:
                s.ints[nd.p1 + nd.s1] = nd.s2
                nd.s1 += 1
                nd.s3 = 0
                nd.s5 += 1
                take_one(s, i, t)
                if nd.s5 < BUNDLE:
                    t += 1
                    continue
                nd.s5, nd.s7 = 0, nd.p4
            else:
                take_one(s, i, t)
                nd.s8 = k
                nd.s6 = _LAST_CRD
                if nd.s4:
                    _request(s, nd.p3, t, nd.s4, 1)
                continue
            _request(s, nd.s7, t, BUNDLE, 1)
            nd.s6 = _STALLED
        if nd.s6 == _STALLED:
            a = _answered(s, nd, nd.s7, t)
            if a < 0:
                return leave(nd, t, si, 0, WAIT_MEMORY, 0)
            t = a + 1
            nd.s6 = _TAKE
        if nd.s6 == _LAST_CRD:
            if nd.s4:
                a = _answered(s, nd, nd.p3, t)
                if a < 0:
                    return leave(nd, t, si, 0, WAIT_MEMORY, 0)
                t = a
                nd.s4 = 0
            if nd.s5:
                _request(s, nd.p4, t, nd.s5, 1)
            nd.s6 = _LAST_SEG
        if nd.s6 == _LAST_SEG:
            if nd.s5:
                a = _answered(s, nd, nd.p4, t)
                if a < 0:
                    return leave(nd, t, si, 0, WAIT_MEMORY, 0)
                t = a
                nd.s5 = 0
            if nd.s8 == DONE:
                return leave(nd, t, si, 0, WAIT_NONE, 0)
            nd.s6 = _TAKE


def _value_writer(setup: Setup) -> dict[str, float]:
    return {**values_setup(setup), "p3": setup.ports[0].number}


@kernel("stalling_valwrite", _value_writer)
def stalling_valwrite(node: Int, table: Int) -> Int:
    """One value at a time; ``s0`` values in the buffer, ``s6`` phase."""
    s = state_of(table)
    nd = s.nd[node]
    i = s.ints[nd.ins]
    t, si = nd.clk, nd.si
    while True:
        if nd.s6 == _STALLED:
            a = _answered(s, nd, nd.p3, t)
            if a < 0:
                return leave(nd, t, si, 0, WAIT_MEMORY, 0)
            t = a + 1
            nd.s6 = _TAKE
        if not has(s, i):
            return leave(nd, t, si, 0, WAIT_INPUT, i)
        r = head(s, i)
        p = s.run[r]
        k = p.x & KIND
        if nd.s0 == nd.p2:
            return leave(nd, t, si, 0, WAIT_DRAIN, i)
        a = max(t, p.t)
        si += a - t
        t = a
        if k == LEAF:
            s.floats[nd.p0 + nd.s0] = value(s, r, 0)
            nd.s0 += 1
        take_one(s, i, t)
        if k == DONE:
            return leave(nd, t + 1, si, 0, WAIT_NONE, 0)
        if k == LEAF:
            _request(s, nd.p3, t, 1, 1)
            nd.s6 = _STALLED
