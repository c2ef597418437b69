"""Observation of a run: what each visit of a node did, harvested right after the visit.

The kernels know nothing of it; they sum up how long tokens lie in a channel and *note* takes of
tokens that lay long (:func:`fuseloom.dataflow.sim.compiled.rings.take`), from which
:mod:`fuseloom.dataflow.sim.compiled.maxima` finds how full each channel was.

For a log, the runs a node has put are still in their rings after its visit, and the credits of
what it has taken are at the end of theirs; a logged run gives credits to unbounded channels too.
Both are turned into *events*, runs ``t, t + d, ...`` of clocks without data.

Everything lies behind the table of the run (:mod:`fuseloom.dataflow.sim.compiled.observing` lays it
out), in ``s.ctl``.
"""

from __future__ import annotations

from fuseloom.dataflow.sim.compiled import control, layout, maxima, rings, runs, visits, waits
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState


@inline
def _cover(s: SimulationState, t: Int) -> None:
    """Make bins wide enough for clock ``t``: merge them in pairs."""
    f = s.ctl
    bins = f[control.BINS]
    while t >> f[control.SHIFT] >= bins:
        f[control.SHIFT] += 1
        half = bins // 2
        for row in range(f[control.ROW_COUNT]):
            o = f[control.ROWS] + row * bins
            for k in range(half):
                f[o + k] = f[o + 2 * k] + f[o + 2 * k + 1]
            for k in range(half, bins):
                f[o + k] = 0


@inline
def _steps(distance: Int, d: Int) -> Int:
    """Steps of ``d`` > 0 cycles that reach that far; most runs have steps of one cycle."""
    return distance if d == 1 else (distance + d - 1) // d


@inline
def _count_tokens(s: SimulationState, row: Int, t: Int, n: Int, d: Int) -> None:
    """Add tokens stamped ``t``, ``t + d``, ... to a timeline."""
    f = s.ctl
    _cover(s, t + (n - 1) * d)
    shift = f[control.SHIFT]
    o = f[control.ROWS] + row * f[control.BINS]
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
def _spend(s: SimulationState, node: Int, start: Int, stop: Int, si: Int, so: Int, sm: Int) -> None:
    """Spread a visit's cycles evenly over its interval; the totals stay exact."""
    f = s.ctl
    _cover(s, stop - 1)
    shift, bins = f[control.SHIFT], f[control.BINS]
    o = f[control.ROWS] + control.NODE_ROWS * node * bins
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
def _log(s: SimulationState, what: Int, first: Int, t: Int, n: Int, d: Int) -> None:
    f = s.ctl
    o = f[control.LOG] + control.LOG_WORDS * f[control.NEXT_RECORD]
    if f[control.LOGGED] >= f[control.LIMIT]:
        f[control.DROPPED] = max(f[control.DROPPED], f[o + 2] + (f[o + 3] - 1) * f[o + 4])
    f[control.NEXT_RECORD] = (
        f[control.NEXT_RECORD] + 1 if f[control.NEXT_RECORD] + 1 < f[control.LIMIT] else 0
    )
    f[o] = what
    f[o + 1] = first
    f[o + 2] = t
    f[o + 3] = n
    f[o + 4] = d
    f[control.LOGGED] += 1


@inline
def _put_event(s: SimulationState, c: Int, q: Int, late: Int, t: Int, n: Int, d: Int) -> None:
    """``n`` tokens stamped ``t``, ``t + d``, ... were put."""
    f = s.ctl
    _count_tokens(s, control.NODE_ROWS * f[control.NODE_COUNT] + c, t, n, d)
    _log(s, 4 * c + 2 * late, f[q + control.PUT_COUNT], t, n, d)
    f[q + control.PUT_COUNT] += n


@inline
def _take_event(s: SimulationState, c: Int, q: Int, t: Int, n: Int, d: Int) -> None:
    """``n`` tokens were taken at clocks ``t``, ``t + d``, ..."""
    f = s.ctl
    _log(s, 4 * c + 1, f[q + control.TAKE_COUNT], t, n, d)
    f[q + control.TAKE_COUNT] += n


@inline
def _harvest_puts(s: SimulationState, c: Int) -> None:
    """Events of what the producer's visit put into channel ``c``."""
    f = s.ctl
    q = f[control.CHANNELS] + control.CHANNEL_WORDS * c
    ch = s.ch[c]
    first, end = f[q + control.SEEN_RUNS], ch.tr
    if first == end:
        return
    f[q + control.SEEN_RUNS] = end
    has_latency = f[q + control.LATENCY] > 1
    ring, mask = ch.ro, ch.rm
    t, n, d, late = 0, 0, 0, 0
    last = 0  # clock of the last token of the event so far
    for k in range(first, end):
        p = s.run[ring + (k & mask)]
        x, u, m = p.x, p.t, p.n
        e = 1 if x & runs.SLOPE else 0
        slow = 1 if has_latency and rings.is_late(x) else 0
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
def _harvest_takes(s: SimulationState, c: Int) -> None:
    """Events of what the consumer's visit took from channel ``c``."""
    f = s.ctl
    q = f[control.CHANNELS] + control.CHANNEL_WORDS * c
    ch = s.ch[c]
    taken = ch.ht - f[q + control.SEEN_TAKES]
    if taken == 0:
        return
    f[q + control.SEEN_TAKES] = ch.ht
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
    if ch.cap >= layout.FOREVER:  # nobody waits for these credits
        ch.tc = ch.hc + 1


@inline
def _sign_waits(s: SimulationState, node: Int) -> None:
    """Say whose the waits are that the visit noted; ask for a pause when there are many."""
    f = s.ctl
    end = f[control.NEXT_WAIT]
    for o in range(f[control.SIGNED], end, control.WAIT_WORDS):
        f[o + 1] |= (node + 1) << control.WAIT_NODE
    f[control.SIGNED] = end
    if end >= f[control.WAITS_END]:
        f[control.LACKING] = 1


@inline
def harvest(s: SimulationState, node: Int, status: Int) -> None:
    """Note what the visit of a node that just ended has done."""
    f = s.ctl
    if f[control.NEXT_WAIT] > f[control.SIGNED]:
        _sign_waits(s, node)
    nd = s.nd[node]
    o = f[control.NODES] + control.NODE_WORDS * node
    watched = f[o + control.WATCHED]
    if watched >= 0 and (s.ch[watched].rs != f[o + control.WATCHED + 1] or nd.so != f[o + 2]):
        f[o + control.WATCHED + 1] = s.ch[watched].rs
        maxima.expect_bursts(s, nd)
    if nd.clk > f[o]:
        stalls = nd.si - f[o + 1], nd.so - f[o + 2], nd.sm - f[o + 3]
        _spend(s, node, f[o], nd.clk, stalls[0], stalls[1], stalls[2])
        f[o], f[o + 1], f[o + 2], f[o + 3] = nd.clk, nd.si, nd.so, nd.sm
    if f[control.NEXT_NOTE] > f[control.NOTES]:
        for k in range(nd.n_in):
            c = s.ints[nd.ins + k]
            if s.ch[c].lt < 0:
                maxima.settle(s, c)
                maxima.prepare(s, c)
        f[control.NEXT_NOTE] = f[control.NOTES]
    if not f[control.LIMIT]:
        return
    for k in range(nd.n_out):
        c = s.ints[nd.outs + k]
        if s.ch[c].cap >= 0:
            _harvest_puts(s, c)
    for k in range(nd.n_in):
        _harvest_takes(s, s.ints[nd.ins + k])
    # It may have stopped only because its credits, dropped by now, filled their ring.
    if status != visits.FINISHED and nd.wk == waits.INPUT and rings.has(s, nd.wc):
        nd.ready = 1
