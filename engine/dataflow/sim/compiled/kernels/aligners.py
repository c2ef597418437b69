"""Aligning subtrees with a joined level (``fusion.md`` §3.4)."""

from __future__ import annotations

import numpy as np

from engine.dataflow.sim.compiled.cache import kernel
from engine.dataflow.sim.compiled.kernels.lanes import pass_leaves
from engine.dataflow.sim.compiled.layout import (
    DONE,
    FOREVER,
    KIND,
    LEAF,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    WAIT_OUTPUT,
    Int,
    state_of,
)
from engine.dataflow.sim.compiled.rings import (
    fail,
    free_at,
    has,
    head,
    hold,
    leave,
    no_room,
    number,
    put_one,
    release,
    room,
    take,
    take_one,
)
from engine.dataflow.sim.compiled.rules import ALIGN_DISAGREES

_LOOK, _BETWEEN, _SUBTREE, _HELD, _INSERT, _CLOSE, _CLOSING = range(7)
# Compare the levels; put the stop before a subtree; pass it on; put a held token of it; put the
# stop before an inserted one; take the stop of a whole fiber; put it.


@kernel("fiber_align", lambda setup: {"p0": int(setup.param("levels"))})
def fiber_align(node: Int, table: Int) -> Int:
    """One subtree per coordinate after the join.

    State: ``s0`` phase; ``s1`` the last subtree's stop closed its fiber; ``s2`` a stop is due;
    ``s3`` the subtree is kept; ``s4``, ``s5`` kind and level of what ends the fiber.
    """
    s = state_of(table)
    nd = s.nd[node]
    b, f, i, o = s.ints[nd.ins], s.ints[nd.ins + 1], s.ints[nd.ins + 2], s.ints[nd.outs]
    t, si, so, levels = nd.clk, nd.si, nd.so, nd.p0
    zero = np.float32(0)
    nd.ht = 0
    while True:
        if nd.s0 == _LOOK:
            if not has(s, f):
                return leave(nd, t, si, so, WAIT_INPUT, f)
            if not has(s, b):
                return leave(nd, t, si, so, WAIT_INPUT, b)
            rf, rb = head(s, f), head(s, b)
            a = max(t, s.run[rf].t, s.run[rb].t)
            si += a - t
            t = a
            k, v = s.run[rf].x & KIND, s.run[rf].v
            target = number(s, rf, 0) if k == LEAF else FOREVER
            have = number(s, rb, 0) if s.run[rb].x & KIND == LEAF else FOREVER
            if have < FOREVER and have <= target:
                take_one(s, b, t)
                nd.s3 = have == target
                nd.s0 = _BETWEEN if nd.s3 and nd.s2 else _SUBTREE
            elif target < FOREVER:
                nd.s0 = _INSERT
            else:
                take_one(s, f, t)
                if s.run[rb].x & KIND != k or (k != STOP and k != DONE):
                    return fail(nd, t, ALIGN_DISAGREES)
                if k == STOP and s.run[rb].v != v:
                    return fail(nd, t, ALIGN_DISAGREES)
                take_one(s, b, t)
                nd.s4, nd.s5 = k, v + levels if k == STOP else 0
                nd.s0 = _CLOSING if nd.s1 else _CLOSE
        if nd.s0 == _BETWEEN or (nd.s0 == _INSERT and nd.s2):
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            a = max(t, free_at(s, o))
            so += a - t
            t = a
            put_one(s, o, t + 1, STOP, levels - 1, zero)
            if nd.s0 == _BETWEEN:
                nd.s0 = _SUBTREE
        if nd.s0 == _INSERT:
            take_one(s, f, t)
            nd.s2 = 1
            t += 1
            nd.s0 = _LOOK
            continue
        while nd.s0 == _SUBTREE:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            r = head(s, i)
            k, v, m = s.run[r].x & KIND, s.run[r].v, s.run[r].n
            a = max(t, s.run[r].t)
            if k == DONE:
                return fail(nd, a, ALIGN_DISAGREES)
            if k == STOP and v >= levels - 1:
                si += a - t
                take_one(s, i, a)
                t = a + 1
                nd.s1 = v >= levels
                if nd.s3:
                    take_one(s, f, t)
                    nd.s2 = 1
                nd.s0 = _LOOK
            elif not nd.s3:
                si += a - t
                take(s, i, m, a, a + 1, 1)
                t = a + m
            elif k != STOP and room(s, o) > 0:
                t, input_stall, output_stall = pass_leaves(s, nd, i, o, t, m)
                si += input_stall
                so += output_stall
            else:
                if room(s, o) == 0 and not no_room(s, nd, i, o):
                    return leave(nd, t, si, so, WAIT_OUTPUT, o)
                si += a - t
                t = a
                hold(s, nd, i, r)
                take_one(s, i, t)
                nd.s0 = _HELD
        if nd.s0 == _CLOSE:
            if not has(s, i):
                return leave(nd, t, si, so, WAIT_INPUT, i)
            p = s.run[head(s, i)]
            a = max(t, p.t)
            si += a - t
            t = a
            if p.x & KIND != nd.s4 or (nd.s4 == STOP and p.v != nd.s5):
                return fail(nd, t, ALIGN_DISAGREES)
            take_one(s, i, t)
            nd.s0 = _CLOSING
        if nd.s0 == _HELD or nd.s0 == _CLOSING:
            if room(s, o) == 0:
                return leave(nd, t, si, so, WAIT_OUTPUT, o)
            if nd.s0 == _HELD:
                a = release(s, nd, o, t)
                nd.s0 = _SUBTREE
            else:
                a = max(t, free_at(s, o))
                put_one(s, o, a + 1, nd.s4, nd.s5, zero)
                nd.s0 = _LOOK
                nd.s1, nd.s2 = 0, 0
            so += a - t
            t = a
            if nd.s0 == _LOOK and nd.s4 == DONE:
                return leave(nd, t, si, so, WAIT_NONE, 0)
            t += 1
