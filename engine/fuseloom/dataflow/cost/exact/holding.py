"""Nodes that channels with a bound hold back, place by place of an outermost index.

A token can be put only when the one as many before it as its channel holds has been taken.  At each
place, nodes are looked at twice: against the streams, for how soon what is behind could have taken
so many of the tokens of this place, as far as it is itself held back; and along the streams, for
when each is done.  Tokens of a place pass evenly from when it is begun to when it is done with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fuseloom.dataflow.cost.exact.arrivals import ArrivalTimes
from fuseloom.dataflow.cost.exact.axes import Axis
from fuseloom.dataflow.cost.exact.channels import reading_latency
from fuseloom.dataflow.cost.exact.execution import RULES, Execution
from fuseloom.dataflow.cost.exact.fiber_levels import Floats, Profile
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import value_latency
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.traits import Role

MOST = 300_000
"""Places of channels that are looked at one by one; behind them, all goes on as before."""
_NEVER = float("inf")


@dataclass(frozen=True, eq=False)
class PendingWork:
    """The pending work of nodes on an index, and the times from which they may start.

    Attributes
    ----------
    name : str
        The outermost index.
    work : mapping
        Of each node, in topological order, the cycles of its own work at every place.
    arrivals : mapping
        When tokens pass, as long as no channel is full.
    waits : mapping
        Of accumulators with rows inside a place, the cycles that they wait to put them.
    """

    execution: Execution
    machine: Machine
    name: str
    axis: Axis
    work: Mapping[int, Floats]
    arrivals: Mapping[int, ArrivalTimes]
    rooms: Mapping[int, int]
    waits: Mapping[int, Profile]

    def until(self) -> dict[int, Floats]:
        """By node, when it can be done with each place at the earliest; of those held back."""
        workers = self._workers()
        channels = sum(len(worker.outputs) for worker in workers.values())
        size = min(self.axis.size, max(MOST // max(channels, 1), 1))
        order = list(workers.values())
        for worker in reversed(order):
            worker.set_pace()
        for place in range(size):
            for worker in reversed(order):
                worker.foresee(place)
            for worker in order:
                worker.step(place)
        unhindered = self._unhindered()
        return {
            k: _continued(worker, unhindered) for k, worker in workers.items() if any(worker.held)
        }

    def _unhindered(self) -> Floats:
        """When the slowest node is done with each place, as long as no channel is full."""
        found = np.zeros(self.axis.size)
        for k, work in self.work.items():
            np.maximum(found, np.cumsum(work), out=found)
            for stream in self.execution.graph.nodes[k].inputs:
                passed = self.arrivals[stream]
                if passed.axis == self.name and len(passed.last) == len(found):
                    np.maximum(found, passed.last, out=found)
        return np.maximum.accumulate(found)

    def _workers(self) -> dict[int, _NodeAtWork]:
        workers = {k: self._worker(k) for k in self.work}
        for k, worker in workers.items():
            node = self.execution.graph.nodes[k]
            for port, s in enumerate(node.inputs):
                maker = workers.get(self.execution.graph.producer[s])
                if maker is None or not self._here(s):
                    self._from_elsewhere(worker, s, RULES[node.op].ahead and port == 0)
                    continue
                tokens = self.axis.spread(self.execution.streams[s].tokens)
                room = float(self.rooms.get(s, _NEVER))
                in_turn = RULES[node.op].in_turn and port > 0
                channel = _PlaceChannel(
                    worker, room, tokens.tolist(), np.cumsum(tokens).tolist(), in_turn
                )
                worker.inputs.append(channel)
                maker.outputs.append(channel)
        return workers

    def _here(self, stream: int) -> bool:
        """Return whether the tokens of a stream are grouped by the index."""
        deep = self.execution.streams[stream].fiber_tree.depth > 0
        return deep and self.execution.graph.streams[stream].indices[0] == self.name

    def _worker(self, k: int) -> _NodeAtWork:
        node, made = self.execution.graph.nodes[k], self.execution.nodes[k]
        rule = RULES[node.op]
        flat = self.execution.streams[node.inputs[0]].fiber_tree.depth <= 1
        folds = made.flushes is not None and made.flushes.top is not None
        waits = self.waits.get(k)
        return _NodeAtWork(
            self.work[k],
            [0.0] * self.axis.size,
            [0.0] * self.axis.size,
            float(value_latency(node, self.machine)),
            float(reading_latency(node, self.machine)),
            0.0 if rule.free_stops and not flat else 1.0,
            primitive(node.op).role is Role.COPY,
            rule.rows and folds,
            self.axis.spread(made.flushes) if folds and made.flushes is not None else None,
            None if waits is None else self.axis.spread(waits),
        )

    def _from_elsewhere(self, worker: _NodeAtWork, stream: int, ahead: bool) -> None:
        """Tokens that come whatever happens here."""
        p = self.arrivals[stream]
        if p.axis == self.name and len(p.first) == self.axis.size:
            worker.first = np.maximum(worker.first, p.first).tolist()
            worker.last = np.maximum(worker.last, p.last).tolist()
        elif (p.last > 0).any():
            worker.first[0] = max(worker.first[0], float(p.first[p.last > 0].min()))
            if not ahead:
                worker.last[-1] = max(worker.last[-1], float(p.last.max()))


@dataclass(eq=False, slots=True)
class _PlaceChannel:
    """Tokens from one node to another, at every place.

    Attributes
    ----------
    passed : list
        Tokens up to the end of each place.
    share : float
        Of the tokens at the place that is looked at, how much must have been taken before the
        last of them is put; negative: none of them.
    taken : float
        When the token was taken that lets the last one be put, if none at this place does.
    first, last : float
        When the first and the last token at this place pass.
    """

    reader: _NodeAtWork
    room: float
    tokens: list[float]
    passed: list[float]
    in_turn: bool
    place: int = 0
    share: float = -1.0
    taken: float = 0.0
    first: float = 0.0
    last: float = 0.0

    def look(self, place: int) -> None:
        """Which token must have been taken before the last one at a place is put, and when."""
        self.share, self.taken = -1.0, 0.0
        awaited = self.passed[place] - self.room
        if awaited <= 0.0 or self.tokens[place] == 0.0:
            return
        before = self.passed[place - 1] if place else 0.0
        if awaited > before:
            self.share = 1.0 - self.room / self.tokens[place]
            if self.share > 0.0 or not place:
                return
            awaited = before  # numbers of tokens are rounded
        while self.passed[self.place] < awaited:
            self.place += 1
        at, tokens = self.place, self.tokens[self.place]
        begun, share = self.reader.begun[at], 1.0 - (self.passed[at] - awaited) / tokens
        self.taken = 1.0 + begun + share * (self.reader.took[at] - begun)


@dataclass(eq=False, slots=True)
class _NodeAtWork:
    """A node at work, place by place.

    Attributes
    ----------
    work : array
        Cycles of its own.
    first, last : list
        When the first and the last token come from elsewhere.
    latency : float
        Cycles from a token to what it puts.
    reading : float
        And those of a memory, whose ports keep the tokens meanwhile.
    closing : float
        Cycles that the last token takes.
    rows : bool
        Whether it puts what it has folded only when the next token comes.
    flushes : array or None
        Of what folds, how many fibers end.
    waits : array or None
        Cycles in which rows inside wait for room.
    pace : list
        Cycles that it takes, of its own and held back by what is behind it, at least.
    begun, took : list
        When it began with a place, and had taken all of its tokens.
    held : list
        When channels let it be done.
    done, foreseen : float
        When it is done with the place before, and will have taken this one's tokens at the soonest.
    """

    work: Floats
    first: list[float]
    last: list[float]
    latency: float
    reading: float
    closing: float
    copies: bool
    rows: bool
    flushes: Floats | None
    waits: Floats | None
    inputs: list[_PlaceChannel] = field(default_factory=list)
    outputs: list[_PlaceChannel] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    fibers: list[float] = field(default_factory=list)
    pace: list[float] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    done: float = 0.0
    foreseen: float = 0.0

    def set_pace(self) -> None:
        """From the pace of what is behind it, and the room before that."""
        fibers = np.ones(len(self.work)) if self.flushes is None else np.maximum(self.flushes, 1.0)
        behind = np.zeros(len(self.work))
        for channel in self.outputs:
            share = 1.0 - channel.room * fibers / np.maximum(channel.tokens, 1.0)
            waits = np.where(share > 0, share, 0.0) * channel.reader.pace
            np.maximum(behind, waits, out=behind)
        if self.flushes is None:
            pace = np.maximum(self.work, behind)
        elif self.waits is not None:
            pace = self.work + self.waits
        else:  # the last fiber waits when the place is done
            pace = self.work + behind * (fibers - 1.0) / fibers
        self.own, self.fibers, self.pace = self.work.tolist(), fibers.tolist(), pace.tolist()

    def foresee(self, place: int) -> None:
        """When the tokens of a place will have been taken, at the soonest."""
        soonest = self.done + self.pace[place]
        for channel in self.outputs:
            channel.look(place)
            if self.flushes is not None:
                continue
            when = channel.taken
            if channel.share > 0.0:
                reader = channel.reader
                when = 1.0 + reader.foreseen - (1.0 - channel.share) * reader.pace[place]
            soonest = max(soonest, when - self.reading)
        self.foreseen = soonest

    def step(self, place: int) -> None:
        """Work at a place, and put what comes of it."""
        first, last = self.first[place], self.last[place]
        soonest = _NEVER
        for channel in self.inputs:
            if channel.tokens[place] > 0.0:
                if channel.in_turn:
                    soonest = min(soonest, channel.first)
                elif channel.first > first:
                    first = channel.first
                if channel.last > last:
                    last = channel.last
        if soonest < _NEVER:
            first = max(first, soonest)
        begun = max(first, self.done)
        self.begun.append(begun)
        if last <= 0.0 if self.copies else self.own[place] <= 0.0:
            self.took.append(begun)
            self.held.append(0.0)
            return
        if self.copies:
            end = max(last, self.done)
        else:
            cycles = self.own[place] if self.flushes is None else self.pace[place]
            end = max(begun + cycles, last + self.closing)
        if self.rows and place < len(self.own) - 1 and end <= last + 1.5:
            end += 1.0
        took = end
        held = max(
            (self._held(channel, place, begun, end) for channel in self.outputs), default=0.0
        )
        end = max(end, held)
        self.took.append(end if self.flushes is None else took)
        self.held.append(held)
        self.done = end
        self._put(place, begun, took, end)

    def _held(self, channel: _PlaceChannel, place: int, begun: float, end: float) -> float:
        """When a channel lets a place be done."""
        if channel.share <= 0.0:
            return channel.taken - self.reading
        reader, pace = channel.reader, channel.reader.pace[place]
        soonest = reader.foreseen - (1.0 - channel.share) * pace - self.reading
        if self.flushes is None:
            return 1.0 + max(soonest, begun + self.latency + channel.share * pace)
        fibers = self.fibers[place]  # the last of them is put from now on
        share = 1.0 - channel.room * fibers / channel.tokens[place]
        return 1.0 + max(soonest, end + 1.0 + max(share, 0.0) * pace / fibers)

    def _put(self, place: int, begun: float, took: float, end: float) -> None:
        if self.copies:
            first, last = begun + 1.0, end + 1.0
        else:
            latency = self.latency + self.reading
            last = max(took + latency - 1.0, end)
            first = begun + latency
            if self.flushes is not None and self.flushes[place] <= 1.0:
                first = took + latency - 1.0
        for channel in self.outputs:
            channel.first, channel.last = min(first, last), last


def _continued(worker: _NodeAtWork, unhindered: Floats) -> Floats:
    """Until when a node is held back; behind the places looked at as much as up to there.

    That is measured by the slowest node: others may be far ahead of it where no channel is full.
    """
    held = np.array(worker.held)
    if len(held) == len(unhindered):
        return held
    slower = held.max() / max(float(unhindered[len(held) - 1]), 1.0)
    return np.append(held, slower * unhindered[len(held) :])
