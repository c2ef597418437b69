"""Observation of a run: what each visit of a node did, harvested right after the visit.

The kernels know nothing of it; they sum up how long tokens lie in a channel and *note* takes of
tokens that lay long (:func:`engine.sim.runs.take`).

From the notes comes the most tokens at once.  It is the least number of slots ``M`` with which no
put would have waited: every put comes after the take of the token ``M`` before it.  Where at most
one token a cycle is put (:mod:`engine.sim.pacing`), a token that lay for at most ``M`` cycles saw
at most ``M`` at once, so ``M`` can only grow at tokens that lay longer; most channels soon have
none.  Where one lay longer, all tokens are noted until the put ``M`` tokens later is known.  Of
notes only the takes to which puts may still come are kept, as the *past* of the channel.

For a log, the runs a node has put are still in their rings after its visit, and the credits of
what it has taken are at the end of theirs; a logged run gives credits to unbounded channels too.
Both are turned into *events*, runs ``t, t + d, ...`` of clocks without data.

Everything lies behind the table of the run (:mod:`engine.sim.observer` lays it out), in
``s.ctl``.
"""

from __future__ import annotations

from typing import Any

from engine.sim.inlining import inline
from engine.sim.kernels.observing import (
    CHANNEL_WORDS,
    HOT,
    LATENCY,
    LATEST,
    LOG_WORDS,
    MOST,
    NODE_WORDS,
    OBS_BINS,
    OBS_CHANNELS,
    OBS_DROPPED,
    OBS_LACKING,
    OBS_LIMIT,
    OBS_LOG,
    OBS_LOGGED,
    OBS_NEXT,
    OBS_NODE_COUNT,
    OBS_NODES,
    OBS_NOTES,
    OBS_ROW_COUNT,
    OBS_ROWS,
    OBS_SHIFT,
    PACED,
    PAST,
    PAST_HEAD,
    PAST_MASK,
    PAST_PER_TOKEN,
    PAST_STEP,
    PAST_TAIL,
    PAST_WORDS,
    PUT_COUNT,
    ROWS,
    SEEN_RUNS,
    SEEN_TAKES,
    STEPS,
    TAKE_COUNT,
    UNKNOWN,
    WATCHED,
)
from engine.sim.layout import (
    CTL_NOTE,
    FINISHED,
    FOREVER,
    NOTE_CHANNEL,
    NOTE_COUNT,
    NOTE_LATE,
    NOTE_RUN,
    NOTE_STAMP,
    NOTE_STEP,
    NOTE_TAKE,
    NOTE_THEN,
    NOTE_TOKEN,
    NOTE_WORDS,
    SLOPE,
    WAIT_INPUT,
    Int,
    State,
)
from engine.sim.runs import has, is_late, longest


@inline
def _cover(s: State, t: Int) -> None:
    """Make bins wide enough for clock ``t``: merge them in pairs."""
    f = s.ctl
    bins = f[OBS_BINS]
    while t >> f[OBS_SHIFT] >= bins:
        f[OBS_SHIFT] += 1
        half = bins // 2
        for row in range(f[OBS_ROW_COUNT]):
            o = f[OBS_ROWS] + row * bins
            for k in range(half):
                f[o + k] = f[o + 2 * k] + f[o + 2 * k + 1]
            for k in range(half, bins):
                f[o + k] = 0


@inline
def _steps(distance: Int, d: Int) -> Int:
    """Steps of ``d`` > 0 cycles that reach that far; most runs have steps of one cycle."""
    return distance if d == 1 else (distance + d - 1) // d


@inline
def _count_tokens(s: State, row: Int, t: Int, n: Int, d: Int) -> None:
    """Add tokens stamped ``t``, ``t + d``, ... to a timeline."""
    f = s.ctl
    _cover(s, t + (n - 1) * d)
    shift = f[OBS_SHIFT]
    o = f[OBS_ROWS] + row * f[OBS_BINS]
    if t >> shift == (t + (n - 1) * d) >> shift:
        f[o + (t >> shift)] += n
        return
    while n > 0:
        k = t >> shift
        m = min(n, _steps(((k + 1) << shift) - t, d))
        f[o + k] += m
        n -= m
        t += m * d


@inline
def _spend(s: State, node: Int, start: Int, stop: Int, si: Int, so: Int, sm: Int) -> None:
    """Spread a visit's cycles evenly over its interval; the totals stay exact."""
    f = s.ctl
    _cover(s, stop - 1)
    shift, bins = f[OBS_SHIFT], f[OBS_BINS]
    o = f[OBS_ROWS] + ROWS * node * bins
    busy = stop - start - si - so - sm
    k = start >> shift
    if k == (stop - 1) >> shift:
        f[o + k] += busy
        f[o + bins + k] += si
        f[o + 2 * bins + k] += so
        f[o + 3 * bins + k] += sm
        return
    while start < stop:
        k = start >> shift
        here, left = min(stop, (k + 1) << shift) - start, stop - start
        b = busy * here // left
        rest, rest_left = here - b, left - busy
        i = si * rest // rest_left if rest_left > 0 else 0
        rest_left -= si
        m = sm * (rest - i) // rest_left if rest_left > 0 else 0
        f[o + k] += b
        f[o + bins + k] += i
        f[o + 2 * bins + k] += rest - i - m
        f[o + 3 * bins + k] += m
        busy -= b
        si -= i
        sm -= m
        start += here


@inline
def _log(s: State, what: Int, first: Int, t: Int, n: Int, d: Int) -> None:
    f = s.ctl
    o = f[OBS_LOG] + LOG_WORDS * f[OBS_NEXT]
    if f[OBS_LOGGED] >= f[OBS_LIMIT]:
        f[OBS_DROPPED] = max(f[OBS_DROPPED], f[o + 2] + (f[o + 3] - 1) * f[o + WATCHED])
    f[OBS_NEXT] = f[OBS_NEXT] + 1 if f[OBS_NEXT] + 1 < f[OBS_LIMIT] else 0
    f[o] = what
    f[o + 1] = first
    f[o + 2] = t
    f[o + 3] = n
    f[o + WATCHED] = d
    f[OBS_LOGGED] += 1


@inline
def _put_event(s: State, c: Int, q: Int, late: Int, t: Int, n: Int, d: Int) -> None:
    """``n`` tokens stamped ``t``, ``t + d``, ... were put."""
    f = s.ctl
    _count_tokens(s, ROWS * f[OBS_NODE_COUNT] + c, t, n, d)
    _log(s, 4 * c + 2 * late, f[q + PUT_COUNT], t, n, d)
    f[q + PUT_COUNT] += n


@inline
def _take_event(s: State, c: Int, q: Int, t: Int, n: Int, d: Int) -> None:
    """``n`` tokens were taken at clocks ``t``, ``t + d``, ..."""
    f = s.ctl
    _log(s, 4 * c + 1, f[q + TAKE_COUNT], t, n, d)
    f[q + TAKE_COUNT] += n


@inline
def _harvest_puts(s: State, c: Int) -> None:
    """Events of what the producer's visit put into channel ``c``."""
    f = s.ctl
    q = f[OBS_CHANNELS] + CHANNEL_WORDS * c
    ch = s.ch[c]
    first, end = f[q + SEEN_RUNS], ch.tr
    if first == end:
        return
    f[q + SEEN_RUNS] = end
    has_latency = f[q + LATENCY] > 1
    ring, mask = ch.ro, ch.rm
    t, n, d, late = 0, 0, 0, 0
    last = 0  # clock of the last token of the event so far
    for k in range(first, end):
        p = s.run[ring + (k & mask)]
        x, u, m = p.x, p.t, p.n
        e = 1 if x & SLOPE else 0
        slow = 1 if has_latency and is_late(x) else 0
        step = u - last
        if (
            n > 0
            and 0 <= step <= 1
            and (n == 1 or d == step)
            and (m == 1 or e == step)
            and slow == late
        ):
            n += m
            d = step
            last = u + m - 1 if step else u
            continue
        if n > 0:
            _put_event(s, c, q, late, t, n, d)
        t, n, d, late = u, m, e, slow
        last = u + (m - 1) * e
    _put_event(s, c, q, late, t, n, d)


@inline
def _harvest_takes(s: State, c: Int) -> None:
    """Events of what the consumer's visit took from channel ``c``."""
    f = s.ctl
    q = f[OBS_CHANNELS] + CHANNEL_WORDS * c
    ch = s.ch[c]
    taken = ch.ht - f[q + SEEN_TAKES]
    if taken == 0:
        return
    f[q + SEEN_TAKES] = ch.ht
    k = ch.tc
    found = 0
    while found < taken:
        k -= 1
        found += s.credit[ch.co + (k & ch.cm)].n
    before = found - taken  # slots of the first run that were free already
    t, n, d, last = 0, 0, 0, 0
    for i in range(k, ch.tc):
        p = s.credit[ch.co + (i & ch.cm)]
        u, m, e = p.t - 1, p.n, p.d
        if before > 0:
            u += before * e
            m -= before
            before = 0
        step = u - last
        if n > 0 and 0 <= step <= 1 and (n == 1 or d == step) and (m == 1 or e == step):
            n += m
            d = step
        else:
            if n > 0:
                _take_event(s, c, q, t, n, d)
            t, n, d = u, m, e
        last = u + (m - 1) * e
    _take_event(s, c, q, t, n, d)
    if ch.cap >= FOREVER:  # nobody waits for these credits
        ch.tc = ch.hc + 1


@inline
def _remember(
    s: State, past: Int, mask: Int, tail: Int, i: Int, m: Int, a: Int, b: Int, d: Int
) -> Int:
    """Append takes to a past: ``m`` from token ``i``, at ``a``, ``b``, ``b + d``; its tail.

    Behind the last run is noted where it ends.
    """
    f = s.ctl
    while m > 0:
        n = 1 if b - a != d or d >= UNKNOWN else m
        here = past + PAST_WORDS * (tail & mask)
        f[here] = (i << PAST_STEP) | (d if n > 1 else 0)
        f[here + 1] = a
        i += n
        m -= n
        tail += 1
        a = b
        b += d
    f[past + PAST_WORDS * (tail & mask)] = i << PAST_STEP
    return tail


@inline
def _settle(s: State, c: Int) -> None:
    """Compare the puts of noted tokens with the takes ``most`` tokens before.

    A put that comes no later than that take finds its slot in use: ``most`` was too small.  As
    that holds for no put before it, one slot more will do.
    """
    f = s.ctl
    q = f[OBS_CHANNELS] + CHANNEL_WORDS * c
    past, mask, head, tail = f[q + PAST], f[q + PAST_MASK], f[q + PAST_HEAD], f[q + PAST_TAIL]
    most, latest, hot, latency = f[q + MOST], f[q + LATEST], f[q + HOT], f[q + LATENCY]
    known = f[past + PAST_WORDS * (tail & mask)] >> PAST_STEP  # where the past ends
    w = past + PAST_WORDS * ((tail - 1) & mask)
    first, stride, clock = f[w] >> PAST_STEP, f[w] & UNKNOWN, f[w + 1]  # its last run
    if head == tail:
        stride = UNKNOWN
    end = -1  # of the run at its head
    for o in range(f[OBS_NOTES], f[CTL_NOTE], NOTE_WORDS):
        if f[o + NOTE_CHANNEL] != c:
            continue
        i, taken, then, x = f[o + NOTE_TOKEN], f[o + NOTE_TAKE], f[o + NOTE_THEN], f[o + NOTE_RUN]
        m, d, e = x >> NOTE_COUNT, (x >> NOTE_STEP) & STEPS, 1 if x & SLOPE else 0
        if i > known:
            f[past + PAST_WORDS * (tail & mask)] |= UNKNOWN
            tail += 1
            stride = UNKNOWN
        known = i + m
        if m == 1:
            # Two takes always make a run.  Nobody can predict whether a third belongs to it.
            count, step = i - first, taken - clock
            longer = (
                (stride < UNKNOWN) & (step < UNKNOWN) & ((count == 1) | (step == count * stride))
            )
            tail += 0 if longer else 1
            stride = (step if count == 1 else stride) if longer else 0
            first = first if longer else i
            clock = clock if longer else taken
            w = past + PAST_WORDS * ((tail - 1) & mask)
            f[w] = (first << PAST_STEP) | stride
            f[w + 1] = clock
            f[past + PAST_WORDS * (tail & mask)] = known << PAST_STEP
        else:
            tail = _remember(s, past, mask, tail, i, m, taken, then, d)
            w = past + PAST_WORDS * ((tail - 1) & mask)
            first, stride, clock = f[w] >> PAST_STEP, f[w] & UNKNOWN, f[w + 1]
        if head == tail and end >= 0:
            end = known
        t = f[o + NOTE_STAMP] - (latency if x & NOTE_LATE else 1)
        n = max(0, most - i)
        if m == 1 and n == 0:  # the rest for one token, as most notes are of one
            while end <= i - most:
                head += 1
                end = f[past + PAST_WORDS * (head & mask)] >> PAST_STEP
            w = past + PAST_WORDS * ((head - 1) & mask)
            step = f[w] & UNKNOWN
            a = f[w + 1] + (i - most - (f[w] >> PAST_STEP)) * step
            latest = max(latest, t)
            most += (a >= latest) & (step < UNKNOWN)
            hot = i if taken - t >= most and i > hot else hot
            continue
        while n < m:
            j = i + n - most
            while end <= j:
                head += 1
                end = f[past + PAST_WORDS * (head & mask)] >> PAST_STEP
            w = past + PAST_WORDS * ((head - 1) & mask)
            step = f[w] & UNKNOWN
            more = min(m - n, end - j)
            if step < UNKNOWN:  # the others lay for too short a time
                a = f[w + 1] + (j - (f[w] >> PAST_STEP)) * step
                if a >= max(t + n * e, latest):
                    more = min(m - n, a - t - n + 1) if e else m - n
                    most += more
                elif a + (more - 1) * step >= max(t + (n + more - 1) * e, latest):
                    more = 1  # not of all of them
            n += more
        latest = max(latest, t + (m - 1) * e)
        if longest(m, taken - t, then - t, d, e) >= most:
            hot = max(hot, i + m - 1)
    f[q + MOST], f[q + LATEST], f[q + HOT] = most, latest, hot
    f[q + PAST_HEAD], f[q + PAST_TAIL] = head - 1 if end >= 0 else head, tail


@inline
def _prepare(s: State, c: Int) -> None:
    """Choose which takes from channel ``c`` are noted in the next visit, and see to room."""
    f = s.ctl
    q = f[OBS_CHANNELS] + CHANNEL_WORDS * c
    ch = s.ch[c]
    if 0 < ch.cap <= f[q + MOST]:  # it can be no more
        ch.lt = FOREVER
    elif f[q + PACED] and f[q + HOT] + f[q + MOST] < ch.ht:
        ch.lt = f[q + MOST] - 1 - f[q + LATENCY]
    if f[q + PAST_TAIL] - f[q + PAST_HEAD] + PAST_PER_TOKEN * (ch.vm + 1) > f[q + PAST_MASK]:
        f[OBS_LACKING] = 1


@inline
def _expect_bursts(s: State, nd: Any) -> None:
    """Note all takes of the tokens a node has put, and of the one it may hold."""
    f = s.ctl
    for k in range(nd.n_out):
        c = s.ints[nd.outs + k]
        ch = s.ch[c]
        if ch.cap >= 0 and ch.lt < FOREVER:
            ch.lt = -1
            f[f[OBS_CHANNELS] + CHANNEL_WORDS * c + HOT] = ch.tt


@inline
def harvest(s: State, node: Int, status: Int) -> None:
    """Note what the visit of a node that just ended has done."""
    f = s.ctl
    nd = s.nd[node]
    o = f[OBS_NODES] + NODE_WORDS * node
    watched = f[o + WATCHED]
    if watched >= 0 and (s.ch[watched].rs != f[o + WATCHED + 1] or nd.so != f[o + 2]):
        f[o + WATCHED + 1] = s.ch[watched].rs
        _expect_bursts(s, nd)
    if nd.clk > f[o]:
        stalls = nd.si - f[o + 1], nd.so - f[o + 2], nd.sm - f[o + 3]
        _spend(s, node, f[o], nd.clk, stalls[0], stalls[1], stalls[2])
        f[o], f[o + 1], f[o + 2], f[o + 3] = nd.clk, nd.si, nd.so, nd.sm
    if f[CTL_NOTE] > f[OBS_NOTES]:
        for k in range(nd.n_in):
            c = s.ints[nd.ins + k]
            if s.ch[c].lt < 0:
                _settle(s, c)
                _prepare(s, c)
        f[CTL_NOTE] = f[OBS_NOTES]
    if not f[OBS_LIMIT]:
        return
    for k in range(nd.n_out):
        c = s.ints[nd.outs + k]
        if s.ch[c].cap >= 0:
            _harvest_puts(s, c)
    for k in range(nd.n_in):
        _harvest_takes(s, s.ints[nd.ins + k])
    # It may have stopped only because its credits, dropped by now, filled their ring.
    if status != FINISHED and nd.wk == WAIT_INPUT and has(s, nd.wc):
        nd.ready = 1
