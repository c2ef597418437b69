"""What a worker tells about a region's run: plain data for the page, of bounded size."""

from __future__ import annotations

from typing import Any

from engine.dataflow.samml.graph import Graph, Node
from engine.dataflow.sim.explain.critical import CriticalPath, Segment, Share
from engine.dataflow.sim.explain.perfetto import TracedRegion, describe, node_name, stream_name
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.observe import ACTIVITIES, Observe, Observed
from engine.dataflow.sim.ports import READ, WRITE
from engine.dataflow.sim.trace import Trace

BINS = 128
"""Most bins of a timeline."""
LISTED = 200
"""Most segments of a critical path that are listed: the longest."""
SUMMED = 100
"""Most rows of a critical path's summary."""


def observation(explain: bool) -> Observe:
    """What a run is asked to observe: timelines always, channels and a log to explain it."""
    return Observe(bins=BINS, log=explain)


def owner(graph: Graph, node: Node) -> int:
    """The graph node whose memory port a node is; other nodes own themselves."""
    if node.op not in (READ, WRITE):
        return node.id
    beside = [graph.consumer[s] for s in node.outputs if s is not None]
    beside += [graph.producer[s] for s in node.inputs]
    name = node.label.rpartition(": ")[0]
    own = (n for n in beside if node_name(graph.nodes[n]) == name)
    return next(own, node.id)


def region_data(run: TracedRegion, machine: Machine) -> dict[str, Any]:
    """Cycles, nodes, memory, timeline and, if it was explained, path and channels of a region."""
    result = run.result
    nodes = []
    for row, node in zip(Trace.of(result).rows(), result.graph.nodes, strict=True):
        of = owner(result.graph, node)
        nodes.append(row if of == node.id else {**row, "owner": of})
    return {
        "name": run.name,
        "cycles": int(result.cycles),
        "nodes": nodes,
        "memory": result.memory and result.memory.to_dict(),
        "timeline": timeline(result.observed),
        "path": path_data(run.path) if run.path is not None else None,
        "channels": channel_data(run, machine),
    }


def timeline(observed: Observed | None) -> dict[str, Any]:
    """Cycles per bin as ``cycles[activity][node][bin]``; a bin is ``width`` cycles wide."""
    if observed is None:
        return {}
    rows = {name: observed.nodes[:, k, :].tolist() for k, name in enumerate(ACTIVITIES)}
    return {"width": int(observed.width), "cycles": rows}


def channel_data(run: TracedRegion, machine: Machine) -> list[dict[str, Any]]:
    """Occupancy of every channel, the fullest first, if it was observed."""
    graph, observed = run.result.graph, run.result.observed
    if observed is None or observed.occupancy_max is None:
        return []
    mean = observed.occupancy_mean(run.result.cycles)
    rows: list[dict[str, Any]] = [
        {
            "stream": stream_name(graph, s.id),
            "from": node_name(graph.nodes[graph.producer[s.id]]),
            "to": node_name(graph.nodes[graph.consumer[s.id]]),
            "node": owner(graph, graph.nodes[graph.consumer[s.id]]),
            "mean": float(mean[s.id]),
            "most": int(observed.occupancy_max[s.id]),
            "capacity": machine.capacity_of(s),
        }
        for s in graph.streams
    ]
    return sorted(rows, key=lambda row: (-row["most"], -row["mean"]))


def path_data(path: CriticalPath) -> dict[str, Any]:
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
    longest = sorted(path.segments, key=lambda s: -s.cycles)[:LISTED]
    return {
        "cycles": path.cycles,
        "start": path.start,
        "summary": [_row(graph, s, s.cycles, s.segments) for s in summary[:SUMMED]],
        "summaries": len(summary),
        "segments": [
            {**_row(graph, s, s.cycles, 1), "from": s.start, "to": s.stop}
            for s in sorted(longest, key=lambda s: s.start)
        ],
        "pieces": len(path.segments),
        "what_if": _what_if(path),
        "shares": {str(node): cycles / max(path.cycles, 1) for node, cycles in shares.items()},
        "streams": sorted({s.stream for s in path.segments if s.stream is not None}),
    }


def _row(graph: Graph, part: Segment | Share, cycles: int, segments: int) -> dict[str, Any]:
    segment = Segment(part.node, 0, cycles, part.why, part.stream, part.other)
    return {
        "node": owner(graph, graph.nodes[part.node]),
        "name": node_name(graph.nodes[part.node]),
        "why": part.why.value,
        "what": describe(graph, segment),
        "cycles": cycles,
        "segments": segments,
    }


def _what_if(path: CriticalPath) -> list[dict[str, Any]]:
    """Bounds for every node that works on the path, the most to gain first."""
    nodes = sorted({s.node for s in path.segments}, key=lambda n: (-path.own(n), n))
    guesses = [path.what_if(n) for n in nodes if path.own(n)]
    return [
        {
            "node": owner(path.graph, path.graph.nodes[g.node]),
            "name": node_name(path.graph.nodes[g.node]),
            "own": g.own,
            "gain": g.gain,
            "cycles": g.cycles,
        }
        for g in guesses[:SUMMED]
    ]
