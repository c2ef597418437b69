"""A run as a trace that Perfetto (https://ui.perfetto.dev) and chrome://tracing open.

Each region is a process, the regions one after another as they run; each node is a thread of it.
One cycle is shown as one microsecond.  Runs whose every wait was noted, as the golden models do
when a log is asked for, show busy and stalled intervals; others, and those with too many intervals,
show counters: cycles of each kind per bin of every node, tokens in every channel at the end of
every bin.  The critical path is a thread of its own, on top.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.events.trace import PathPiece, TraceRegion
from fuseloom.dataflow.sim.explain.critical import CriticalPath, PathCause, Segment
from fuseloom.dataflow.sim.explain.moments import tokens_until
from fuseloom.dataflow.sim.observe import ACTIVITIES, IDLE, Observed
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

MAX_INTERVALS = 200_000
"""Most intervals of a region, and most segments of its critical path, before they are left out."""

PATH_THREAD = 0
BUSY, INPUT, ROOM = "busy", "waits for input", "waits for room"

Event = dict[str, Any]


@dataclass(frozen=True)
class TracedRegion:
    """A region's name, its observed run, and its critical path if that is known."""

    name: str
    result: EngineResult
    path: CriticalPath | None = None


def trace_json(regions: Sequence[TracedRegion], *, max_intervals: int = MAX_INTERVALS) -> str:
    """The trace of a program's regions in the Trace Event Format.

    Raises
    ------
    SimulationError
        If a region was not observed.
    """
    events: list[Event] = []
    notes: list[str] = []
    start = 0
    for number, region in enumerate(regions):
        observed = region.result.observed
        if observed is None:
            raise SimulationError(
                f"region {region.name} was not observed", hint="observe=Observe(log=True)"
            )
        made = _Region(number + 1, start, region, observed)
        events += made.names()
        if observed.waits is not None and made.count_intervals() <= max_intervals:
            events += made.intervals()
        else:
            notes.append(
                f"{region.name}: counters per {counted(observed.width, 'cycle')}, not intervals"
            )
            events += made.counters()
        if region.path is not None:
            if len(region.path.segments) <= max_intervals:
                events += made.path(region.path)
            else:
                notes.append(f"{region.name}: the critical path has too many segments to show")
        start += max(region.result.cycles, int(region.result.clocks.max(initial=0)))
    about = {"time unit": "1 cycle is shown as 1 us", "cycles": start, "notes": notes}
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": about})


def told_in_full(regions: Sequence[TracedRegion]) -> bool:
    """Return whether :func:`trace_json` shows every wait of these regions, with its stream.

    Waits for the memory are for no stream.
    """
    return all(
        (observed := region.result.observed) is not None
        and observed.waits is not None
        and 2 * sum(map(len, observed.waits)) <= MAX_INTERVALS
        and not region.result.stall_memory.any()
        for region in regions
    )


def trace_regions(regions: Sequence[TracedRegion]) -> list[TraceRegion]:
    """The same regions, from their files of events, whatever their length.

    Raises
    ------
    SimulationError
        If a region has none.
    """
    made: list[TraceRegion] = []
    start = 0
    for region in regions:
        observed, graph = region.result.observed, region.result.graph
        if observed is None or observed.events is None:
            raise SimulationError(
                f"region {region.name} kept no events", hint="observe=Observe(events=FILE)"
            )
        segments = () if region.path is None else region.path.segments
        path = [PathPiece(describe(graph, s), s.start, s.stop) for s in segments]
        labels = [node_name(node) for node in graph.nodes]
        store = EventStore(observed.events)
        made.append(TraceRegion(region.name, labels, store, path, start))
        start += max(region.result.cycles, store.cycles)
    return made


def node_name(node: Node) -> str:
    """Return the name of a node for people."""
    return node.label or f"{node.op} {node.id}"


def stream_name(graph: Graph, stream: int) -> str:
    """A stream by its label, or by its producer and number."""
    s = graph.streams[stream]
    return s.label or f"{node_name(graph.nodes[graph.producer[stream]])} %{stream}"


def describe(graph: Graph, segment: Segment) -> str:
    """A segment of a path in words."""
    if segment.why is PathCause.MEMORY:
        return f"{node_name(graph.nodes[segment.node])} waits for the memory"
    if segment.why is PathCause.WORK:
        return f"{node_name(graph.nodes[segment.node])} works"
    assert segment.stream is not None
    assert segment.other is not None
    node, other = (node_name(graph.nodes[n]) for n in (segment.node, segment.other))
    stream = stream_name(graph, segment.stream)
    match segment.why:
        case PathCause.LATENCY:
            return f"latency of {node} to {other} on {stream}"
        case PathCause.TOKEN:
            return f"{node} waits for a token of {other} on {stream}"
    return f"{node} waits for room in {stream} (read by {other})"


class _Region:
    """The events of one region: a process that starts at cycle ``start``."""

    def __init__(self, pid: int, start: int, region: TracedRegion, observed: Observed) -> None:
        self.pid = pid
        self.start = start
        self.region = region
        self.graph = region.result.graph
        self.observed = observed

    def names(self) -> Iterator[Event]:
        yield self._name("process_name", 0, self.region.name)
        yield self._name("thread_name", PATH_THREAD, "critical path")
        for node in self.graph.nodes:
            yield self._name("thread_name", node.id + 1, node_name(node))

    def _name(self, what: str, thread: int, name: str) -> Event:
        return {"name": what, "ph": "M", "pid": self.pid, "tid": thread, "args": {"name": name}}

    def count_intervals(self) -> int:
        assert self.observed.waits is not None
        return 2 * sum(w.until > w.since for waits in self.observed.waits for w in waits)

    def intervals(self) -> Iterator[Event]:
        """Each node's clock, cut where it began or ceased to wait."""
        assert self.observed.waits is not None
        for node, waits in zip(self.graph.nodes, self.observed.waits, strict=True):
            at = 0
            for wait in waits:
                if wait.until == wait.since:
                    continue
                yield from self._complete(node.id + 1, BUSY, at, wait.since)
                args = {"stream": stream_name(self.graph, wait.stream), "token": wait.token}
                name = ROOM if wait.room else INPUT
                yield from self._complete(node.id + 1, name, wait.since, wait.until, args)
                at = wait.until
            end = int(self.region.result.clocks[node.id])
            yield from self._complete(node.id + 1, BUSY, at, end)

    def _complete(
        self, thread: int, name: str, start: int, stop: int, args: dict[str, Any] | None = None
    ) -> Iterator[Event]:
        if stop > start:
            made = {"name": name, "cat": "node", "ph": "X", "pid": self.pid, "tid": thread}
            yield {**made, "ts": self.start + start, "dur": stop - start, "args": args or {}}

    def counters(self) -> Iterator[Event]:
        """Cycles per bin of every node; tokens per bin, and in the channel at its end."""
        width, bins = self.observed.width, self.observed.nodes.shape[2]
        for node in self.graph.nodes:
            rows = self.observed.nodes[node.id]
            for k in range(bins):
                cycles = {a: int(rows[i, k]) for i, a in enumerate(ACTIVITIES) if i != IDLE}
                yield self._counter(f"{node.id} {node_name(node)}", k * width, cycles)
        if self.observed.log is None:
            return
        ends = np.arange(1, bins + 1) * width - 1
        known = ends > self.observed.forgotten
        for stream, log in zip(self.graph.streams, self.observed.log, strict=True):
            there = tokens_until(log.puts, ends) - tokens_until(log.takes, ends)
            for k in np.flatnonzero(known).tolist():
                name = f"tokens in %{stream.id} {stream_name(self.graph, stream.id)}"
                yield self._counter(name, k * width, {"tokens": max(0, int(there[k]))})

    def _counter(self, name: str, at: int, values: dict[str, int]) -> Event:
        return {"name": name, "ph": "C", "pid": self.pid, "ts": self.start + at, "args": values}

    def path(self, path: CriticalPath) -> Iterator[Event]:
        for segment in path.segments:
            name = describe(self.graph, segment)
            for event in self._complete(PATH_THREAD, name, segment.start, segment.stop):
                yield {**event, "cat": "critical path", "args": {"why": segment.why.value}}
