"""Dealing a stream to lanes and collecting it from them (``docs/spec/machine.md`` §8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import inline_common, node_of, slots

_FORK = slots(
    holding="s0",  # a token was taken and goes to some lanes
    lane="s1",  # the next of them
    lane_end="s2",  # one behind the last of them
    turn="s3",  # lane for the next leaf
)


@kernel("fork", _FORK)
def fork(node: Int, table: Int) -> Int:
    """Deal leaves to the lanes in turn; stops go to every lane."""
    s = state_of(table)
    nd = node_of(s, node, _FORK)
    i, outs, count = s.ints[nd.ins], nd.outs, nd.n_out
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if not nd.holding:
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            k = s.run[r].x & runs.KIND
            leaf = k not in (runs.STOP, runs.DONE)
            first = nd.turn if leaf else 0
            c = s.ints[outs + first]
            if rings.room(s, c) == 0 and not visits.no_room(s, nd, i, c):
                return visits.leave(nd, t, si, so, waits.ROOM, c)
            t, si = visits.take_held(s, nd, i, r, t, s.run[r].t, si)
            nd.holding, nd.lane, nd.lane_end = 1, first, first + 1 if leaf else count
            if leaf:
                nd.turn = first + 1 if first + 1 < count else 0
        while nd.lane < nd.lane_end:
            c = s.ints[outs + nd.lane]
            if rings.room(s, c) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, c)
            t, so = visits.release(s, nd, c, t, so)
            nd.lane += 1
        nd.holding = 0
        t += 1
        if nd.hk == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)


@inline_common
def pass_leaves(
    s: SimulationState, nd: Any, i: Int, o: Int, t: Int, limit: Int
) -> tuple[Int, Int, Int]:
    """Pass on at most ``limit`` leaves at the head of ``i``, for which ``o`` has room.

    The clock afterwards, and the cycles stalled for the input and for room.
    """
    r = rings.head(s, i)
    p = s.run[r]
    m = min(p.n, rings.room(s, o), limit)
    a = max(t, p.t)
    b = max(a, rings.free_at(s, o))
    rings.pass_on(s, o, r, m, b + 1, b + 1)
    rings.take(s, i, m, a, b + 1, 1)
    return b + m, visits.waited(s, waits.INPUT, t, a), visits.waited(s, waits.ROOM, a, b)


_JOIN = slots(
    holding="s0",  # a token was taken and waits for room
    turn="s1",  # lane of the next fiber
)


@kernel("join", _JOIN)
def join(node: Int, table: Int) -> Int:
    """One fiber from each lane in turn."""
    s = state_of(table)
    nd = node_of(s, node, _JOIN)
    last, o = nd.n_in - 1, s.ints[nd.outs]
    t, si, so = nd.clk, nd.si, nd.so
    nd.ht = 0
    while True:
        if not nd.holding:
            i = s.ints[nd.ins + nd.turn]
            if not rings.has(s, i):
                return visits.leave(nd, t, si, so, waits.INPUT, i)
            r = rings.head(s, i)
            k = s.run[r].x & runs.KIND
            swallowed = k == runs.DONE and nd.turn < last
            if not swallowed and rings.room(s, o) == 0 and not visits.no_room(s, nd, i, o):
                return visits.leave(nd, t, si, so, waits.ROOM, o)
            if k != runs.STOP and k != runs.DONE and rings.room(s, o) > 0:
                t, input_stall, output_stall = pass_leaves(s, nd, i, o, t, s.run[r].n)
                si += input_stall
                so += output_stall
                continue
            t, si = visits.take_held(s, nd, i, r, t, s.run[r].t, si)
            if k == runs.STOP and nd.turn < last:
                nd.hv = 0
            if k in (runs.STOP, runs.DONE):
                nd.turn = nd.turn + 1 if nd.turn < last else 0
            if swallowed:
                t += 1
                continue
            nd.holding = 1
        t, so, status = visits.put_held(s, nd, o, t, si, so, 1)
        if status != visits.GOES_ON:
            return status
        nd.holding = 0


_GUIDE, _SUBTREE, _HELD, _AHEAD, _STOP, _CLOSE, _CLOSING = range(7)
# Next token of the guide; pass on what it opened; put a held token of that; is the guide's
# fiber at its end?; put a stop between two subtrees; take the stops of all lanes; put theirs.

_ORDERED_JOIN = slots(
    lanes="p0",  # how many
    levels="p1",  # of what one coordinate opened
    closed="p2",  # in the integers, per lane: 1 + the level that ended the guide's fiber, or 0
    phase="s0",  # what comes next, one of those above
    turn="s1",  # lane of the next subtree
    closing="s2",  # next lane to close
    end_kind="s3",  # of the closing token
    end_level="s4",  # its level
)


def _guided_lanes(setup: Setup) -> dict[str, float]:
    lanes = len(setup.node.inputs) - 1
    closed = setup.ints.add(np.zeros(lanes, np.int64))
    return {"lanes": lanes, "levels": int(setup.param("levels")), "closed": closed}


@inline
def _follow_guide(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Take the guide's next token; behind a subtree, only a stop."""
    g = s.ints[nd.ins]
    if not rings.has(s, g):
        return t, si, visits.leave(nd, t, si, so, waits.INPUT, g)
    p = s.run[rings.head(s, g)]
    t, si = visits.stall(s, waits.INPUT, t, p.t, si)
    k, v = p.x & runs.KIND, p.v
    if nd.phase == _AHEAD and k != runs.STOP:
        nd.phase = _STOP
        return t, si, visits.GOES_ON
    rings.take_one(s, g, t)
    if k in (runs.STOP, runs.DONE):
        nd.end_kind, nd.end_level = k, v + nd.levels if k == runs.STOP else 0
        nd.closing = 0
        nd.phase = _CLOSE
    elif s.ints[nd.closed + nd.turn]:
        return t, si, visits.fail(nd, t, rules.LANES_DISAGREE)
    else:
        nd.phase = _SUBTREE
    return t, si, visits.GOES_ON


@inline
def _turn(nd: Any) -> None:
    """Go on with the next lane."""
    nd.turn = nd.turn + 1 if nd.turn + 1 < nd.lanes else 0


@inline
def _pass_subtree(
    s: SimulationState, nd: Any, o: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int, Int]:
    """Pass on a run of the subtree, hold a token of it, or take the stop behind it."""
    lane, levels = s.ints[nd.ins + 1 + nd.turn], nd.levels
    if not rings.has(s, lane):
        return t, si, so, visits.leave(nd, t, si, so, waits.INPUT, lane)
    r = rings.head(s, lane)
    k, v = s.run[r].x & runs.KIND, s.run[r].v
    a = max(t, s.run[r].t)
    if k == runs.DONE or (levels == 0 and k == runs.STOP):
        return t, si, so, visits.fail(nd, a, rules.LANES_DISAGREE)
    if k == runs.STOP and v >= levels - 1:
        t, si = visits.stall(s, waits.INPUT, t, a, si)
        rings.take_one(s, lane, t)
        if v >= levels:
            s.ints[nd.closed + nd.turn] = v + 1
        _turn(nd)
        nd.phase = _AHEAD
    elif k != runs.STOP and rings.room(s, o) > 0:
        limit = 1 if levels == 0 else s.run[r].n
        t, input_stall, output_stall = pass_leaves(s, nd, lane, o, t, limit)
        si += input_stall
        so += output_stall
        if levels == 0:
            _turn(nd)
            nd.phase = _GUIDE
    elif rings.room(s, o) == 0 and not visits.no_room(s, nd, lane, o):
        return t, si, so, visits.leave(nd, t, si, so, waits.ROOM, o)
    else:
        t, si = visits.take_held(s, nd, lane, r, t, a, si)
        nd.phase = _HELD
    return t, si, so, visits.GOES_ON


@inline
def _close_lane(s: SimulationState, nd: Any, t: Int, si: Int, so: Int) -> tuple[Int, Int, Int]:
    """Take the closing token of the next lane, unless its last subtree ended with it."""
    closed, rule = s.ints[nd.closed + nd.closing], rules.LANES_DISAGREE
    if closed == 0:
        lane = s.ints[nd.ins + 1 + nd.closing]
        t, si, status = visits.expect(s, nd, lane, nd.end_kind, nd.end_level, rule, t, si, so)
        if status != visits.GOES_ON:
            return t, si, status
    elif nd.end_kind != runs.STOP or closed - 1 != nd.end_level:
        return t, si, visits.fail(nd, t, rule)
    s.ints[nd.closed + nd.closing] = 0
    nd.closing += 1
    if nd.closing == nd.lanes:
        nd.phase = _CLOSING
    return t, si, visits.GOES_ON


@inline
def _put_control(
    s: SimulationState, nd: Any, o: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Put the held token, the stop between two subtrees, or the closing token."""
    if rings.room(s, o) == 0:
        return t, so, visits.leave(nd, t, si, so, waits.ROOM, o)
    if nd.phase == _HELD:
        t, so = visits.release(s, nd, o, t, so)
        nd.phase = _SUBTREE
        if nd.levels == 0:
            _turn(nd)
            nd.phase = _GUIDE
        return t + 1, so, visits.GOES_ON
    kind, level = runs.STOP, nd.levels - 1
    if nd.phase == _CLOSING:
        kind, level = nd.end_kind, nd.end_level
    t, so = visits.put_token(s, o, t, so, kind, level, np.float32(0))
    if kind == runs.DONE:
        return t, so, visits.leave(nd, t, si, so, waits.NONE, 0)
    nd.phase = _GUIDE
    return t + 1, so, visits.GOES_ON


@kernel("ordered_join", _ORDERED_JOIN, _guided_lanes)
def ordered_join(node: Int, table: Int) -> Int:
    """From each lane in turn, what one coordinate of the guide opened."""
    s = state_of(table)
    nd = node_of(s, node, _ORDERED_JOIN)
    o = s.ints[nd.outs]
    t, si, so, status = nd.clk, nd.si, nd.so, visits.GOES_ON
    nd.ht = 0
    while status == visits.GOES_ON:
        if nd.phase == _GUIDE or nd.phase == _AHEAD:
            t, si, status = _follow_guide(s, nd, t, si, so)
            if status != visits.GOES_ON:
                return status
        if nd.phase == _SUBTREE:
            t, si, so, status = _pass_subtree(s, nd, o, t, si, so)
        elif nd.phase == _CLOSE:
            t, si, status = _close_lane(s, nd, t, si, so)
        else:
            t, so, status = _put_control(s, nd, o, t, si, so)
    return status
