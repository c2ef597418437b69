"""Memory of an observed run of the compiled engine, and what is read from it afterwards.

It lies behind the table of the run, where :mod:`engine.sim.kernels.observer` finds it; its size
depends on the bins, on the graph, and on how much the rings have grown, not on the run.
"""

from __future__ import annotations

import numpy as np

from engine.samml.graph import Graph
from engine.sim.kernels.observer import (
    CHANNEL_WORDS,
    EVENT_WORDS,
    LATENCY,
    LEVEL,
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
    OBS_NODE_COUNT,
    OBS_NODES,
    OBS_ROW_COUNT,
    OBS_ROWS,
    OBS_SHIFT,
    OBS_START,
    OBS_STREAMS,
    PUT_HEAD,
    PUT_QUEUE,
    ROWS,
    TAKE_QUEUE,
)
from engine.sim.machine import Machine
from engine.sim.memory import Memory
from engine.sim.observe import Events, Int64, Observe, Observed, StreamLog, latencies, with_idle
from engine.sim.peeking import peeked_streams

QUEUE = 1024
"""Events a queue holds at first; a power of two."""

_MASK, _HEAD, _TAIL = 1, 2, 3  # fields of a queue, after its offset


class Observer:
    """The memory that an observed run of one graph on one machine writes to.

    Attributes
    ----------
    table : ndarray of int64
        The table of the run with this memory behind it.
    """

    def __init__(self, observe: Observe, graph: Graph, machine: Machine, channels: int) -> None:
        self.observe = observe
        self.graph = graph
        self.machine = machine
        self.latencies = latencies(graph, machine)
        nodes, streams = len(graph.nodes), len(graph.streams)
        observed = channels if observe.events else 0
        rows = ROWS * nodes + (streams if observe.events else 0)
        sizes = {
            OBS_NODES: NODE_WORDS * nodes,
            OBS_CHANNELS: CHANNEL_WORDS * observed,
            OBS_ROWS: rows * observe.bins,
            OBS_LOG: LOG_WORDS * observe.log_limit if observe.log else 0,
        }
        queues = 2 * EVENT_WORDS * QUEUE * streams if observe.events else 0
        self.used = OBS_START
        self.table = np.zeros(OBS_START + sum(sizes.values()) + queues, np.int64)
        for field, size in sizes.items():
            self.table[field] = self._reserve(size)
        self.table[OBS_BINS], self.table[OBS_DROPPED] = observe.bins, -1
        self.table[OBS_ROW_COUNT], self.table[OBS_NODE_COUNT] = rows, nodes
        self.table[OBS_STREAMS] = observe.events
        self.table[OBS_LIMIT] = observe.log_limit if observe.log else 0
        for stream in range(streams if observe.events else 0):
            self._channel(stream)[LATENCY] = self.latencies[stream]
            for queue in (PUT_QUEUE, TAKE_QUEUE):
                fields = self._channel(stream)[queue:]
                fields[0], fields[_MASK] = self._reserve(EVENT_WORDS * QUEUE), QUEUE - 1

    def _reserve(self, size: int) -> int:
        offset = self.used
        self.used += size
        if self.used > len(self.table):
            larger = np.zeros(self.used + self.used // 4, np.int64)
            larger[:offset] = self.table[:offset]
            self.table = larger
        return offset

    def _channel(self, stream: int) -> Int64:
        start = int(self.table[OBS_CHANNELS]) + CHANNEL_WORDS * stream
        return self.table[start : start + CHANNEL_WORDS]

    def grow(self) -> None:
        """Double the queues of the channel that lacks room; the table moves."""
        stream = int(self.table[OBS_LACKING])
        for queue in (PUT_QUEUE, TAKE_QUEUE):
            mask = int(self._channel(stream)[queue + _MASK])
            new = self._reserve(EVENT_WORDS * 2 * (mask + 1))
            fields = self._channel(stream)[queue:]
            k = np.arange(fields[_HEAD], fields[_TAIL])
            word = np.arange(EVENT_WORDS)
            source = fields[0] + EVENT_WORDS * (k & mask)[:, None] + word
            target = new + EVENT_WORDS * (k & (2 * mask + 1))[:, None] + word
            self.table[target] = self.table[source]
            fields[0], fields[_MASK] = new, 2 * mask + 1

    @property
    def logged(self) -> int:
        """Records written so far."""
        return int(self.table[OBS_LOGGED])

    @property
    def ended(self) -> bool:
        """Whether the run is to stop here."""
        return self.observe.log_end is not None and self.logged >= self.observe.log_end

    def result(self, memory: Memory, end: int) -> Observed:
        """What was observed; ``end`` is the last clock of any node."""
        table, bins = self.table, self.observe.bins
        start, width = int(table[OBS_ROWS]), 1 << int(table[OBS_SHIFT])
        rows = table[start : start + int(table[OBS_ROW_COUNT]) * bins].reshape(-1, bins)
        count = ROWS * len(self.graph.nodes)
        nodes = with_idle(rows[:count].reshape(-1, ROWS, bins), width, end)
        residence = memory.channels["rs"][: len(self.graph.streams)].copy()
        if not self.observe.events:
            return Observed(width, nodes, residence)
        streams = range(len(self.graph.streams))
        return Observed(
            width,
            nodes,
            residence,
            tokens=rows[count:].copy(),
            occupancy_max=np.array([self._most(c) for c in streams], np.int64),
            log=self._log() if self.observe.log else None,
            logged=self.logged,
            forgotten=int(table[OBS_DROPPED]),
        )

    def _most(self, stream: int) -> int:
        """The most tokens at once: the puts after the last take come on top.

        A put into a full channel that has its result's latency is compared by the clock at
        which it would have come without waiting, so it may count one token too many.
        """
        fields = self._channel(stream)
        offset, mask = int(fields[PUT_QUEUE]), int(fields[PUT_QUEUE + _MASK])
        k = np.arange(fields[PUT_HEAD], fields[PUT_QUEUE + _TAIL])
        after = int(self.table[offset + EVENT_WORDS * (k & mask) + 1].sum())
        most = max(int(fields[MOST]), int(fields[LEVEL]) + after)
        capacity = self.machine.capacity_of(self.graph.streams[stream])
        return most if capacity is None else min(most, capacity)

    def _log(self) -> tuple[StreamLog, ...]:
        limit, logged = self.observe.log_limit, self.logged
        start = int(self.table[OBS_LOG])
        records = self.table[start : start + LOG_WORDS * limit].reshape(-1, LOG_WORDS)
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
