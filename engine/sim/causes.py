"""Why a node's clock stood where it stood: the last wait before a cycle.

The twins note every wait.  The compiled engine logs when tokens were put, stamped and taken, and
a wait leaves a trace there whatever the primitive does: a token for which the node waited was the
head of its stream before it came, and something the node did happened at that very cycle; a slot
for which it waited was filled in the cycle in which it became free.  What looks like that without
the clock having moved came just in time: a wait of no cycles, as true a link of the path.  So of
paths of one length the log prefers the one that leads upstream.  What it cannot tell is the order
of a node's doings within one cycle; where a step neither takes before it puts nor the reverse, two
that had nothing to do with each other may pass for a link (one gain of 1,431 in random graphs
exceeded its bound for that, by a cycle).  Waits noted by the twins are exact.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.samml.graph import Graph, Node
from engine.sim.observe import Events, Int64, Observed, StreamLog, Wait

_UNPEEKED = (
    "array", "binary", "broadcast", "crdwrite", "fork", "join", "locate", "reduce", "repsig",
    "sam_locate", "sink", "unary", "valdrop", "valwrite", "zerodrop",
)  # fmt: skip
PEEKED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_UNPEEKED, ()),
    "crddrop": (1,),
    "ordered_join": (0,),
    "repeat": (0,),
}
"""Inputs a primitive looks at before it takes from them; those of others may all be such.

It spares the walk coincidences: a token may come as a head while its reader, busy elsewhere, does
not look at it.
"""

SCANNERS = ("scan", "dense_scan")
"""Primitives that look at their next token before a fiber's stop only."""


TAKES_FIRST = (*_UNPEEKED, *SCANNERS, "repeat")
"""Primitives that take what a step needs before they put what it gives."""


class Causes(Protocol):
    """What the backward walk asks."""

    @property
    def known_from(self) -> int:
        """Everything after this clock is known; -1: everything."""
        ...

    def last_wait(self, node: int, clock: int, taken: int | None = None) -> Wait | None:
        """The last wait of a node that ended at ``clock`` or before; ``since`` may be -1.

        With ``taken`` the question is what came before it took that token at that clock.
        """
        ...

    def origin(self, stream: int, token: int) -> int:
        """The producer's clock that determined a token's timestamp.

        It is that of the put, or that of the operands where the result's latency outlasted the
        wait for room.
        """
        ...

    def take_clock(self, stream: int, token: int) -> int:
        """The consumer's clock at which it took a token."""
        ...


def causes_of(graph: Graph, observed: Observed) -> Causes:
    """The exact waits where they were noted, otherwise what the log says."""
    if observed.waits is not None:
        return NotedCauses(graph, observed)
    return LoggedCauses(graph, observed)


def clock_of(events: Events, token: int) -> int:
    """Clock of one token's event."""
    run = int(events.first.searchsorted(token, "right")) - 1
    return int(events.clock[run] + (token - events.first[run]) * events.step[run])


@dataclass(frozen=True)
class Segments:
    """Tokens ``first`` to ``first + count - 1`` with two clocks each, both steps 0 or 1."""

    first: Int64
    count: Int64
    a: Int64
    a_step: Int64
    b: Int64
    b_step: Int64


def _at(events: Events, tokens: Int64) -> tuple[Int64, Int64]:
    """Clock and step of the events of some tokens."""
    run = events.first.searchsorted(tokens, "right") - 1
    return events.clock[run] + (tokens - events.first[run]) * events.step[run], events.step[run]


def _unit_steps(events: Events) -> Events:
    """The same events in runs of steps 0 and 1."""
    if not ((events.step > 1) & (events.count > 1)).any():
        return events
    clocks = events.expanded()
    start = int(events.first[0])
    ones = np.ones(len(clocks), np.int64)
    return Events(start + np.arange(len(clocks)), ones, clocks, 0 * ones)


def _end(events: Events) -> int:
    return int(events.first[-1] + events.count[-1]) if len(events.first) else 0


def aligned(one: Events, other: Events) -> Segments:
    """Both clocks of every token that has both."""
    one, other = _unit_steps(one), _unit_steps(other)
    if not len(one.first) or not len(other.first):
        none = np.zeros(0, np.int64)
        return Segments(none, none, none, none, none, none)
    start = max(int(one.first[0]), int(other.first[0]))
    end = min(_end(one), _end(other))
    cuts = np.union1d(one.first, other.first)
    cuts = np.concatenate(([start], cuts[(cuts > start) & (cuts < end)]))
    if start >= end:
        cuts = cuts[:0]
    a, a_step = _at(one, cuts)
    b, b_step = _at(other, cuts)
    return Segments(cuts, np.diff(np.append(cuts, end)), a, a_step, b, b_step)


@dataclass(frozen=True)
class Moments:
    """Possible ends of waits: at each clock from ``start`` to ``stop``, token by token."""

    start: Int64
    stop: Int64
    token: Int64

    @classmethod
    def of(cls, start: Int64, stop: Int64, token: Int64) -> Moments:
        return cls(start, stop, token)

    def last(self, clock: int) -> tuple[int, int] | None:
        """The latest at ``clock`` or before, and its token."""
        i = int(self.start.searchsorted(clock, "right")) - 1
        if i < 0:
            return None
        at = min(clock, int(self.stop[i]))
        return at, int(self.token[i]) + at - int(self.start[i])

    def where(self, keep: npt.NDArray[np.bool_]) -> Moments:
        return Moments(self.start[keep], self.stop[keep], self.token[keep])


class StreamCauses:
    """What one stream's log says about the waits at both of its ends."""

    def __init__(self, log: StreamLog) -> None:
        self.log = log

    @cached_property
    def earliest(self) -> Events:
        """Clocks at which the tokens would have been put with all slots free."""
        puts = self.log.puts
        delay = np.where(self.log.late, self.log.latency, 1)
        return Events(puts.first, puts.count, puts.clock - delay, puts.step)

    @cached_property
    def freed(self) -> Events | None:
        """Per token, the clock from which the slot it needs was free."""
        capacity, takes = self.log.capacity, self.log.takes
        if capacity is None:
            return None
        return Events(takes.first + capacity, takes.count, takes.clock + 1, takes.step)

    @cached_property
    def puts(self) -> Events:
        """Clocks of the puts."""
        if self.freed is None or self.log.latency == 1:
            return self.earliest
        if not len(self.earliest.first):
            return self.earliest
        clocks = self.earliest.expanded()
        tokens = int(self.earliest.first[0]) + np.arange(len(clocks))
        if len(self.freed.first):
            waits = (tokens >= self.freed.first[0]) & (tokens < _end(self.freed))
            clocks[waits] = np.maximum(clocks[waits], _at(self.freed, tokens[waits])[0])
        ones = np.ones(len(clocks), np.int64)
        return Events(tokens, ones, clocks, 0 * ones)

    def put_clock(self, token: int) -> int:
        clock = clock_of(self.earliest, token)
        freed = self.freed
        if freed is not None and len(freed.first) and freed.first[0] <= token < _end(freed):
            clock = max(clock, clock_of(freed, token))
        return clock

    def origin(self, token: int) -> int:
        clock = self.put_clock(token)
        in_time = clock_of(self.log.puts, token) == clock + 1
        return clock if in_time else clock_of(self.earliest, token)

    @cached_property
    def _heads(self) -> tuple[Segments, Int64]:
        """Timestamps and takes, and when the token before each segment was taken."""
        both = aligned(self.log.puts, self.log.takes)
        before = np.concatenate(([-1], both.b + (both.count - 1) * both.b_step))[:-1]
        return both, before

    @cached_property
    def arrivals(self) -> Moments:
        """Tokens taken in the cycle in which they came, by a node that was free before."""
        both, before = self._heads
        on_time = both.a == both.b
        flows = (both.a_step == 1) & (both.b_step == 1)
        fresh = before < both.a
        keep = on_time & (fresh | (flows & (both.count > 1)))
        late = (~fresh).astype(np.int64)  # the first token of the run was no wait
        stop = both.a + np.where(flows, both.count - 1, 0)
        return Moments(both.a + late, stop, both.first + late).where(keep)

    @cached_property
    def peeks(self) -> Moments:
        """Tokens that came as the head of their stream and were taken later, or never."""
        both, before = self._heads
        keep = (both.a < both.b) & (before < both.a)
        found = Moments(both.a, both.a, both.first).where(keep)
        takes, puts = self.log.takes, self.log.puts
        unread = _end(takes)
        if unread < _end(puts) and len(puts.first) and unread >= puts.first[0]:
            stamp = clock_of(puts, unread)
            if not unread or stamp > clock_of(takes, unread - 1):
                found = Moments(
                    np.append(found.start, stamp),
                    np.append(found.stop, stamp),
                    np.append(found.token, unread),
                )
        return found

    @cached_property
    def releases(self) -> Moments:
        """Tokens put in the cycle in which their slot became free."""
        none = np.zeros(0, np.int64)
        if self.freed is None:
            return Moments(none, none, none)
        both = aligned(self.earliest, self.freed)
        if not len(both.first):
            return Moments(none, none, none)
        put = np.maximum(both.a, both.b)
        last = both.count - 1
        end = np.maximum(both.a + last * both.a_step, both.b + last * both.b_step)
        start = int(both.first[0])
        earlier = self.put_clock(start - 1) if start > self.earliest.first[0] else -1
        before = np.concatenate(([earlier], end))[:-1]
        rising = both.b_step == 1
        # Within a run, slots that become free one by one are waited for from where they are late.
        offset = np.where(rising, np.maximum(both.a - both.b, 0), 0)
        offset = np.where(rising & (both.a_step == 1), 0, offset)
        first_waits = (both.b >= both.a) & (before < put)
        skip = np.where(first_waits, 0, np.where(offset == 0, 1, offset + 1))
        always = rising & (both.a_step == 1)
        keep = first_waits | (rising & (skip <= last) & (~always | (both.b >= both.a)))
        stop = np.where(rising, both.b + last, both.b)
        return Moments(both.b + skip * rising, stop, both.first + skip).where(keep)


def _happened(events: Events, clocks: Int64) -> npt.NDArray[np.bool_]:
    """At which of some clocks there was an event."""
    if not len(events.first):
        return np.zeros(len(clocks), bool)
    events = _unit_steps(events)
    run = events.clock.searchsorted(clocks, "right") - 1
    start, last = events.clock[run], events.clock[run] + (events.count[run] - 1) * events.step[run]
    within = (run >= 0) & (start <= clocks) & (clocks <= last)
    hit: npt.NDArray[np.bool_] = within & ((events.step[run] == 1) | (clocks == start))
    return hit


def tokens_until(events: Events, clocks: Int64) -> Int64:
    """How many tokens had their event at each of some clocks or before."""
    if not len(events.first):
        return np.zeros(len(clocks), np.int64)
    events = _unit_steps(events)
    run = events.clock.searchsorted(clocks, "right") - 1
    since = np.where(events.step[run] > 0, clocks - events.clock[run] + 1, events.count[run])
    found: Int64 = events.first[run] + np.minimum(events.count[run], since)
    return np.where(run < 0, events.first[0], found)


def _one_put(puts: Events, moments: Moments, takes: Events) -> npt.NDArray[np.bool_]:
    """Where a node puts one token only from the arrival of a head until it takes that."""
    one = np.ones(len(moments.start), bool)
    if not len(puts.first) or not len(takes.first):
        return one
    taken = moments.token < _end(takes)
    until = _at(takes, moments.token[taken])[0] - 1
    before = tokens_until(puts, moments.start[taken] - 1)
    one[taken] = tokens_until(puts, until) - before == 1
    return one


class LoggedCauses:
    """Waits as the log of the compiled engine tells them."""

    def __init__(self, graph: Graph, observed: Observed) -> None:
        assert observed.log is not None
        self.graph = graph
        self.known_from = observed.forgotten
        self.streams = [StreamCauses(log) for log in observed.log]
        self._peeks: dict[int, list[tuple[int, Moments]]] = {}

    def origin(self, stream: int, token: int) -> int:
        return self.streams[stream].origin(token)

    def take_clock(self, stream: int, token: int) -> int:
        return clock_of(self.streams[stream].log.takes, token)

    def last_wait(self, node: int, clock: int, taken: int | None = None) -> Wait | None:
        """The latest moment; arrivals before releases before peeks where several agree."""
        best: Wait | None = None
        n = self.graph.nodes[node]
        candidates = [(False, c, self.streams[c].arrivals) for c in n.inputs]
        candidates += [(True, c, self.streams[c].releases) for c in n.outputs if c is not None]
        candidates += [(False, c, moments) for c, moments in self._peeks_of(n)]
        takes_first = n.op in TAKES_FIRST
        for room, stream, moments in candidates:
            found = moments.last(clock)
            if room and taken is not None and takes_first and found is not None:
                # What it put in that cycle it put after the take, or for an earlier token.
                same = n.op != "broadcast" or found[1] >= taken
                if found[0] == clock and same:
                    found = moments.last(clock - 1)
            if found is not None and (best is None or found[0] > best.until):
                best = Wait(-1, found[0], room, stream, found[1])
        return best

    def _peeks_of(self, node: Node) -> list[tuple[int, Moments]]:
        """Arrivals of heads at which the node did something with its other streams."""
        if node.id not in self._peeks:
            made = []
            for port in PEEKED.get(node.op, range(len(node.inputs))):
                c = node.inputs[port]
                moments = self.streams[c].peeks
                acts = np.zeros(len(moments.start), bool)
                for other in node.inputs:
                    if other != c:
                        acts |= _happened(self.streams[other].log.takes, moments.start)
                outs = [self.streams[out].puts for out in node.outputs if out is not None]
                for puts in outs:
                    acts |= _happened(puts, moments.start)
                if node.op in SCANNERS and outs:
                    acts &= _one_put(outs[0], moments, self.streams[c].log.takes)
                made.append((c, moments.where(acts)))
            self._peeks[node.id] = made
        return self._peeks[node.id]


class NotedCauses:
    """Waits as the twins noted them."""

    def __init__(self, graph: Graph, observed: Observed) -> None:
        assert observed.log is not None
        assert observed.waits is not None
        self.known_from = -1
        self.waits = [[w for w in waits if w.until > w.since] for waits in observed.waits]
        self.ends = [[wait.until for wait in waits] for waits in self.waits]
        self.streams = [StreamCauses(log) for log in observed.log]

    def origin(self, stream: int, token: int) -> int:
        return self.streams[stream].origin(token)

    def take_clock(self, stream: int, token: int) -> int:
        return clock_of(self.streams[stream].log.takes, token)

    def last_wait(self, node: int, clock: int, taken: int | None = None) -> Wait | None:
        k = bisect_right(self.ends[node], clock)
        return self.waits[node][k - 1] if k else None
