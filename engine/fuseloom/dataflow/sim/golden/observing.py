"""The observations of the golden models, from the clocks of every put, take and wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import latencies
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.events.spool import WaitSpool, tokens_of_nodes
from fuseloom.dataflow.sim.observe import (
    BUSY,
    INPUT,
    MEMORY,
    ROOM,
    Events,
    Int64,
    Observe,
    Observed,
    StreamLog,
    Wait,
    bin_width,
    most_at_once,
    peeked_streams,
    with_idle,
)
from fuseloom.dataflow.sim.process import Channel, ChannelWatch, Process


def observed(
    observe: Observe,
    graph: Graph,
    machine: Machine,
    processes: Sequence[Process],
    channels: Sequence[Channel],
) -> Observed:
    """Return the exact observations of a finished run of the golden models."""
    watches = [channel.watch for channel in channels if channel.watch is not None]
    end = max((p.clock for p in processes), default=0)
    last = max([end - 1, *(max(w.stamps, default=0) for w in watches if observe.log)])
    width = bin_width(observe.bins, last)
    rows = np.zeros((len(processes), 4, observe.bins), np.int64)
    for number, process in enumerate(processes):
        _fill(rows[number], process, width)
    residence = np.array([sum(w.takes) - sum(w.stamps[: len(w.takes)]) for w in watches], np.int64)
    seen = Observed(width, with_idle(rows, width, end), residence)
    if observe.maxima:
        most = [most_at_once(_array(w.puts), _array(w.takes) + 1) for w in watches]
        seen = replace(seen, occupancy_max=np.array(most, np.int64))
    if observe.events is not None:
        seen = replace(seen, events=_write(observe.events, graph, processes, watches, width, end))
    if not observe.log:
        return seen
    tokens = [np.bincount(_array(w.stamps) // width, minlength=observe.bins) for w in watches]
    peeked = peeked_streams(graph.nodes, machine)
    logs = tuple(
        _log(watch, latency, channel.capacity, channel.id in peeked)
        for watch, latency, channel in zip(
            watches, latencies(graph, machine), channels, strict=True
        )
    )
    waits = tuple(tuple(Wait(*wait) for wait in p.waits or ()) for p in processes)
    records = sum(len(log.puts.first) + len(log.takes.first) for log in logs)
    return replace(
        seen,
        tokens=np.array(tokens, np.int64).reshape(-1, observe.bins),
        log=logs,
        waits=waits,
        logged=records,
    )


def _write(
    path: Path,
    graph: Graph,
    processes: Sequence[Process],
    watches: Sequence[ChannelWatch],
    width: int,
    end: int,
) -> Path:
    """Write every wait of every process, and the tokens each put."""
    spool = WaitSpool(path, len(processes))
    for number, process in enumerate(processes):
        waits = [
            (MEMORY if stream < 0 else ROOM if room else INPUT, since, until)
            for since, until, room, stream, _ in process.waits or ()
            if until > since
        ]
        reasons, since, until = np.array(waits, np.int64).reshape(-1, 3).T
        spool.add(np.full(len(waits), number), reasons, since, until)
    counts = [np.bincount(_array(w.stamps) // width) for w in watches]
    clocks = np.array([p.clock for p in processes], np.int64)
    return spool.finish(clocks, end, tokens_of_nodes(graph, counts, -(-end // width)), width)


def _array(clocks: Sequence[int]) -> Int64:
    return np.asarray(clocks, np.int64).reshape(-1)


def _fill(rows: Int64, process: Process, width: int) -> None:
    """Book each cycle of a node's clock: those in no wait are its own work."""
    at = 0
    for since, until, room, stream, _ in process.waits or ():
        _spread(rows[BUSY], at, since, width)
        kind = MEMORY if stream < 0 else ROOM if room else INPUT
        _spread(rows[kind], since, until, width)
        at = until
    _spread(rows[BUSY], at, process.clock, width)


def _spread(row: Int64, start: int, stop: int, width: int) -> None:
    while start < stop:
        k = start // width
        end = min(stop, (k + 1) * width)
        row[k] += end - start
        start = end


def _log(watch: ChannelWatch, latency: int, capacity: int | None, peeked: bool) -> StreamLog:
    late = np.asarray(watch.stamps, np.int64) > np.asarray(watch.puts, np.int64) + 1
    return StreamLog(
        Events.of(watch.stamps), Events.of(watch.takes), late, latency, capacity, peeked
    )
