"""The most tokens at once in each channel of an observed run.

Kernels *note* takes of tokens that lay long (:func:`fuseloom.dataflow.sim.compiled.rings.take`).

The most tokens at once is the least number of slots ``M`` with which no
put would have waited: every put comes after the take of the token ``M`` before it.  Where at most
one token a cycle is put (:mod:`fuseloom.dataflow.sim.compiled.pacing`), a token that lay for at
most ``M`` cycles saw at most ``M`` at once, so ``M`` can only grow at tokens that lay longer; most
channels soon have none.  Where one lay longer, all tokens are noted until the put ``M`` tokens
later is known.  Of notes only the takes to which puts may still come are kept, as the *past* of the
channel.
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import control, layout, rings, runs
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState


@inline
def _remember(
    s: SimulationState, past: Int, mask: Int, tail: Int, i: Int, m: Int, a: Int, b: Int, d: Int
) -> Int:
    """Append takes to a past: ``m`` from token ``i``, at ``a``, ``b``, ``b + d``; its tail.

    Behind the last run is noted where it ends.
    """
    f = s.ctl
    while m > 0:
        n = 1 if b - a != d or d >= control.UNKNOWN else m
        here = past + control.PAST_WORDS * (tail & mask)
        f[here] = (i << control.PAST_STEP) | (d if n > 1 else 0)
        f[here + 1] = a
        i += n
        m -= n
        tail += 1
        a = b
        b += d
    f[past + control.PAST_WORDS * (tail & mask)] = i << control.PAST_STEP
    return tail


@inline
def settle(s: SimulationState, c: Int) -> None:
    """Compare the puts of noted tokens with the takes ``most`` tokens before.

    A put that comes no later than that take finds its slot in use: ``most`` was too small.  As
    that holds for no put before it, one slot more will do.
    """
    f = s.ctl
    q = f[control.CHANNELS] + control.CHANNEL_WORDS * c
    past, mask = f[q + control.PAST], f[q + control.PAST_MASK]
    head, tail = f[q + control.PAST_HEAD], f[q + control.PAST_TAIL]
    most, latest = f[q + control.MOST], f[q + control.LATEST]
    hot, latency = f[q + control.HOT], f[q + control.LATENCY]
    known = f[past + control.PAST_WORDS * (tail & mask)] >> control.PAST_STEP  # where the past ends
    w = past + control.PAST_WORDS * ((tail - 1) & mask)
    # Its last run.
    first, stride, clock = f[w] >> control.PAST_STEP, f[w] & control.UNKNOWN, f[w + 1]
    if head == tail:
        stride = control.UNKNOWN
    end = -1  # of the run at its head
    for o in range(f[control.NOTES], f[control.NEXT_NOTE], control.NOTE_WORDS):
        if f[o + control.NOTE_CHANNEL] != c:
            continue
        i, taken = f[o + control.NOTE_TOKEN], f[o + control.NOTE_TAKE]
        then, x = f[o + control.NOTE_THEN], f[o + control.NOTE_RUN]
        m, d = x >> control.NOTE_COUNT, (x >> control.NOTE_STEP) & control.STEPS
        e = 1 if x & runs.SLOPE else 0
        if i > known:
            f[past + control.PAST_WORDS * (tail & mask)] |= control.UNKNOWN
            tail += 1
            stride = control.UNKNOWN
        known = i + m
        if m == 1:
            # Two takes always make a run.  Nobody can predict whether a third belongs to it.
            count, step = i - first, taken - clock
            longer = (
                (stride < control.UNKNOWN)
                & (step < control.UNKNOWN)
                & ((count == 1) | (step == count * stride))
            )
            tail += 0 if longer else 1
            stride = (step if count == 1 else stride) if longer else 0
            first = first if longer else i
            clock = clock if longer else taken
            w = past + control.PAST_WORDS * ((tail - 1) & mask)
            f[w] = (first << control.PAST_STEP) | stride
            f[w + 1] = clock
            f[past + control.PAST_WORDS * (tail & mask)] = known << control.PAST_STEP
        else:
            tail = _remember(s, past, mask, tail, i, m, taken, then, d)
            w = past + control.PAST_WORDS * ((tail - 1) & mask)
            first, stride, clock = f[w] >> control.PAST_STEP, f[w] & control.UNKNOWN, f[w + 1]
        if head == tail and end >= 0:
            end = known
        t = f[o + control.NOTE_STAMP] - (latency if x & control.NOTE_LATE else 1)
        n = max(0, most - i)
        if m == 1 and n == 0:  # the rest for one token, as most notes are of one
            while end <= i - most:
                head += 1
                end = f[past + control.PAST_WORDS * (head & mask)] >> control.PAST_STEP
            w = past + control.PAST_WORDS * ((head - 1) & mask)
            step = f[w] & control.UNKNOWN
            a = f[w + 1] + (i - most - (f[w] >> control.PAST_STEP)) * step
            latest = max(latest, t)
            most += (a >= latest) & (step < control.UNKNOWN)
            hot = i if taken - t >= most and i > hot else hot
            continue
        while n < m:
            j = i + n - most
            while end <= j:
                head += 1
                end = f[past + control.PAST_WORDS * (head & mask)] >> control.PAST_STEP
            w = past + control.PAST_WORDS * ((head - 1) & mask)
            step = f[w] & control.UNKNOWN
            more = min(m - n, end - j)
            if step < control.UNKNOWN:  # the others lay for too short a time
                a = f[w + 1] + (j - (f[w] >> control.PAST_STEP)) * step
                if a >= max(t + n * e, latest):
                    more = min(m - n, a - t - n + 1) if e else m - n
                    most += more
                elif a + (more - 1) * step >= max(t + (n + more - 1) * e, latest):
                    more = 1  # not of all of them
            n += more
        latest = max(latest, t + (m - 1) * e)
        if rings.longest(m, taken - t, then - t, d, e) >= most:
            hot = max(hot, i + m - 1)
    f[q + control.MOST], f[q + control.LATEST], f[q + control.HOT] = most, latest, hot
    f[q + control.PAST_HEAD], f[q + control.PAST_TAIL] = head - 1 if end >= 0 else head, tail


@inline
def prepare(s: SimulationState, c: Int) -> None:
    """Choose which takes from channel ``c`` are noted in the next visit, and see to room."""
    f = s.ctl
    q = f[control.CHANNELS] + control.CHANNEL_WORDS * c
    ch = s.ch[c]
    if 0 < ch.cap <= f[q + control.MOST]:  # it can be no more
        ch.lt = layout.FOREVER
    elif f[q + control.PACED] and f[q + control.HOT] + f[q + control.MOST] < ch.ht:
        ch.lt = f[q + control.MOST] - 1 - f[q + control.LATENCY]
    if (
        f[q + control.PAST_TAIL] - f[q + control.PAST_HEAD] + control.PAST_PER_TOKEN * (ch.vm + 1)
        > f[q + control.PAST_MASK]
    ):
        f[control.LACKING] = 1


@inline
def expect_bursts(s: SimulationState, nd: Any) -> None:
    """Note all takes of the tokens a node has put, and of the one it may hold."""
    f = s.ctl
    for k in range(nd.n_out):
        c = s.ints[nd.outs + k]
        ch = s.ch[c]
        if ch.cap >= 0 and ch.lt < layout.FOREVER:
            ch.lt = -1
            f[f[control.CHANNELS] + control.CHANNEL_WORDS * c + control.HOT] = ch.tt
