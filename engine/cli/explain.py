"""``fuseloom simulate --explain`` and ``--trace-out``: why a run took its cycles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.dataflow.samml.exchange.tensor_folder import write_bytes
from engine.dataflow.sim.explain.critical import CriticalPath, Share, Why
from engine.dataflow.sim.explain.perfetto import TracedRegion, node_name, stream_name, trace_json
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.observe import Observe
from engine.errors import DataError

SHOWN = 8
"""Rows of each table for people; ``--json`` has them all."""

LISTED = 2_000
"""Most segments of a path that ``--json`` lists."""


def observation(options: Any) -> Observe | None:
    """What the options ask to observe.

    Raises
    ------
    DataError
        If the trace cannot go where it should, before anything runs.
    """
    if options.trace_out is not None and not options.trace_out.parent.is_dir():
        raise DataError(f"{options.trace_out.parent} is no folder", hint="make it first")
    return Observe(log=True) if options.explain or options.trace_out is not None else None


def write_trace(options: Any, regions: Sequence[TracedRegion]) -> None:
    """Write the trace, whole or not at all, if it was asked for."""
    if options.trace_out is not None:
        write_bytes(options.trace_out, trace_json(regions).encode())


def explanation(regions: Sequence[TracedRegion], machine: Machine) -> str:
    """Critical path and fullest channels of each region, as tables."""
    return "\n\n".join(_region_text(region, machine) for region in regions)


def _region_text(region: TracedRegion, machine: Machine) -> str:
    path = region.path
    assert path is not None
    lines = [f"{region.name}: {path.cycles:,} cycles"]
    if path.start:
        lines.append(f"critical path, known from cycle {path.start:,}:")
    else:
        lines.append("critical path:")
    summary = path.summary()
    rows = [("cycles", "share", "times", "what")]
    rows += [
        (f"{s.cycles:,}", f"{s.share:.1%}", f"{s.segments:,}", _what(path, s))
        for s in summary[:SHOWN]
    ]
    lines += _table(rows, left=(3,))
    if len(summary) > SHOWN:
        rest = sum(s.cycles for s in summary[SHOWN:])
        lines.append(f"  and {len(summary) - SHOWN} more, {rest:,} cycles together")
    if path.bottleneck is not None and path.own(path.bottleneck):
        guess = path.what_if(path.bottleneck)
        name = node_name(path.graph.nodes[guess.node])
        lines.append(
            f"twice as fast, {name} would save at most {guess.gain:,} cycles "
            f"(at best {guess.cycles:,})"
        )
    lines.append("fullest channels:")
    rows = [("mean", "most", "slots", "stream")]
    rows += [
        (
            f"{c['mean']:,.1f}",
            f"{c['most']:,}",
            "-" if c["capacity"] is None else f"{c['capacity']:,}",
            f"{c['stream']} ({c['from']} to {c['to']})",
        )
        for c in channels(region, machine)[:SHOWN]
    ]
    return "\n".join(lines + _table(rows, left=(3,)))


def _what(path: CriticalPath, share: Share) -> str:
    graph = path.graph
    node = node_name(graph.nodes[share.node])
    if share.why is Why.MEMORY:
        return f"{node} waits for the memory"
    if share.why is Why.WORK or share.stream is None or share.other is None:
        return f"{node} works"
    other, stream = node_name(graph.nodes[share.other]), stream_name(graph, share.stream)
    match share.why:
        case Why.LATENCY:
            return f"{node}: latency to {other}"
        case Why.TOKEN:
            return f"{node} waits for tokens of {other} on {stream}"
    return f"{node} waits for room in {stream} (read by {other})"


def _table(rows: Sequence[tuple[str, ...]], left: tuple[int, ...]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def channels(region: TracedRegion, machine: Machine) -> list[dict[str, Any]]:
    """Occupancy of every channel, the fullest first."""
    graph, observed = region.result.graph, region.result.observed
    assert observed is not None
    assert observed.occupancy_max is not None
    mean = observed.occupancy_mean(region.result.cycles)
    made: list[dict[str, Any]] = [
        {
            "id": s.id,
            "stream": stream_name(graph, s.id),
            "from": node_name(graph.nodes[graph.producer[s.id]]),
            "to": node_name(graph.nodes[graph.consumer[s.id]]),
            "mean": float(mean[s.id]),
            "most": int(observed.occupancy_max[s.id]),
            "capacity": machine.capacity_of(s),
            "tokens": int(region.result.tokens[s.id]),
        }
        for s in graph.streams
    ]
    return sorted(made, key=lambda c: (-c["most"], -c["mean"], c["id"]))


def as_json(regions: Sequence[TracedRegion], machine: Machine) -> list[dict[str, Any]]:
    """The same as data, region by region."""
    return [_region_json(region, machine) for region in regions]


def _region_json(region: TracedRegion, machine: Machine) -> dict[str, Any]:
    path = region.path
    assert path is not None
    nodes = path.graph.nodes

    def entry(part: Any) -> dict[str, Any]:
        return {
            "node": part.node,
            "label": node_name(nodes[part.node]),
            "why": part.why.value,
            "stream": part.stream,
            "other": part.other,
        }

    whole = len(path.segments) <= LISTED
    on_path = sorted({s.node for s in path.segments})
    return {
        "region": region.name,
        "cycles": path.cycles,
        "known_from": path.start,
        "summary": [
            {**entry(s), "cycles": s.cycles, "segments": s.segments, "share": s.share}
            for s in path.summary()
        ],
        "segments": [{**entry(s), "from": s.start, "to": s.stop} for s in path.segments]
        if whole
        else None,
        "what_if_twice_as_fast": [
            {"node": n, "label": node_name(nodes[n]), "saves_at_most": path.what_if(n).gain}
            for n in on_path
        ],
        "channels": channels(region, machine),
    }
