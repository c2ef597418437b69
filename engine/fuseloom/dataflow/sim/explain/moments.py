"""The causes of waits at both ends of one stream, from its log.

The log has the times at which tokens became heads of the stream, and slots became free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.observe import Events, Int64, StreamLog


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

    def last(self, clock: int, token: int | None = None) -> tuple[int, int] | None:
        """The latest at ``clock`` or before, of tokens up to ``token``; and its token."""
        i = int(self.start.searchsorted(clock, "right")) - 1
        if token is not None:
            i = min(i, int(self.token.searchsorted(token, "right")) - 1)
        if i < 0:
            return None
        at = min(clock, int(self.stop[i]))
        if token is not None:
            at = min(at, int(self.start[i]) + token - int(self.token[i]))
        return at, int(self.token[i]) + at - int(self.start[i])

    def where(self, keep: npt.NDArray[np.bool_]) -> Moments:
        return Moments(self.start[keep], self.stop[keep], self.token[keep])


class StreamCauses:
    """The causes of waits at both ends of one stream, from its log."""

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


def happened(events: Events, clocks: Int64) -> npt.NDArray[np.bool_]:
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
    """Count the tokens that had their event at each of some clocks or before."""
    if not len(events.first):
        return np.zeros(len(clocks), np.int64)
    events = _unit_steps(events)
    run = events.clock.searchsorted(clocks, "right") - 1
    since = np.where(events.step[run] > 0, clocks - events.clock[run] + 1, events.count[run])
    found: Int64 = events.first[run] + np.minimum(events.count[run], since)
    return np.where(run < 0, events.first[0], found)


def one_put(puts: Events, moments: Moments, takes: Events) -> npt.NDArray[np.bool_]:
    """Return, for each head, whether a node puts one token only until it takes that head."""
    one = np.ones(len(moments.start), bool)
    if not len(puts.first) or not len(takes.first):
        return one
    taken = moments.token < _end(takes)
    until = _at(takes, moments.token[taken])[0] - 1
    before = tokens_until(puts, moments.start[taken] - 1)
    one[taken] = tokens_until(puts, until) - before == 1
    return one
