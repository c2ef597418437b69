"""A kernel's visit to its node: what it waits for, what it holds, and how it goes.

Beside the rings (:mod:`fuseloom.dataflow.sim.compiled.rings`), this is what kernels are written in.
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import control, rings, rules, runs, waits
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState
from fuseloom.dataflow.sim.compiled.slots import inline_common

WORK_PER_VISIT = 1 << 24
"""Multiply-adds, or numbers touched, after which a node lets the others run: about 10 ms."""

BLOCKED, FINISHED, FAILED, PAUSED, STUCK = range(5)
"""The results of a kernel or the scheduler."""

GOES_ON = -1
"""The result of a part of a kernel, in place of a status, when the kernel goes on."""


@inline_common
def leave(nd: Any, t: Int, si: Int, so: Int, kind: Int, c: Int) -> Int:
    """Save the clock and what the node waits for (nothing: it has ended); the status."""
    nd.clk = t
    nd.si = si
    nd.so = so
    nd.wk = kind
    nd.wc = c
    return FINISHED if kind == waits.NONE else BLOCKED


@inline_common
def fail(nd: Any, t: Int, rule: Int) -> Int:
    """Save which rule the tokens broke; the status."""
    nd.clk = t
    nd.error = rule
    return FAILED


@inline
def waited(s: SimulationState, why: Int, since: Int, until: Int) -> Int:
    """Cycles of a wait; an observed run may want to note it.

    Waits that follow each other without work between them, for the same reason, are one.
    """
    f = s.ctl
    o = f[control.NEXT_WAIT]
    if o and until > since:
        if f[o - 2] == why and f[o - 1] == since:
            f[o - 1] = until
        else:
            f[o] = since
            f[o + 1] = why
            f[o + 2] = until
            f[control.NEXT_WAIT] = o + control.WAIT_WORDS
    return until - since


@inline
def stall(s: SimulationState, why: Int, t: Int, until: Int, stalled: Int) -> tuple[Int, Int]:
    """The clock after a wait until that cycle, if it is not over, and the cycles stalled so far."""
    a = max(t, until)
    return a, stalled + waited(s, why, t, a)


@inline
def begin(
    s: SimulationState, o: Int, t: Int, arrival: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """The clock from which there are the inputs and a slot of ``o``, and the stalls for both."""
    start = max(arrival, rings.free_at(s, o))
    si += waited(s, waits.INPUT, t, arrival)
    return start, si, so + waited(s, waits.ROOM, arrival, start)


@inline
def put_token(
    s: SimulationState, c: Int, t: Int, so: Int, kind: Int, v: Int, f: Any
) -> tuple[Int, Int]:
    """Put a token (:func:`rings.put_one`) as soon as its slot is free: clock, stalls for room."""
    t, so = stall(s, waits.ROOM, t, rings.free_at(s, c), so)
    rings.put_one(s, c, t + 1, kind, v, f)
    return t, so


@inline
def pass_pair(
    s: SimulationState, o: Int, r: Int, p: Int, q: Int, m: Int, t: Int, so: Int
) -> tuple[Int, Int]:
    """Pass on ``m`` tokens of run ``r`` to ``o`` and of ``q`` to ``p``: clock, stalls for room.

    The first of them leaves through ``o`` as soon as that has a slot; all others leave together.
    """
    first = max(t, rings.free_at(s, o))
    start = max(first, rings.free_at(s, p))
    so += waited(s, waits.ROOM, t, start)
    rings.pass_on(s, o, r, m, first + 1, start + 1)
    rings.pass_on(s, p, q, m, start + 1, start + 1)
    return start, so


@inline_common
def no_room(s: SimulationState, nd: Any, i: Int, o: Int) -> Int:
    """Return whether to take from ``i`` although ``o`` is full, and hold the token.

    The machine takes first and then waits, which gives its producer a slot.  Doing so always
    would break runs; it matters where the producer is out of slots or all else has stopped.
    """
    return rings.starved(s, o) and (nd.eager or rings.starved(s, i))


@inline_common
def goes_ahead(s: SimulationState, nd: Any, i: Int, j: Int) -> Int:
    """Return whether to take from ``i``, and hold the token, although the one of ``j`` is not there
    or there is no room for both."""
    return nd.eager or rings.starved(s, i) or (rings.has(s, j) and rings.starved(s, j))


@inline_common
def hold(s: SimulationState, nd: Any, c: Int, r: Int) -> None:
    """Remember the first token of run ``r`` of channel ``c``, to put it later."""
    p = s.run[r]
    nd.hk = p.x & runs.KIND
    if nd.hk == runs.LEAF:
        if s.ch[c].val:
            nd.hf = s.floats[p.v]
        else:
            nd.hv = rings.number(s, r, 0)
    else:
        nd.hv = p.v


@inline_common
def take_held(
    s: SimulationState, nd: Any, c: Int, r: Int, t: Int, arrival: Int, si: Int
) -> tuple[Int, Int]:
    """Take and hold the first token, when it is there: clock and stalls for input."""
    t, si = stall(s, waits.INPUT, t, arrival, si)
    hold(s, nd, c, r)
    rings.take_one(s, c, t)
    return t, si


@inline_common
def release(s: SimulationState, nd: Any, c: Int, t: Int, so: Int) -> tuple[Int, Int]:
    """Put the held token as soon as its slot is free: clock and stalls for room.

    ``nd.hv`` is its number or level, ``nd.ht`` its earliest timestamp.
    """
    t, so = stall(s, waits.ROOM, t, rings.free_at(s, c), so)
    rings.put_one(s, c, max(nd.ht, t + 1), nd.hk, nd.hv, nd.hf)
    return t, so


@inline_common
def put_held(
    s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int, cycles: Int
) -> tuple[Int, Int, Int]:
    """Put the held token, which takes so many cycles: clock, stalls for room, and the status.

    The status is :data:`GOES_ON`, but for want of room, and after the end of the stream.
    """
    if rings.room(s, c) == 0:
        return t, so, leave(nd, t, si, so, waits.ROOM, c)
    t, so = release(s, nd, c, t, so)
    if nd.hk == runs.DONE:
        return t, so, leave(nd, t, si, so, waits.NONE, 0)
    return t + cycles, so, GOES_ON


@inline_common
def expect(
    s: SimulationState, nd: Any, c: Int, kind: Int, level: Int, rule: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int]:
    """Take the stop of that level, or the end: clock, stalls for input, and the status.

    The status is :data:`GOES_ON`, but where nothing is there, or anything else, which breaks a
    rule.
    """
    if not rings.has(s, c):
        return t, si, leave(nd, t, si, so, waits.INPUT, c)
    p = s.run[rings.head(s, c)]
    t, si = stall(s, waits.INPUT, t, p.t, si)
    if p.x & runs.KIND != kind or (kind == runs.STOP and p.v != level):
        return t, si, fail(nd, t, rule)
    rings.take_one(s, c, t)
    return t, si, GOES_ON


@inline_common
def finish(s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int) -> Int:
    """Take the stops left and the end, of an input that a node needs no more; the status.

    Rules: ``docs/spec/comal.md`` §2.15.
    """
    while rings.has(s, c):
        p = s.run[rings.head(s, c)]
        k = p.x & runs.KIND
        t, si = stall(s, waits.INPUT, t, p.t, si)
        if k != runs.STOP and k != runs.DONE:
            return fail(nd, t, rules.LEFT_OVER)
        rings.take_one(s, c, t)
        if k == runs.DONE:
            return leave(nd, t, si, so, waits.NONE, 0)
    return leave(nd, t, si, so, waits.INPUT, c)
