"""Intervals of runs as a trace that Perfetto (https://ui.perfetto.dev) and chrome://tracing open.

It is written piece by piece, so that a trace of any length takes no memory.  Each region is a
process, the regions one after another as they run; each node is a thread of it, and the critical
path one on top.  The unit of all times is a cycle of the machine; the viewers call it a
microsecond, and the file says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from fuseloom.dataflow.sim.events.store import EventStore
from fuseloom.dataflow.sim.events.windows import intervals_of, most_intervals
from fuseloom.dataflow.sim.observe import IDLE

WORDS = ("busy", "waits for input", "waits for room", "waits for the memory")
"""The names of activities in the trace; idleness is left out."""

PIECE = 100_000
"""Intervals that are held at once."""

PATH_THREAD = 0
UNIT = "1 us in this file is 1 cycle"


@dataclass(frozen=True)
class PathPiece:
    """A piece of a critical path: what it was spent on, and between which cycles."""

    what: str
    start: int
    stop: int


@dataclass(frozen=True)
class TraceRegion:
    """The data of a region in the trace.

    Attributes
    ----------
    name : str
        What people call the region.
    labels : sequence of str
        What people call its nodes.
    store : EventStore
        Every wait of its run.
    path : sequence of PathPiece
        Pieces of its critical path, those that are known.
    begins : int
        Cycle of the program at which it begins.
    """

    name: str
    labels: Sequence[str]
    store: EventStore = field(repr=False)
    path: Sequence[PathPiece] = ()
    begins: int = 0


def write_trace(out: TextIO, regions: Sequence[TraceRegion]) -> int:
    """Write the trace of some regions in the Trace Event Format; how many events it has."""
    cycles = max((r.begins + r.store.cycles for r in regions), default=0)
    about = {"time unit": UNIT, "cycles": cycles}
    out.write(f'{{"displayTimeUnit": "ns", "otherData": {json.dumps(about)}, "traceEvents": [\n')
    count = 0
    for number, region in enumerate(regions, 1):
        for line in _events(number, region):
            out.write(f",\n{line}" if count else line)
            count += 1
    out.write("\n]}\n")
    return count


def _events(process: int, region: TraceRegion) -> Iterator[str]:
    """Names of a region and its nodes, its critical path, and all intervals of its nodes."""
    yield _name("process_name", process, 0, f"{region.name} ({UNIT})")
    yield _name("thread_name", process, PATH_THREAD, "critical path")
    for node, label in enumerate(region.labels):
        yield _name("thread_name", process, node + 1, label)
    for piece in region.path:
        yield _complete(process, PATH_THREAD, piece.what, region.begins + piece.start,
                        piece.stop - piece.start)  # fmt: skip
    for node in range(region.store.nodes):
        yield from _intervals(process, region, node, 0, region.store.cycles)


def _intervals(
    process: int, region: TraceRegion, node: int, start: int, stop: int
) -> Iterator[str]:
    """Intervals that begin in a window, which is halved until they are few."""
    if stop - start > 1 and most_intervals(region.store, start, stop, [node]) > PIECE:
        middle = (start + stop) // 2
        yield from _intervals(process, region, node, start, middle)
        yield from _intervals(process, region, node, middle, stop)
        return
    found = intervals_of(region.store, start, stop, [node])
    rows = zip(found.activity.tolist(), found.start.tolist(), found.stop.tolist(), strict=True)
    for activity, since, until in rows:
        if activity != IDLE and since >= start:
            yield _complete(
                process, node + 1, WORDS[activity], region.begins + since, until - since
            )


def _name(what: str, process: int, thread: int, name: str) -> str:
    event = {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
    return json.dumps(event)


def _complete(process: int, thread: int, name: str, start: int, length: int) -> str:
    return (
        f'{{"name": {json.dumps(name)}, "ph": "X", "pid": {process}, "tid": {thread}, '
        f'"ts": {start}, "dur": {length}}}'
    )
