"""Read ports of the memory, which read ahead."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import asking, rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.arrays import power_of_two
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of, slots

_PIECE = 7
_T, _N, _REQUEST, _X, _V, _X2, _V2 = range(_PIECE)
# A piece of a run that waits for the memory: first timestamp but for that, tokens, the request
# it waits for (-1: none), and flags and datum of each of the two streams.

_PASS, _ROOM, _ROOM_2, _MEMORY, _DRAIN = range(5)
# Runs pass; a taken token waits for room on the first output, on the second, and for the
# memory to take one more request; all is taken.

_READER = slots(
    stride="p0",  # bytes from item to item
    size="p1",  # bytes of an item
    line="p2",  # bytes of a line, which a request asks for
    port="p3",  # its number
    outstanding="p4",  # requests that may be under way
    pieces="p5",  # in the integers: the ring of pieces that wait
    mask="p6",  # of that ring
    requests="s0",  # so far
    last_line="s1",  # asked for
    oldest="s2",  # piece that waits,
    newest="s3",  # and one behind the last: both count all pieces so far
    phase="s4",  # what comes next, one of those above
    other="s5",  # number of the held token on the first of two streams
    last_stamp="s6",  # timestamp of the last token that left
)


def _reader(setup: Setup) -> dict[str, float]:
    size = power_of_two(setup.machine.port_slots + 1)
    return {
        "stride": int(setup.param("stride")),
        "size": int(setup.param("size")),
        "line": setup.machine.access_bytes,
        "port": setup.ports[0].number,
        "outstanding": setup.machine.outstanding,
        "pieces": setup.ints.reserve(size * _PIECE),
        "mask": size - 1,
        "last_line": -1,
    }


@inline
def _deliver(s: SimulationState, nd: Any, o: Int, entry: Int, second: Int, when: Int) -> None:
    """Put a piece on one output, now that its words come at cycle ``when``."""
    t, n = s.ints[entry + _T], s.ints[entry + _N]
    x = s.ints[entry + (_X2 if second else _X)]
    v = s.ints[entry + (_V2 if second else _V)]
    if when <= t:
        rings.append(s, o, n, t, x | runs.SLOPE, v)
        return
    together = min(n, when - t + 1)
    rings.append(s, o, together, when, x & ~runs.SLOPE, v)
    if together < n:
        if x & runs.STEP:
            v += together
        elif x & runs.RING:
            s.ints[v + together] = s.ints[v]
            v += together
        rings.append(s, o, n - together, when + 1, x | runs.SLOPE, v)


@inline
def _run_ring_full(s: SimulationState, c: Int) -> Int:
    q = s.ch[c]
    return q.cap >= 0 and q.tr - q.hr > q.rm - 2


@inline
def _deliver_all(s: SimulationState, nd: Any, o1: Int, o2: Int, pair: Int) -> Int:
    """Put what the memory has answered, in order; the output whose ring is full, or -1."""
    port = nd.port
    while nd.oldest < nd.newest:
        entry = nd.pieces + _PIECE * (nd.oldest & nd.mask)
        request = s.ints[entry + _REQUEST]
        when = asking.answer(s, port, request) if request >= 0 else 0
        if when < 0:
            return -1
        if _run_ring_full(s, o1):
            return o1
        if pair and _run_ring_full(s, o2):
            return o2
        when = max(when, nd.last_stamp)  # tokens leave in order
        if s.ch[o1].cap >= 0:
            _deliver(s, nd, o1, entry, 0, when)
        if pair and s.ch[o2].cap >= 0:
            _deliver(s, nd, o2, entry, 1, when)
        nd.last_stamp = max(when, s.ints[entry + _T] + s.ints[entry + _N] - 1)
        nd.oldest += 1
    return -1


@inline
def _reserve(s: SimulationState, c: Int, t: Int, m: Int, x: Int) -> None:
    """Use up slots for tokens that are put at clock ``t`` and show later."""
    q = s.ch[c]
    if q.tt == 0:
        q.fp = t
    rings.use_slots(s, c, m, x)


@inline
def _wait_for(
    s: SimulationState, nd: Any, t: Int, m: Int, x: Int, v: Int, x2: Int, v2: Int
) -> None:
    """Note a piece whose first token was put at clock ``t``."""
    entry = nd.pieces + _PIECE * (nd.newest & nd.mask)
    s.ints[entry + _T] = t + 1
    s.ints[entry + _N] = m
    s.ints[entry + _REQUEST] = nd.requests - 1 if x & runs.KIND == runs.LEAF else -1
    s.ints[entry + _X], s.ints[entry + _V] = x, v
    s.ints[entry + _X2], s.ints[entry + _V2] = x2, v2
    nd.newest += 1


@inline
def _first_missing(s: SimulationState, nd: Any, address: Int) -> Int:
    """First line to ask for, or -1 if the line asked for last has all."""
    first, last = address // nd.line, (address + nd.size - 1) // nd.line
    if first == nd.last_line:
        first += 1
    return first if first <= last else -1


@inline
def _covered(s: SimulationState, nd: Any, r: Int, m: Int, base: Int) -> Int:
    """Count the first ``m`` references that need only the line that was requested last.

    The first one counts in any case.
    """
    p = s.run[r]
    line, low = nd.line, nd.last_line * nd.line - base
    high = low + line - nd.size  # the last address at which an item lies inside the line
    if not p.x & runs.STEP:
        at = nd.stride * rings.number(s, r, 0)
        return m if low <= at <= high else 1
    if not p.x & runs.MEM:
        if low > nd.stride * (p.v + 1):
            return 1
        return min(m, max(1, high // nd.stride - p.v + 1))
    n = 1
    while n < m:
        at = nd.stride * s.ints[p.v + n]
        if at < low or at > high:
            break
        n += 1
    return n


@inline
def _ready_at(s: SimulationState, nd: Any) -> Int:
    """Cycle from which the memory takes one more request of this port; -1: not known yet."""
    request = nd.requests - nd.outstanding
    return asking.answer(s, nd.port, request) if request >= 0 else 0


@inline
def _ask(s: SimulationState, nd: Any, t: Int, address: Int, wanted: Int) -> Int:
    """Ask for the lines of an item, ``wanted`` the first: clock at which the memory takes that."""
    t = asking.stand_still(s, nd, t, _ready_at(s, nd))
    last = (address + nd.size - 1) // nd.line
    size = (last - wanted + 1) * nd.line
    asking.ask(s, nd.port, nd.requests, t, wanted * nd.line, size, 0)
    nd.requests += 1
    nd.last_line = last
    return t


@inline
def _pass_run(
    s: SimulationState, nd: Any, pair: Int, base: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int, Int, Int]:
    """Pass on a run that needs one request; hold a token if it lacks room or the memory."""
    i, o = s.ints[nd.ins], s.ints[nd.outs]
    j, o2 = s.ints[nd.ins + nd.n_in - 1], s.ints[nd.outs + nd.n_in - 1]
    if not rings.has(s, i) or not rings.has(s, j):
        missing = j if rings.has(s, i) else i
        return t, si, so, visits.leave(nd, t, si, so, waits.INPUT, missing)
    r, r1 = rings.head(s, j), rings.head(s, i)
    p, p1 = s.run[r], s.run[r1]
    k = p.x & runs.KIND
    if p1.x & runs.KIND != k or (k == runs.STOP and p1.v != p.v):
        return t, si, so, visits.fail(nd, max(t, p.t), rules.LOCATE_MISMATCH)
    a = max(t, p1.t)
    b = max(a, p.t)
    m = min(rings.room(s, o), rings.room(s, o2))
    address, wanted = 0, -1
    if k == runs.LEAF:
        address = base + nd.stride * rings.number(s, r, 0)
        wanted = _first_missing(s, nd, address)
    busy = wanted >= 0 and _ready_at(s, nd) < 0
    if m == 0 and not busy:
        c = o if rings.room(s, o) == 0 else o2
        if not (visits.no_room(s, nd, i, c) or visits.no_room(s, nd, j, c)):
            return t, si, so, visits.leave(nd, t, si, so, waits.ROOM, c)
    if m == 0 or busy:
        t, si = visits.stall(s, waits.INPUT, t, b, si)
        nd.hk, nd.hv = k, rings.number(s, r, 0) if k == runs.LEAF else p.v
        nd.other = rings.number(s, r1, 0) if k == runs.LEAF else p1.v
        if pair:
            rings.take_one(s, i, a)
        rings.take_one(s, j, b)
        nd.phase = _ROOM
        return t, si, so, visits.GOES_ON
    si += visits.waited(s, waits.INPUT, t, b)
    t = max(b, rings.free_at(s, o), rings.free_at(s, o2))
    so += visits.waited(s, waits.ROOM, b, t)
    m = min(m, p.n, p1.n)
    if wanted >= 0:
        t = _ask(s, nd, t, address, wanted)
    if k == runs.LEAF and m > 1:
        m = _covered(s, nd, r, m, base)
    x, x1 = p.x | runs.SLOPE, p1.x | runs.SLOPE
    v = rings.copied(s, o2, r, m)
    v1 = rings.copied(s, o, r1, m) if pair else v
    _wait_for(s, nd, t, m, x1, v1, x, v)
    if pair:
        _reserve(s, o, t, m, x1)
        rings.take(s, i, m, a, t + 1, 1)
    _reserve(s, o2, t, m, x)
    rings.take(s, j, m, b, t + 1, 1)
    if k == runs.DONE:
        nd.phase = _DRAIN
    else:
        t += m
    return t, si, so, visits.GOES_ON


@inline
def _pass_held(
    s: SimulationState, nd: Any, pair: Int, base: Int, t: Int, si: Int, so: Int
) -> tuple[Int, Int]:
    """Pass on the held token, which has room, when the memory takes its request."""
    if nd.hk == runs.LEAF:
        address = base + nd.stride * nd.hv
        wanted = _first_missing(s, nd, address)
        if wanted >= 0:
            if _ready_at(s, nd) < 0:
                return t, visits.leave(nd, t, si, so, waits.MEMORY, 0)
            t = _ask(s, nd, t, address, wanted)
    x = nd.hk | runs.SLOPE | runs.STEP
    _wait_for(s, nd, t, 1, x, nd.other, x, nd.hv)
    _reserve(s, s.ints[nd.outs + nd.n_in - 1], t, 1, x)
    if pair:
        _reserve(s, s.ints[nd.outs], t, 1, x)
    if nd.hk == runs.DONE:
        nd.phase = _DRAIN
        return t, visits.GOES_ON
    nd.phase = _PASS
    return t + 1, visits.GOES_ON


@kernel("mem_read", _READER, _reader)
def mem_read(node: Int, table: Int) -> Int:
    """Pass tokens on when the memory has what they refer to."""
    s = state_of(table)
    nd = node_of(s, node, _READER)
    pair = nd.n_in > 1
    o, o2 = s.ints[nd.outs], s.ints[nd.outs + nd.n_in - 1]
    t, si, so, status = nd.clk, nd.si, nd.so, visits.GOES_ON
    base = asking.base_of(s, nd.port)
    while status == visits.GOES_ON:
        full = _deliver_all(s, nd, o, o2, pair)
        if full >= 0:
            status = visits.leave(nd, t, si, so, waits.ROOM, full)
        elif nd.phase == _DRAIN:
            left = waits.MEMORY if nd.oldest < nd.newest else waits.NONE
            status = visits.leave(nd, t, si, so, left, 0)
        elif nd.phase == _PASS:
            t, si, so, status = _pass_run(s, nd, pair, base, t, si, so)
        elif nd.phase == _MEMORY:
            t, status = _pass_held(s, nd, pair, base, t, si, so)
        else:
            c = o if nd.phase == _ROOM else o2
            if rings.room(s, c) == 0:
                return visits.leave(nd, t, si, so, waits.ROOM, c)
            t, so = visits.stall(s, waits.ROOM, t, rings.free_at(s, c), so)
            nd.phase = _ROOM_2 if pair and nd.phase == _ROOM else _MEMORY
    return status
