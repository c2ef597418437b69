"""Colours of the graph's nodes: what was expected, what a run measured, the critical path."""

from __future__ import annotations

from typing import Any

from engine.results.record import RegionRecord
from workbench.drawing import node_key
from workbench.records import ports_of
from workbench.session import Session

MEASURED = ("busy", "stall_input", "stall_output", "stall_memory")
"""Kinds of heat that a run measures."""


def measured_shares(region: RegionRecord, node: int) -> dict[str, float]:
    """What a node spent the elapsed cycles on; what its memory ports wait is added, up to all."""
    row = region.rows.get(node)
    if row is None:
        return {}
    waits = row["stall_memory"] + sum(p["stall_memory"] for p in ports_of(region, node))
    cycles = {kind: row[kind] for kind in MEASURED} | {"stall_memory": waits}
    return {kind: min(1.0, c / max(region.cycles, 1)) for kind, c in cycles.items()}


def view(session: Session) -> dict[str, Any]:
    """Node keys to shares (0 to 1) by kind of heat, and the critical path."""
    return {"heat": _heat(session), "critical": _critical(session)}


def _heat(session: Session) -> dict[str, dict[str, float]]:
    record = session.record
    nodes = session.estimate.regions[session.region].nodes
    most = max((nodes[n.id].cycles for n in session.current.graph.nodes), default=0.0)
    expected = {
        node_key(n.id): nodes[n.id].cycles / most if most else 0.0
        for n in session.current.graph.nodes
    }
    heat: dict[str, dict[str, float]] = {"expected": expected, **{k: {} for k in MEASURED}}
    if record is not None:
        region = record.run.regions[session.region]
        for node in session.current.graph.nodes:
            parts = measured_shares(region, node.id)
            for kind, share in parts.items():
                heat[kind][node_key(node.id)] = share
    return heat


def _critical(session: Session) -> dict[str, Any]:
    path = session.record.run.regions[session.region].path if session.record else None
    if path is None:
        return {}
    streams = {s.id for s in session.current.graph.streams}
    return {
        "nodes": {node_key(int(node)): share for node, share in path["shares"].items()},
        "edges": [f"e{s}" for s in path["streams"] if s in streams],
    }
