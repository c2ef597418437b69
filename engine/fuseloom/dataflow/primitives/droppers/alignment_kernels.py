"""Aligning subtrees with a joined level (``docs/spec/machine.md`` §7.6)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.primitives.routing.lane_kernels import pass_leaves
from fuseloom.dataflow.sim.compiled import layout, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.layout import Int, state_of
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_LOOK, _BETWEEN, _SUBTREE, _HELD, _INSERT, _CLOSE, _CLOSING = range(7)
# Compare the levels; put the stop before a subtree; pass it on; put a held token of it; put the
# stop before an inserted one; take the stop of a whole fiber; put it.

_ALIGNER = slots(
    levels="p0",  # of a subtree
    phase="s0",  # what comes next, one of those above
    closed="s1",  # the last subtree's stop closed its fiber
    stop_due="s2",  # a subtree came before, so a stop goes before the next
    kept="s3",  # the subtree at hand is passed on
    end_kind="s4",  # of what ends the fiber
    end_level="s5",  # its level
)


@kernel("fiber_align", _ALIGNER, lambda setup: {"levels": int(setup.param("levels"))})
def fiber_align(node: Int, table: Int) -> Int:
    """One subtree per coordinate after the join."""
    s = state_of(table)
    nd = node_of(s, node, _ALIGNER)
    b, f, i, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.ins + 2], s.ints[nd.outs]
    t, si, so, levels = nd.clk, nd.si, nd.so, nd.levels
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.phase == _LOOK:
            if not rings.has(s, f):
                return visits.leave(nd, t, si, so, waits.INPUT, f)
            if not rings.has(s, b):
                return visits.leave(nd, t, si, so, waits.INPUT, b)
            rf, rb = rings.head(s, f), rings.head(s, b)
            t, si = visits.stall(s, waits.INPUT, t, max(s.run[rf].t, s.run[rb].t), si)
            k, v = s.run[rf].x & runs.KIND, s.run[rf].v
            target = rings.number(s, rf, 0) if k == runs.LEAF else layout.FOREVER
            have = (
                rings.number(s, rb, 0) if s.run[rb].x & runs.KIND == runs.LEAF else layout.FOREVER
            )
            if have < layout.FOREVER and have <= target:
                rings.take_one(s, b, t)
                nd.kept = have == target
                nd.phase = _BETWEEN if nd.kept and nd.stop_due else _SUBTREE
            elif target < layout.FOREVER:
                nd.phase = _INSERT
            else:
                rings.take_one(s, f, t)
                if s.run[rb].x & runs.KIND != k or (k != runs.STOP and k != runs.DONE):
                    return visits.fail(nd, t, rules.ALIGN_DISAGREES)
                if k == runs.STOP and s.run[rb].v != v:
                    return visits.fail(nd, t, rules.ALIGN_DISAGREES)
                rings.take_one(s, b, t)
                nd.end_kind, nd.end_level = k, v + levels if k == runs.STOP else 0
                nd.phase = _CLOSING if nd.closed else _CLOSE
        if nd.phase == _BETWEEN or (nd.phase == _INSERT and nd.stop_due):
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            t, so = visits.put_token(s, o, t, so, runs.STOP, levels - 1, zero)
            if nd.phase == _BETWEEN:
                nd.phase = _SUBTREE
        if nd.phase == _INSERT:
            rings.take_one(s, f, t)
            nd.stop_due = 1
            t += 1
            nd.phase = _LOOK
            continue
        while nd.phase == _SUBTREE:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            k, v, m = s.run[r].x & runs.KIND, s.run[r].v, s.run[r].n
            a = max(t, s.run[r].t)
            if k == runs.DONE:
                return visits.fail(nd, a, rules.ALIGN_DISAGREES)
            if k == runs.STOP and v >= levels - 1:
                si += visits.waited(s, waits.INPUT, t, a)
                rings.take_one(s, i, a)
                t = a + 1
                nd.closed = v >= levels
                if nd.kept:
                    rings.take_one(s, f, t)
                    nd.stop_due = 1
                nd.phase = _LOOK
            elif not nd.kept:
                si += visits.waited(s, waits.INPUT, t, a)
                rings.take(s, i, m, a, a + 1, 1)
                t = a + m
            elif k != runs.STOP and rings.room(s, o) > 0:
                t, input_stall, output_stall = pass_leaves(s, nd, i, o, t, m)
                si += input_stall
                so += output_stall
            else:
                if rings.room(s, o) == 0 and not visits.no_room(s, nd, i, o):
                    return visits.leave(nd, t, si, so, waits.ROOM, o)
                t, si = visits.take_held(s, nd, i, r, t, a, si)
                nd.phase = _HELD
        if nd.phase == _CLOSE:
            kind, rule = nd.end_kind, rules.ALIGN_DISAGREES
            t, si, status = visits.expect(s, nd, i, kind, nd.end_level, rule, t, si, so)
            if status != visits.GOES_ON:
                return status
            nd.phase = _CLOSING
        if nd.phase == _HELD or nd.phase == _CLOSING:
            if rings.room(s, o) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            if nd.phase == _HELD:
                t, so = visits.release(s, nd, o, t, so)
                nd.phase = _SUBTREE
            else:
                t, so = visits.put_token(s, o, t, so, nd.end_kind, nd.end_level, zero)
                nd.phase = _LOOK
                nd.closed, nd.stop_due = 0, 0
            if nd.phase == _LOOK and nd.end_kind == runs.DONE:
                return visits.leave(nd, t, si, so, waits.NONE, 0)
            t += 1
