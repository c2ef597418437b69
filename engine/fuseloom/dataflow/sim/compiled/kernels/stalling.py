"""Primitives as the reference has them when its memory is modelled (``golden/stalling.py``).

They go token by token, as the memory lets them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.sim.compiled import asking, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.kernels.loads import LOAD, load_setup
from fuseloom.dataflow.sim.compiled.kernels.scanners import STORED_LEVEL, stored_level_setup
from fuseloom.dataflow.sim.compiled.kernels.writers import (
    LEVEL_WRITER,
    VALUE_WRITER,
    level_setup,
    values_setup,
)
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of


@inline
def _request(s: SimulationState, port: Int, t: Int, words: Int, write: Int) -> None:
    """Ask for words; a node has one request under way, so its number does not matter."""
    asking.ask(s, port, 0, t, asking.base_of(s, port), words, write)


# ---------------------------------------------------------------------------- scanner

_REFS, _SEGMENTS, _FIBER, _COORDINATES, _CRD, _REF, _AHEAD, _CLOSE, _CLOSE_REF = range(9)
# Next reference; its segment ends are asked for; next bundle; its coordinates are asked for;
# put a coordinate, and its reference; look for a stop; put the closing token on both outputs.

_STALLING_SCANNER = STORED_LEVEL.also(
    segment_port="p4",  # number of that of the segment ends,
    coordinate_port="p5",  # and of that of the coordinates
    phase="s0",  # what comes next, one of those above
    position="s1",  # in the fiber,
    end="s2",  # and where that ends
    bundle_end="s3",  # where the coordinates asked for end
)


def _scanner(setup: Setup) -> dict[str, float]:
    segments, coordinates = setup.ports
    return {
        **stored_level_setup(setup),
        "segment_port": segments.number,
        "coordinate_port": coordinates.number,
    }


@kernel("stalling_scan", _STALLING_SCANNER, _scanner)
def stalling_scan(node: Int, table: Int) -> Int:
    """Fibers, eight coordinates at a time."""
    s = state_of(table)
    nd = node_of(s, node, _STALLING_SCANNER)
    i, o1, o2 = s.ints[nd.ins], s.ints[nd.outs], s.ints[nd.outs + 1]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.phase == _REFS or nd.phase == _AHEAD:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            p = s.run[r]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            k, v = p.x & runs.KIND, p.v
            if nd.phase == _AHEAD:
                nd.hk, nd.hv = runs.STOP, 0
                if k == runs.STOP:
                    nd.hv = v + 1
                    rings.take_one(s, i, t)
                nd.phase = _CLOSE
            elif k == runs.LEAF:
                ref = rings.number(s, r, 0)
                if ref < 0 or ref >= nd.size:
                    return visits.fail(nd, t, rules.BAD_FIBER)
                rings.take_one(s, i, t)
                nd.position, nd.end = s.ints[nd.seg + ref], s.ints[nd.seg + ref + 1]
                _request(s, nd.segment_port, t, 2, 0)
                nd.phase = _SEGMENTS
            else:
                rings.take_one(s, i, t)
                nd.hk, nd.hv = k, v + 1 if k == runs.STOP else 0
                nd.phase = _AHEAD if k == runs.EMPTY and not nd.forwards_empty else _CLOSE
            continue
        if nd.phase == _SEGMENTS or nd.phase == _COORDINATES:
            port = nd.segment_port if nd.phase == _SEGMENTS else nd.coordinate_port
            when = asking.answer(s, port, 0)
            if when < 0:
                return visits.leave(nd, t, si, so, waits.MEMORY, 0)
            t = asking.stand_still(s, nd, t, when)
            nd.phase = _FIBER if nd.phase == _SEGMENTS else _CRD
        if nd.phase == _FIBER:
            if nd.position == nd.end:
                nd.phase = _AHEAD
            else:
                nd.bundle_end = min(nd.end, nd.position + BUNDLE)
                _request(s, nd.coordinate_port, t, nd.bundle_end - nd.position, 0)
                nd.phase = _COORDINATES
            continue
        first = nd.phase == _CRD or nd.phase == _CLOSE
        c = o1 if first else o2
        if rings.room(s, c) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, c)
        t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
        if nd.phase == _CRD or nd.phase == _REF:
            number = s.ints[nd.crd + nd.position] if first else nd.position
            rings.put_one(s, c, t + 1, runs.LEAF, number, zero)
            if first:
                nd.phase = _REF
            else:
                nd.position += 1
                nd.phase = _CRD if nd.position < nd.bundle_end else _FIBER
        else:
            rings.put_one(s, c, t + 1, nd.hk, nd.hv, zero)
            if first:
                nd.phase = _CLOSE_REF
            elif nd.hk == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            else:
                t += 1
                nd.phase = _REFS


# ---------------------------------------------------------------------------- value load

_GATHER, _ANSWER, _PUT, _PASS = range(4)
# Next token; values are asked for; put them; put the token that had them loaded.

_STALLING_LOADER = LOAD.also(
    port="p5",  # its number
    gathered="p6",  # in the integers: references whose values are to be loaded
    phase="s0",  # what comes next, one of those above
    count="s1",  # references gathered
    next="s2",  # of them, to put
    kind="s3",  # of the token that had them loaded; ``hv`` is its number
)


def _loader(setup: Setup) -> dict[str, float]:
    gathered = setup.ints.reserve(BUNDLE)
    return {**load_setup(setup), "port": setup.ports[0].number, "gathered": gathered}


@kernel("stalling_array", _STALLING_LOADER, _loader)
def stalling_array(node: Int, table: Int) -> Int:
    """Values, eight at a time."""
    s = state_of(table)
    nd = node_of(s, node, _STALLING_LOADER)
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    zero = np.float32(0)
    while True:
        if nd.phase == _GATHER:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            p = s.run[r]
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            k, v = p.x & runs.KIND, p.v
            if k == runs.LEAF:
                ref = rings.number(s, r, 0)
                if ref < 0 or ref >= nd.size:
                    return visits.fail(nd, t, rules.BAD_VALUE_REFERENCE)
                s.ints[nd.gathered + nd.count] = ref
                nd.count += 1
            rings.take_one(s, i, t)
            nd.kind, nd.hv = k, v
            if k == runs.LEAF and nd.count < BUNDLE:
                t += nd.interval
                continue
            if nd.count:
                _request(s, nd.port, t, nd.count, 0)
                nd.next = 0
                nd.phase = _ANSWER
            else:
                nd.phase = _PASS
        if nd.phase == _ANSWER:
            when = asking.answer(s, nd.port, 0)
            if when < 0:
                return visits.leave(nd, t, si, so, waits.MEMORY, 0)
            t = asking.stand_still(s, nd, t, when)
            nd.phase = _PUT
        if rings.room(s, o) == 0:
            return visits.leave(nd, t, si, so, waits.ROOM, o)
        free = max(t, rings.free_at(s, o))
        so += visits.waited(s, waits.ROOM, t, free)
        if nd.phase == _PUT:
            # The value's time counts from when it wanted out, its slot's from when it could.
            stamp = max(t + (nd.latency if nd.kind == runs.LEAF else 1), free + 1)
            t = free
            value = s.floats[nd.values + s.ints[nd.gathered + nd.next]]
            rings.put_one(s, o, stamp, runs.LEAF, 0, value)
            nd.next += 1
            if nd.next < nd.count:
                continue
            nd.count = 0
            nd.phase = _GATHER if nd.kind == runs.LEAF else _PASS
        else:
            t = free
            k = runs.LEAF if nd.kind == runs.EMPTY and nd.loads_zero else nd.kind
            rings.put_one(s, o, t + 1, k, nd.hv if k == runs.STOP else 0, zero)
            if nd.kind == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            nd.phase = _GATHER
        if nd.phase == _GATHER:
            t += nd.interval


# ---------------------------------------------------------------------------- writers

_TAKE, _STALLED, _LAST_CRD, _LAST_SEG = range(4)
# Next token; it stalls; it has coordinates written, and segment ends.

_STALLING_LEVEL_WRITER = LEVEL_WRITER.also(
    coordinate_port="p3",  # number of that of the coordinates,
    segment_port="p4",  # and of that of the segment ends
    coordinates_due="s4",  # coordinates that the memory does not have yet
    ends_due="s5",  # segment ends that it does not have yet
    phase="s6",  # what comes next, one of those above
    stalled_port="s7",  # that it waits for
    kind="s8",  # of the token that had all written
)

_STALLING_VALUE_WRITER = VALUE_WRITER.also(
    port="p3",  # its number
    phase="s6",  # what comes next, one of those above
)


def _level_writer(setup: Setup) -> dict[str, float]:
    coordinates, segments = setup.ports
    return {
        **level_setup(setup),
        "coordinate_port": coordinates.number,
        "segment_port": segments.number,
    }


@inline
def _answered(s: SimulationState, nd: Any, port: Int, t: Int) -> Int:
    """The clock once a request is answered, or -1."""
    when = asking.answer(s, port, 0)
    return -1 if when < 0 else asking.stand_still(s, nd, t, when)


@kernel("stalling_crdwrite", _STALLING_LEVEL_WRITER, _level_writer)
def stalling_crdwrite(node: Int, table: Int) -> Int:
    """Coordinates and segments, eight at a time."""
    s = state_of(table)
    nd = node_of(s, node, _STALLING_LEVEL_WRITER)
    i, size = s.ints[nd.ins], nd.capacity
    t, si = nd.clk, nd.si
    while True:
        if nd.phase == _TAKE:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, 0, waits.INPUT, i)
            r = rings.head(s, i)
            p = s.run[r]
            k = p.x & runs.KIND
            if nd.held == size or nd.ends_held == size:
                return visits.leave(nd, t, si, 0, waits.DRAIN, i)
            t, si = visits.stall(s, waits.INPUT, t, p.t, si)
            if k == runs.LEAF:
                s.ints[nd.buffer + nd.held] = rings.number(s, r, 0)
                nd.held += 1
                nd.coordinates += 1
                nd.records_stop = 1
                nd.coordinates_due += 1
                rings.take_one(s, i, t)
                if nd.coordinates_due < BUNDLE:
                    t += 1
                    continue
                nd.coordinates_due, nd.stalled_port = 0, nd.coordinate_port
            elif k == runs.STOP and nd.records_stop:
                s.ints[nd.ends + nd.ends_held] = nd.coordinates
                nd.ends_held += 1
                nd.records_stop = 0
                nd.ends_due += 1
                rings.take_one(s, i, t)
                if nd.ends_due < BUNDLE:
                    t += 1
                    continue
                nd.ends_due, nd.stalled_port = 0, nd.segment_port
            else:
                rings.take_one(s, i, t)
                nd.kind = k
                nd.phase = _LAST_CRD
                if nd.coordinates_due:
                    _request(s, nd.coordinate_port, t, nd.coordinates_due, 1)
                continue
            _request(s, nd.stalled_port, t, BUNDLE, 1)
            nd.phase = _STALLED
        if nd.phase == _STALLED:
            a = _answered(s, nd, nd.stalled_port, t)
            if a < 0:
                return visits.leave(nd, t, si, 0, waits.MEMORY, 0)
            t = a + 1
            nd.phase = _TAKE
        if nd.phase == _LAST_CRD:
            if nd.coordinates_due:
                a = _answered(s, nd, nd.coordinate_port, t)
                if a < 0:
                    return visits.leave(nd, t, si, 0, waits.MEMORY, 0)
                t = a
                nd.coordinates_due = 0
            if nd.ends_due:
                _request(s, nd.segment_port, t, nd.ends_due, 1)
            nd.phase = _LAST_SEG
        if nd.phase == _LAST_SEG:
            if nd.ends_due:
                a = _answered(s, nd, nd.segment_port, t)
                if a < 0:
                    return visits.leave(nd, t, si, 0, waits.MEMORY, 0)
                t = a
                nd.ends_due = 0
            if nd.kind == runs.DONE:
                return visits.leave(nd, t, si, 0, waits.NONE, 0)
            nd.phase = _TAKE


def _value_writer(setup: Setup) -> dict[str, float]:
    return {**values_setup(setup), "port": setup.ports[0].number}


@kernel("stalling_valwrite", _STALLING_VALUE_WRITER, _value_writer)
def stalling_valwrite(node: Int, table: Int) -> Int:
    """One value at a time."""
    s = state_of(table)
    nd = node_of(s, node, _STALLING_VALUE_WRITER)
    i = s.ints[nd.ins]
    t, si = nd.clk, nd.si
    while True:
        if nd.phase == _STALLED:
            a = _answered(s, nd, nd.port, t)
            if a < 0:
                return visits.leave(nd, t, si, 0, waits.MEMORY, 0)
            t = a + 1
            nd.phase = _TAKE
        if not rings.has(s, i):
            return visits.leave(nd, t, si, 0, waits.INPUT, i)
        r = rings.head(s, i)
        p = s.run[r]
        k = p.x & runs.KIND
        if nd.held == nd.capacity:
            return visits.leave(nd, t, si, 0, waits.DRAIN, i)
        t, si = visits.stall(s, waits.INPUT, t, p.t, si)
        if k == runs.LEAF:
            s.floats[nd.buffer + nd.held] = rings.value(s, r, 0)
            nd.held += 1
        rings.take_one(s, i, t)
        if k == runs.DONE:
            return visits.leave(nd, t + 1, si, 0, waits.NONE, 0)
        if k == runs.LEAF:
            _request(s, nd.port, t, 1, 1)
            nd.phase = _STALLED
