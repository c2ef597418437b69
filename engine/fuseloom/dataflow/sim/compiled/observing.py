"""Memory of an observed run of the compiled engine, and what is read from it afterwards.

It lies behind the table of the run, where :mod:`fuseloom.dataflow.sim.compiled.kernels.observer`
finds it; its size depends on the bins, on the graph, and on how full the channels get.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import latencies
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.compiled import control, layout
from fuseloom.dataflow.sim.compiled.arrays import ChannelMemory
from fuseloom.dataflow.sim.compiled.pacing import paced_streams
from fuseloom.dataflow.sim.events.spool import WaitSpool, tokens_of_nodes
from fuseloom.dataflow.sim.observe import (
    Events,
    Int64,
    Observe,
    Observed,
    StreamLog,
    peeked_streams,
    with_idle,
)

WAITS_HELD = 1 << 18
"""Noted waits that are held before they are handed over; 24 bytes each."""
WAITS_PER_TOKEN, WAITS_BESIDE = 2, 64
"""Most waits that a visit notes per token in the rings around its node, and besides: each is for
a token to come, for a slot of one, or for the memory to answer, which it asks about a token."""

SPARE = 1 << 22
"""Words to spare behind all that: memory that is not used until written to."""
GROWTH = 4
PER_TOKEN = 4
"""Noted takes there is room for at first in the past of a channel, per token in its ring."""


class Observer:
    """The memory that an observed run of one graph on one machine writes to.

    Attributes
    ----------
    table : ndarray of int64
        The table of the run with this memory behind it.
    """

    def __init__(
        self, observe: Observe, graph: Graph, machine: Machine, channels: npt.NDArray[Any]
    ) -> None:
        self.observe = observe
        self.graph = graph
        self.machine = machine
        self.latencies = latencies(graph, machine)
        self.spool: WaitSpool | None = None
        nodes, streams = len(graph.nodes), len(graph.streams)
        rows = control.NODE_ROWS * nodes + (streams if observe.log else 0)
        limit = observe.log_limit if observe.log else 0
        sizes = {
            control.NODES: control.NODE_WORDS * nodes,
            control.CHANNELS: control.CHANNEL_WORDS * len(channels),
            control.ROWS: rows * observe.bins,
            control.LOG: control.LOG_WORDS * limit,
        }
        tokens = channels["vm"][:streams] + 1
        past = control.PAST_WORDS * PER_TOKEN * tokens
        notes = control.NOTE_WORDS * self._most_notes(channels)
        wait_words = 0
        if observe.events is not None:
            self.spool = WaitSpool(observe.events, nodes)
            wait_words = WAITS_HELD * control.WAIT_WORDS
        self.waits = 0
        self.notes = 0
        self.masks = np.empty(0, np.int64)
        self.used = control.START
        self.table = np.zeros(
            control.START + sum(sizes.values()) + past.sum() + notes + wait_words + SPARE, np.int64
        )
        for field, size in sizes.items():
            self.table[field] = self._reserve(size)
        self.table[control.BINS], self.table[control.DROPPED] = observe.bins, -1
        self.table[control.ROW_COUNT], self.table[control.NODE_COUNT] = rows, nodes
        self.table[control.LIMIT] = limit
        channels["rs"] = 0
        channels["lt"] = -1 if observe.maxima else layout.FOREVER
        paced, at_times = paced_streams(graph, machine)
        watched = self.table[self.table[control.NODES] :][: sizes[control.NODES]].reshape(
            -1, control.NODE_WORDS
        )
        watched[:, control.WATCHED] = -1
        for node, stream in at_times.items():
            watched[node, control.WATCHED] = stream
            paced.update(s for s in graph.nodes[node].outputs if s is not None)
        for stream in range(streams):
            fields = self._channel(stream)
            fields[control.LATENCY], fields[control.PACED] = self.latencies[stream], stream in paced
            fields[control.HOT] = fields[control.LATEST] = -1
            fields[control.PAST] = self._reserve(int(past[stream]))
            fields[control.PAST_MASK] = PER_TOKEN * tokens[stream] - 1
        self.make_room(channels)

    def _most_notes(self, channels: npt.NDArray[Any]) -> int:
        """Takes that one visit may note: of all tokens the rings of a node's inputs hold."""
        slots = channels["vm"] + 1
        return max(int(slots[list(node.inputs)].sum()) for node in self.graph.nodes)

    def _reserve(self, size: int) -> int:
        offset = self.used
        self.used += size
        if self.used > len(self.table):
            larger = np.empty(2 * self.used, np.int64)
            larger[:offset] = self.table[:offset]
            self.table = larger
        return offset

    def _channels(self) -> Int64:
        start, streams = int(self.table[control.CHANNELS]), len(self.graph.streams)
        words: Int64 = self.table[start : start + control.CHANNEL_WORDS * streams]
        return words.reshape(streams, control.CHANNEL_WORDS)

    def _channel(self, stream: int) -> Int64:
        fields: Int64 = self._channels()[stream]
        return fields

    def make_room(self, channels: npt.NDArray[Any]) -> Int64:
        """See that the next visit of any node has room for what it may note; the table."""
        if np.array_equal(channels["vm"], self.masks) and not self.lacks_room:
            return self.table
        if self.spool is not None:
            self._make_room_for_waits(channels)
        self.masks = channels["vm"].copy()
        self.table[control.LACKING] = 0
        notes = self._most_notes(channels)
        if notes > self.notes:
            self.notes = notes
            self.table[control.NOTES] = self.table[control.NEXT_NOTE] = self._reserve(
                control.NOTE_WORDS * notes
            )
        more = control.PAST_PER_TOKEN * (channels["vm"][: len(self.graph.streams)] + 1)
        for stream in np.flatnonzero(self._lacking(more)).tolist():
            while self._lacking(more)[stream]:
                self._enlarge(stream)
        return self.table

    def _make_room_for_waits(self, channels: npt.NDArray[Any]) -> None:
        """Hand over the noted waits, and have room for many more and for those of one visit."""
        self._hand_over()
        slots = channels["vm"] + 1
        ends = np.concatenate((channels["cons"], channels["prod"]))
        around = np.bincount(ends, np.concatenate((slots, slots)))
        most = WAITS_PER_TOKEN * int(around.max(initial=0)) + WAITS_BESIDE
        if self.waits < WAITS_HELD + most:
            self.waits = WAITS_HELD + most
            self.table[control.WAITS] = (
                self._reserve(control.WAIT_WORDS * (self.waits + 1)) + control.WAIT_WORDS
            )
        start = int(self.table[control.WAITS])
        self.table[control.NEXT_WAIT] = self.table[control.SIGNED] = start
        self.table[control.WAITS_END] = start + control.WAIT_WORDS * WAITS_HELD

    def _hand_over(self) -> None:
        assert self.spool is not None
        start, end = int(self.table[control.WAITS]), int(self.table[control.SIGNED])
        assert end <= start + control.WAIT_WORDS * self.waits, (
            "a visit noted more waits than it can have"
        )
        if end > start:
            since, signed, until = self.table[start:end].reshape(-1, control.WAIT_WORDS).T
            nodes = (signed >> control.WAIT_NODE) - 1
            self.spool.add(nodes, signed & ((1 << control.WAIT_NODE) - 1), since, until)

    def _write_events(self, clocks: Int64, end: int, tokens: Int64 | None, width: int) -> Path:
        """Write the file of all waits."""
        assert self.spool is not None
        self._hand_over()
        if tokens is not None:
            tokens = tokens_of_nodes(self.graph, tokens, -(-end // width))
        return self.spool.finish(clocks, end, tokens, width)

    def _lacking(self, more: Int64) -> npt.NDArray[np.bool_]:
        """Per stream, whether its past lacks room for so many runs more."""
        fields = self._channels()
        full: npt.NDArray[np.bool_] = (
            fields[:, control.PAST_TAIL] - fields[:, control.PAST_HEAD] + more
            > fields[:, control.PAST_MASK]
        )
        return full

    def _enlarge(self, stream: int) -> None:
        """Make the ring of a channel's past larger."""
        fields = self._channel(stream)
        old, count = int(fields[control.PAST]), int(fields[control.PAST_MASK]) + 1
        head, end = int(fields[control.PAST_HEAD]), int(fields[control.PAST_TAIL]) + 1
        new = self._reserve(GROWTH * control.PAST_WORDS * count)
        lap = end // count * count  # where the ring begins again
        for first, stop in ((head, min(lap, end)), (max(lap, head), end)):
            if first < stop:
                size = control.PAST_WORDS * (stop - first)
                here = old + control.PAST_WORDS * (first % count)
                there = new + control.PAST_WORDS * (first % (GROWTH * count))
                self.table[there : there + size] = self.table[here : here + size]
        fields = self._channel(stream)
        fields[control.PAST], fields[control.PAST_MASK] = new, GROWTH * count - 1

    @property
    def lacks_room(self) -> bool:
        """True if the run paused because the space for notes might be too small."""
        return bool(self.table[control.LACKING])

    @property
    def logged(self) -> int:
        """Records written so far."""
        return int(self.table[control.LOGGED])

    @property
    def ended(self) -> bool:
        """True if the run is to stop here."""
        return self.observe.log_end is not None and self.logged >= self.observe.log_end

    def result(self, memory: ChannelMemory, clocks: Int64) -> Observed:
        """Return the observations, with the last clocks of the nodes."""
        end = int(clocks.max(initial=0))
        table, bins = self.table, self.observe.bins
        start, width = int(table[control.ROWS]), 1 << int(table[control.SHIFT])
        rows = table[start : start + int(table[control.ROW_COUNT]) * bins].reshape(-1, bins)
        count = control.NODE_ROWS * len(self.graph.nodes)
        nodes = with_idle(rows[:count].reshape(-1, control.NODE_ROWS, bins), width, end)
        residence = memory.channels["rs"][: len(self.graph.streams)].copy()
        seen = Observed(width, nodes, residence)
        if self.observe.maxima:
            seen = replace(seen, occupancy_max=self._most(memory))
        if self.spool is not None:
            tokens = rows[count:] if self.observe.log else None
            seen = replace(seen, events=self._write_events(clocks, end, tokens, width))
        if not self.observe.log:
            return seen
        return replace(
            seen,
            tokens=rows[count:].copy(),
            log=self._log(),
            logged=self.logged,
            forgotten=int(table[control.DROPPED]),
        )

    def _most(self, memory: ChannelMemory) -> Int64:
        """The most tokens at once, those that nobody took among them.

        A put into a full channel that has its result's latency is compared by the clock at
        which it would have come without waiting, so it may count one token too many.
        """
        channels = memory.channels[: len(self.graph.streams)]
        most = self._channels()[:, control.MOST].copy()
        for stream in np.flatnonzero(channels["tr"] > channels["hr"]).tolist():
            most[stream] = self._most_left(self._channel(stream), stream, memory)
        capacities = [self.machine.capacity_of(stream) for stream in self.graph.streams]
        bounds = [
            layout.FOREVER if bound is None else min(bound, layout.FOREVER) for bound in capacities
        ]
        return np.minimum(most, np.array(bounds, np.int64))

    def _most_left(self, fields: Int64, stream: int, memory: ChannelMemory) -> int:
        """The same up to the puts of tokens that are left, as the kernel would go on."""
        channel, table = memory.channels[stream], self.table
        stamps, late = memory.left_in(stream)
        puts = stamps - np.where(late, fields[control.LATENCY], 1)
        puts = np.maximum.accumulate(np.maximum(puts, fields[control.LATEST]))
        most, taken = int(fields[control.MOST]), int(channel["ht"])
        head, tail = int(fields[control.PAST_HEAD]), int(fields[control.PAST_TAIL])

        def past(k: int) -> int:
            return int(fields[control.PAST]) + control.PAST_WORDS * (
                k & int(fields[control.PAST_MASK])
            )

        for i, put in enumerate(puts.tolist(), taken):
            j = i - most
            while head < tail and table[past(head + 1)] >> control.PAST_STEP <= j:
                head += 1
            first, step = divmod(int(table[past(head)]), control.UNKNOWN + 1)
            in_use = j >= taken
            if 0 <= j < taken and head < tail and step != control.UNKNOWN:
                in_use = table[past(head) + 1] + (j - first) * step >= put
            most += in_use
        return most

    def _log(self) -> tuple[StreamLog, ...]:
        limit, logged = self.observe.log_limit, self.logged
        start = int(self.table[control.LOG])
        records = self.table[start : start + control.LOG_WORDS * limit].reshape(
            -1, control.LOG_WORDS
        )
        if logged > limit:
            records = np.roll(records, -(logged % limit), axis=0)
        else:
            records = records[:logged]
        order = np.argsort(records[:, 0] >> 2, kind="stable")
        records = records[order]
        bounds = np.searchsorted(records[:, 0] >> 2, np.arange(len(self.graph.streams) + 1))
        peeked = peeked_streams(self.graph.nodes, self.machine)
        logs = []
        for stream in self.graph.streams:
            mine = records[bounds[stream.id] : bounds[stream.id + 1]]
            takes = (mine[:, 0] & 1) != 0
            late = (mine[~takes, 0] & 2) != 0
            logs.append(
                StreamLog(
                    _events(mine[~takes]),
                    _events(mine[takes]),
                    late,
                    self.latencies[stream.id],
                    self.machine.capacity_of(stream),
                    stream.id in peeked,
                )
            )
        return tuple(logs)


def _events(records: Int64) -> Events:
    _, first, clock, count, step = np.ascontiguousarray(records.T)
    return Events(first, count, clock, step)
