"""Writers as the reference has them when its memory is modelled.

They go token by token, as the memory lets them.
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.primitives.writers.kernels import (
    LEVEL_WRITER,
    VALUE_WRITER,
    level_setup,
    values_setup,
)
from fuseloom.dataflow.sim.compiled import asking, rings, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of

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
                    asking.request(s, nd.coordinate_port, t, nd.coordinates_due, 1)
                continue
            asking.request(s, nd.stalled_port, t, BUNDLE, 1)
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
                asking.request(s, nd.segment_port, t, nd.ends_due, 1)
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
            asking.request(s, nd.port, t, 1, 1)
            nd.phase = _STALLED
