"""Rings of runs: what the compiled kernels are written in.

A channel is a ring of *runs*.  A run stands for ``n`` tokens of one kind whose timestamps are
``t, t, ...`` or ``t, t+1, ...``, and whose data are one number, consecutive numbers, or a slice
of a pool.  A node that works off one token per cycle turns runs into runs, so a fiber of a
thousand elements costs as much as one token.  The time at which each slot of a bounded channel
becomes free again is a *credit* (``docs/spec/machine.md`` §2.3); credits are runs that flow
backwards.

The helpers below are what kernels look at runs, take and put them with; the arrays themselves
are those of :mod:`fuseloom.dataflow.sim.compiled.layout`.
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import control, runs
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, view

# ---------------------------------------------------------------------------- reading


@inline
def is_leaf(kind: Int) -> Int:
    """Return whether a token stands for one element: a number or the empty token."""
    return kind in (runs.LEAF, runs.EMPTY)


@inline
def has(s: SimulationState, c: Int) -> Int:
    """Return whether there is a token to take.

    A taken token makes a credit, so one also waits until the ring of credits has room.
    """
    q = s.ch[c]
    return q.tr > q.hr and (q.cap == 0 or q.tc - q.hc < q.cm - 1)


@inline
def head(s: SimulationState, c: Int) -> Int:
    """Index of the first run."""
    q = s.ch[c]
    return q.ro + (q.hr & q.rm)


@inline
def starved(s: SimulationState, c: Int) -> Int:
    """Return whether the producer cannot put one more token: the channel really is full."""
    q = s.ch[c]
    return q.cap > 0 and q.hc == q.tc


@inline
def number(s: SimulationState, r: Int, i: Int) -> Int:
    """Number ``i`` of a run of coordinates or references; the level of a stop."""
    p = s.run[r]
    v = p.v
    if p.x & runs.STEP:
        v += i
    return s.ints[v] if p.x & runs.MEM else v


@inline
def value(s: SimulationState, r: Int, i: Int) -> Any:
    """Value ``i`` of a run of values."""
    p = s.run[r]
    return s.floats[p.v + i] if p.x & runs.STEP else s.floats[p.v]


@inline
def give_back(s: SimulationState, c: Int, m: Int, t: Int, d: Int) -> None:
    """Add credits for ``m`` slots, free at ``t``, ``t + d``, ...; merge them with the last run."""
    q = s.ch[c]
    if q.tc > q.hc:
        p = s.credit[q.co + ((q.tc - 1) & q.cm)]
        n = p.n
        if n == 1 and (t == p.t or t == p.t + 1) and (m == 1 or d == t - p.t):
            p.d = t - p.t
            p.n += m
            return
        if n > 1 and t == p.t + n * p.d and (m == 1 or d == p.d):
            p.n += m
            return
    p = s.credit[q.co + (q.tc & q.cm)]
    p.t = t
    p.n = m
    p.d = d
    q.tc += 1


@inline
def longest(m: Int, a: Int, b: Int, d: Int, slope: Int) -> Int:
    """The most cycles from timestamp to take of ``m`` tokens, the first stamped 0."""
    if m == 1:
        return a
    e = 1 if slope else 0
    return max(a, b - e, b - e + (m - 2) * (d - e))


@inline
def is_late(x: Int) -> Int:
    """Return whether tokens of a run with these flags have the result latency of their producer."""
    return (x & runs.KIND == runs.LEAF) != (x & runs.UNUSUAL != 0)


@inline
def _note(s: SimulationState, c: Int, m: Int, a: Int, b: Int, d: Int) -> None:
    """Note a take of the first run, and every take from now on (``kernels/maxima.py``)."""
    f = s.ctl
    q = s.ch[c]
    p = s.run[q.ro + (q.hr & q.rm)]
    o = f[control.NEXT_NOTE]
    f[control.NEXT_NOTE] = o + control.NOTE_WORDS
    f[o + control.NOTE_CHANNEL] = c
    f[o + control.NOTE_TOKEN] = q.ht
    f[o + control.NOTE_STAMP] = p.t
    f[o + control.NOTE_TAKE] = a
    f[o + control.NOTE_THEN] = b
    f[o + control.NOTE_RUN] = (
        (m << control.NOTE_COUNT) | (d << control.NOTE_STEP) | (p.x & runs.SLOPE) | is_late(p.x)
    )
    q.lt = -1


@inline
def _observe(s: SimulationState, c: Int, m: Int, a: Int, b: Int, d: Int) -> None:
    """Sum up how long ``m`` tokens lay in the channel; note the take if one lay for too long."""
    q = s.ch[c]
    p = s.run[q.ro + (q.hr & q.rm)]
    most = a - p.t
    q.rs += most
    if m > 1:
        e = 1 if p.x & runs.SLOPE else 0
        second = b - p.t - e
        last = second + (m - 2) * (d - e)
        q.rs += ((m - 1) * (second + last)) >> 1
        most = max(most, second, last)
    if most > q.lt:
        _note(s, c, m, a, b, d)


@inline
def take(s: SimulationState, c: Int, m: Int, a: Int, b: Int, d: Int) -> None:
    """Remove ``m`` tokens of the first run: one at clock ``a``, the others from ``b`` by ``d``."""
    q = s.ch[c]
    p = s.run[q.ro + (q.hr & q.rm)]
    if q.ht == 0:
        q.ft = a
    if q.rs >= 0:
        _observe(s, c, m, a, b, d)
    if p.n == m:
        q.hr += 1
    else:
        x = p.x
        p.n -= m
        if x & runs.SLOPE:
            p.t += m
        if x & runs.STEP:
            p.v += m
        elif x & runs.RING:  # its slot is about to be free: the datum moves to the next token's
            if q.val:
                s.floats[p.v + m] = s.floats[p.v]
            else:
                s.ints[p.v + m] = s.ints[p.v]
            p.v += m
    q.ht += m
    if q.cap > 0:
        if m == 1:
            give_back(s, c, 1, a + 1, 0)
        elif b == a + d:
            give_back(s, c, m, a + 1, d)
        else:
            give_back(s, c, 1, a + 1, 0)
            give_back(s, c, m - 1, b + 1, d)


@inline
def take_one(s: SimulationState, c: Int, a: Int) -> None:
    """Remove one token at clock ``a``."""
    take(s, c, 1, a, a, 0)


# ---------------------------------------------------------------------------- writing


@inline
def room(s: SimulationState, c: Int) -> Int:
    """Count the tokens that can be put as one run, given the slots that are (or will be) free."""
    q = s.ch[c]
    if q.tr - q.hr > q.rm - 2:
        return 0
    put_before = q.tt
    slots = q.vm + 1
    free = min(slots - (put_before - q.ht), slots - (put_before & q.vm))
    if q.cap > 0:
        if q.hc == q.tc:
            return 0
        free = min(free, s.credit[q.co + (q.hc & q.cm)].n)
    return free


@inline
def slot(s: SimulationState, c: Int) -> Int:
    """Return the position in the pool for the data of the next run."""
    q = s.ch[c]
    return q.vo + (q.tt & q.vm)


@inline
def free_at(s: SimulationState, c: Int) -> Int:
    """Clock from which the next slot is free."""
    q = s.ch[c]
    if q.cap > 0:
        return s.credit[q.co + (q.hc & q.cm)].t
    return 0


@inline
def even(s: SimulationState, c: Int, t: Int, m: Int) -> Int:
    """Count those of the next ``m`` slots that keep one step, for a node that puts without a cycle.

    From clock ``t`` on such a node moves only as slots become free: not at all while they were
    free before, then by one cycle per token.
    """
    q = s.ch[c]
    if q.cap > 0:
        p = s.credit[q.co + (q.hc & q.cm)]
        if p.d == 1 and p.t < t:
            return min(m, t - p.t + 1)
    return m


@inline
def rising(s: SimulationState, c: Int, t: Int) -> Int:
    """Return whether, from clock ``t`` on, each next slot becomes free one cycle later."""
    q = s.ch[c]
    if q.cap > 0:
        p = s.credit[q.co + (q.hc & q.cm)]
        return p.d == 1 and p.t == t and p.n > 1
    return False


@inline
def append(s: SimulationState, c: Int, m: Int, t: Int, x: Int, v: Int) -> None:
    """Write one run at the tail of the ring."""
    q = s.ch[c]
    p = s.run[q.ro + (q.tr & q.rm)]
    p.t = t
    p.n = m
    p.x = x
    p.v = v
    q.tr += 1


@inline
def put(s: SimulationState, c: Int, m: Int, first: Int, t: Int, x: Int, v: Int) -> None:
    """Put ``m`` tokens: one stamped ``first``, the others as in a run that starts at ``t``.

    The two differ where the first token had to wait but left its neighbours on time.
    """
    q = s.ch[c]
    if q.tt == 0:
        q.fp = first - 1
    if m == 1 or first == t:
        append(s, c, m, first, x, v)
    else:
        append(s, c, 1, first, x, v)
        if x & (runs.STEP | runs.RING):
            if not x & runs.STEP:
                if q.val:
                    s.floats[v + 1] = s.floats[v]
                else:
                    s.ints[v + 1] = s.ints[v]
            v += 1
        append(s, c, m - 1, t + (1 if x & runs.SLOPE else 0), x, v)
    use_slots(s, c, m, x)


@inline
def use_slots(s: SimulationState, c: Int, m: Int, x: Int) -> None:
    """Count ``m`` tokens as put, and use up the slots they take."""
    q = s.ch[c]
    q.tt += m
    if x & runs.KIND in (runs.LEAF, runs.REPEAT):
        q.tv += m
    if q.cap != 0:
        if q.cap < 0:  # written where nobody reads it
            q.tr = 0
            q.tt = 0
            q.tv = 0
            return
        p = s.credit[q.co + (q.hc & q.cm)]
        if p.n == m:
            q.hc += 1
        else:
            p.n -= m
            p.t += m * p.d


@inline
def put_one(s: SimulationState, c: Int, t: Int, kind: Int, v: Int, f: Any) -> None:
    """Put one token: number ``v``, or value ``f`` where the channel carries values.

    ``kind`` may bear :data:`~fuseloom.dataflow.sim.compiled.runs.UNUSUAL`.
    """
    if kind & runs.KIND == runs.LEAF and s.ch[c].val:
        w = slot(s, c)
        s.floats[w] = f
        put(s, c, 1, t, t, kind | runs.STEP | runs.MEM | runs.RING, w)
    else:
        put(s, c, 1, t, t, kind | runs.STEP, v)


@inline
def copied(s: SimulationState, c: Int, r: Int, m: Int) -> Int:
    """Datum for putting the first ``m`` tokens of run ``r`` into channel ``c``, flags unchanged.

    Data in the ring of the run's own channel would be overwritten once taken: they are copied.
    """
    p = s.run[r]
    if p.x & runs.RING:
        w = slot(s, c)
        n = m if p.x & runs.STEP else 1
        if s.ch[c].val:
            copy(view(s.floats, w, n), view(s.floats, p.v, n))
        else:
            copy(view(s.ints, w, n), view(s.ints, p.v, n))
        return w
    return p.v


@inline
def pass_on(s: SimulationState, c: Int, r: Int, m: Int, first: Int, t: Int) -> None:
    """Put the first ``m`` tokens of run ``r`` into channel ``c``, one per cycle (:func:`put`)."""
    put(s, c, m, first, t, s.run[r].x | runs.SLOPE, copied(s, c, r, m))


# ---------------------------------------------------------------------------- both


@inline
def pass_by(s: SimulationState, c: Int, t: Int) -> Int:
    """Take a run, or a part of it, that costs no cycle; the clock after the last token."""
    p = s.run[head(s, c)]
    a = max(t, p.t)
    m = p.n
    if m > 1 and p.x & runs.SLOPE:
        if p.t >= t:
            take(s, c, m, a, a + 1, 1)
            return a + m - 1
        m = min(m, t - p.t + 1)
    take(s, c, m, a, a, 0)
    return a


@inline
def copy(o: Any, a: Any) -> None:
    """Copy one view to another."""
    for e in range(len(o)):
        o[e] = a[e]
