"""Aligning subtrees with a joined level (``docs/spec/machine.md`` §7.6)."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.kernels.lanes import pass_leaves
from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    FOREVER,
    INPUT,
    KIND,
    LEAF,
    ROOM,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from fuseloom.dataflow.sim.compiled.rings import (
    free_at,
    has,
    head,
    number,
    put_one,
    room,
    take,
    take_one,
)
from fuseloom.dataflow.sim.compiled.rules import ALIGN_DISAGREES
from fuseloom.dataflow.sim.compiled.slots import node_of, slots
from fuseloom.dataflow.sim.compiled.visits import fail, hold, leave, no_room, release, stall, waited

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
            if not has(s, f):
                return leave(nd, t, si, so, WAIT_INPUT, f)
            if not has(s, b):
                return leave(nd, t, si, so, WAIT_INPUT, b)
            rf, rb = head(s, f), head(s, b)
            t, si = stall(s, INPUT, t, max(s.run[rf].t, s.run[rb].t), si)
            k, v = s.run[rf].x & KIND, s.run[rf].v
            target = number(s, rf, 0) if k == LEAF else FOREVER
            have = number(s, rb, 0) if s.run[rb].x & KIND == LEAF else FOREVER
            if have < FOREVER and have <= target:
                take_one(s, b, t)
                nd.kept = have == target
                nd.phase = _BETWEEN if nd.kept and nd.stop_due else _SUBTREE
            elif target < FOREVER:
                nd.phase = _INSERT
            else:
                take_one(s, f, t)
                if s.run[rb].x & KIND != k or (k != STOP and k != DONE):
                    return fail(nd, t, ALIGN_DISAGREES)
                if k == STOP and s.run[rb].v != v:
                    return fail(nd, t, ALIGN_DISAGREES)
                take_one(s, b, t)
                nd.end_kind, nd.end_level = k, v + levels if k == STOP else 0
                nd.phase = _CLOSING if nd.closed else _CLOSE
        if nd.phase == _BETWEEN or (nd.phase == _INSERT and nd.stop_due):
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            t, so = stall(s, ROOM, t, free_at(s, o), so)
            put_one(s, o, t + 1, STOP, levels - 1, zero)
            if nd.phase == _BETWEEN:
                nd.phase = _SUBTREE
        if nd.phase == _INSERT:
            take_one(s, f, t)
            nd.stop_due = 1
            t += 1
            nd.phase = _LOOK
            continue
        while nd.phase == _SUBTREE:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k, v, m = s.run[r].x & KIND, s.run[r].v, s.run[r].n
            a = max(t, s.run[r].t)
            if k == DONE:
                return fail(nd, a, ALIGN_DISAGREES)
            if k == STOP and v >= levels - 1:
                si += waited(s, INPUT, t, a)
                take_one(s, i, a)
                t = a + 1
                nd.closed = v >= levels
                if nd.kept:
                    take_one(s, f, t)
                    nd.stop_due = 1
                nd.phase = _LOOK
            elif not nd.kept:
                si += waited(s, INPUT, t, a)
                take(s, i, m, a, a + 1, 1)
                t = a + m
            elif k != STOP and room(s, o) > 0:
                t, input_stall, output_stall = pass_leaves(s, nd, i, o, t, m)
                si += input_stall
                so += output_stall
            else:
                if room(s, o) == 0 and not no_room(s, nd, i, o):
                    return leave(nd, t, si, so, WAIT_OUTPUT, o)
                t, si = stall(s, INPUT, t, a, si)
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.phase = _HELD
        if nd.phase == _CLOSE:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            p = s.run[head(s, i)]
            t, si = stall(s, INPUT, t, p.t, si)
            if p.x & KIND != nd.end_kind or (nd.end_kind == STOP and p.v != nd.end_level):
                return fail(nd, t, ALIGN_DISAGREES)
            take_one(s, i, t)
            nd.phase = _CLOSING
        if nd.phase == _HELD or nd.phase == _CLOSING:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            if nd.phase == _HELD:
                t, so = release(s, nd, o, t, so)
                nd.phase = _SUBTREE
            else:
                t, so = stall(s, ROOM, t, free_at(s, o), so)
                put_one(s, o, t + 1, nd.end_kind, nd.end_level, zero)
                nd.phase = _LOOK
                nd.closed, nd.stop_due = 0, 0
            if nd.phase == _LOOK and nd.end_kind == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += 1
