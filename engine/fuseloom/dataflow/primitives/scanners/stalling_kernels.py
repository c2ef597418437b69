"""The level scanner as the reference has it when its memory is modelled.

It goes token by token, as the memory lets it.
"""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.primitives.scanners.kernels import STORED_LEVEL, stored_level_setup
from fuseloom.dataflow.sim.compiled import asking, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of

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
                asking.request(s, nd.segment_port, t, 2, 0)
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
                asking.request(s, nd.coordinate_port, t, nd.bundle_end - nd.position, 0)
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
