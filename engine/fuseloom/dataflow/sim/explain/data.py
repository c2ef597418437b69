"""A region's run as plain data of bounded size: one shape for the command line and the workbench.

A node is told as ``node`` (its number), ``label`` and ``owner``: the node whose memory port it is,
or itself.  A stream is told by its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.actions import RegionActions
from fuseloom.dataflow.machine.energy_terms import energy_terms
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.sim.explain.critical import CriticalPath, PathShare, Segment
from fuseloom.dataflow.sim.explain.perfetto import TracedRegion, describe, node_name, stream_name
from fuseloom.dataflow.sim.observe import ACTIVITIES, Observe, Observed
from fuseloom.dataflow.sim.ports import is_port
from fuseloom.dataflow.sim.trace import Trace
from fuseloom.results.record import RegionRecord
from fuseloom.results.run_parts import (
    ChannelRow,
    CriticalPathRow,
    NodeName,
    NodeRow,
    PathGain,
    PathPart,
    TimelineData,
)
from fuseloom.results.work import Work

BINS = 128
"""Most bins of a timeline."""

EVENT_BINS = 1024
"""Most bins of tokens in a file of events."""


@dataclass(frozen=True)
class Detail:
    """The amount of detail in a run's data.

    Attributes
    ----------
    nodes, timeline, outputs : bool
        Whether to tell what each node did, what it did when, and what an imported graph wrote.
    segments : int
        Most segments of a critical path that are listed: the longest.
    rows : int
        Most rows of a critical path's summary and of what could be gained: the largest.
    """

    nodes: bool = False
    timeline: bool = False
    outputs: bool = False
    segments: int = 2_000
    rows: int = 2_000


PAGE = Detail(nodes=True, timeline=True, segments=200, rows=100)
"""The detail of a page."""


def observation(explain: bool, events: Path | None = None) -> Observe:
    """Return the observations of a run for a page: timelines always, a log to explain it.

    With ``events`` all waits go to that file, and tokens to finer bins.
    """
    return Observe(bins=BINS if events is None else EVENT_BINS, log=explain, events=events)


def owner(graph: Graph, node: Node) -> int:
    """The graph node whose memory port a node is; other nodes own themselves."""
    if not is_port(node):
        return node.id
    beside = [graph.consumer[s] for s in node.outputs if s is not None]
    beside += [graph.producer[s] for s in node.inputs]
    name = node.label.rpartition(": ")[0]
    own = (n for n in beside if node_name(graph.nodes[n]) == name)
    return next(own, node.id)


def region_record(
    run: TracedRegion,
    machine: Machine,
    order: Sequence[str],
    work: Work,
    detail: Detail,
    actions: RegionActions,
) -> RegionRecord:
    """The record of a region's run; path and channels are there if they were observed."""
    result = run.result
    return RegionRecord(
        run.name,
        tuple(order),
        int(result.cycles),
        work.flops,
        work.bytes,
        result.total_tokens,
        nodes=node_data(run, actions) if detail.nodes else None,
        timeline=timeline(result.observed) if detail.timeline else None,
        memory=None if result.memory is None else result.memory.to_dict(),
        path=None if run.path is None else path_data(run.path, detail),
        channels=channel_data(run, machine),
        energy=actions.use(result.cycles / machine.clock_hz),
        energy_terms=None if run.path is None else energy_terms(actions, machine),
    )


def node_data(run: TracedRegion, actions: RegionActions) -> tuple[NodeRow, ...]:
    """The activity of each node: the rows of the trace, the owner of each, and its joules."""
    graph = run.result.graph
    rows = zip(Trace.of(run.result).rows(), graph.nodes, actions.of_nodes(), strict=True)
    told: Any = (
        {**row, "owner": owner(graph, node), "energy": joules} for row, node, joules in rows
    )
    return tuple(told)


def timeline(observed: Observed | None) -> TimelineData | None:
    """Cycles per bin as ``cycles[activity][node][bin]``; a bin is ``width`` cycles wide.

    There are :data:`BINS` bins at most; ``events`` names the file of all waits, if one was written.
    """
    if observed is None:
        return None
    bins, width = observed.nodes, int(observed.width)
    while bins.shape[2] > BINS:
        bins = np.pad(bins, ((0, 0), (0, 0), (0, bins.shape[2] % 2)))
        bins, width = bins[:, :, ::2] + bins[:, :, 1::2], 2 * width
    rows: Any = {name: bins[:, k, :].tolist() for k, name in enumerate(ACTIVITIES)}
    events = None if observed.events is None else str(observed.events)
    return {"width": width, "events": events, "cycles": rows}


def channel_data(run: TracedRegion, machine: Machine) -> tuple[ChannelRow, ...] | None:
    """Occupancy of every channel, the fullest first, if it was observed."""
    graph, observed = run.result.graph, run.result.observed
    if observed is None or observed.occupancy_max is None:
        return None
    mean = observed.occupancy_mean(run.result.cycles)
    rows: list[ChannelRow] = [
        {
            "stream": s.id,
            "label": stream_name(graph, s.id),
            "producer": _node(graph, graph.producer[s.id]),
            "consumer": _node(graph, graph.consumer[s.id]),
            "mean": float(mean[s.id]),
            "most": int(observed.occupancy_max[s.id]),
            "capacity": machine.capacity_of(s),
            "tokens": int(run.result.tokens[s.id]),
        }
        for s in graph.streams
    ]
    return tuple(sorted(rows, key=lambda row: (-row["most"], -row["mean"], row["stream"])))


def path_data(path: CriticalPath, detail: Detail) -> CriticalPathRow:
    """A critical path: where its cycles went, its longest segments, and what could be gained.

    ``shares`` gives every node on the path its part of the elapsed cycles; memory ports count
    for the node they serve.
    """
    graph = path.graph
    summary = path.summary()
    shares: dict[int, int] = {}
    for share in summary:
        node = owner(graph, graph.nodes[share.node])
        shares[node] = shares.get(node, 0) + share.cycles
    longest = sorted(path.segments, key=lambda s: -s.cycles)[: detail.segments]
    return {
        "cycles": path.cycles,
        "start": path.start,
        "summary": [
            {**_part(graph, s), "segments": s.segments, "share": s.share}
            for s in summary[: detail.rows]
        ],
        "summaries": len(summary),
        "segments": [
            {**_part(graph, s), "start": s.start, "stop": s.stop}
            for s in sorted(longest, key=lambda s: s.start)
        ],
        "pieces": len(path.segments),
        "what_if": _what_if(path)[: detail.rows],
        "shares": {str(node): cycles / max(path.cycles, 1) for node, cycles in shares.items()},
        "streams": sorted({s.stream for s in path.segments if s.stream is not None}),
    }


def _node(graph: Graph, number: int) -> NodeName:
    node = graph.nodes[number]
    return {"node": number, "owner": owner(graph, node), "label": node_name(node)}


def _part(graph: Graph, part: Segment | PathShare) -> PathPart:
    """Return the node and the cause of a part of the path."""
    segment = Segment(part.node, 0, part.cycles, part.why, part.stream, part.other)
    return {
        **_node(graph, part.node),
        "why": part.why.value,
        "what": describe(graph, segment),
        "stream": part.stream,
        "other": part.other,
        "cycles": part.cycles,
    }


def _what_if(path: CriticalPath) -> list[PathGain]:
    """Bounds for every node that works on the path, the most to gain first."""
    own: dict[int, int] = {n: path.own(n) for n in {s.node for s in path.segments}}
    guesses = [path.what_if(n) for n in sorted(own, key=lambda n: (-own[n], n)) if own[n]]
    return [
        {**_node(path.graph, g.node), "own": g.own, "gain": g.gain, "cycles": g.cycles}
        for g in guesses
    ]
