"""Figures of the graph's nodes that it can be coloured by, and the critical path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuseloom.results.record import RegionRecord
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.state.records import ports_of
from fuseloom_workbench.state.session import Session

MEASURED = ("busy", "stall_input", "stall_output", "stall_memory", "tokens")
"""Figures that a run measures."""
EXPECTED = {"expected": "cycles", "expected_tokens": "tokens", "bytes": "bytes"}
"""Figures that are estimated, and the fields of an estimate that have them."""


@page_part("heat")
def view(session: Session) -> dict[str, Any]:
    """Figures by kind and node, tokens by stream, the cycles that elapsed, the critical path."""
    return {"heat": _heat(session), **_streams(session), "critical": _critical(session)}


def key_of(session: Session, region: int, number: int, letter: str = "n") -> str:
    """The key of a node or stream (``e``) in the drawing."""
    return f"{letter}{number}" if region == session.region else f"r{region}{letter}{number}"


def measured_cycles(region: RegionRecord, node: int) -> dict[str, int]:
    """Return the measured cycles of a node; the waits of its memory ports add to its own."""
    row = region.rows.get(node)
    if row is None:
        return {}
    waits = row["stall_memory"] + sum(p["stall_memory"] for p in ports_of(region, node))
    found = {kind: int(row[kind]) for kind in MEASURED} | {"stall_memory": waits}
    most = region.cycles
    return {k: v if k == "tokens" else min(v, most) for k, v in found.items()}


def _regions(session: Session) -> Iterator[int]:
    whole = session.drawing.whole
    yield from range(len(session.regions)) if whole else (session.region,)


def _heat(session: Session) -> dict[str, Any]:
    record = session.record
    found: dict[str, dict[str, float]] = {k: {} for k in (*EXPECTED, *MEASURED)}
    for number in _regions(session):
        estimates = session.estimate.regions[number].nodes
        rows = record.run.regions[number] if record is not None else None
        for node in session.regions[number].graph.nodes:
            key = key_of(session, number, node.id)
            for kind, field in EXPECTED.items():
                found[kind][key] = round(float(getattr(estimates[node.id], field)), 1)
            if rows is not None:
                for kind, value in measured_cycles(rows, node.id).items():
                    found[kind][key] = value
    return found


def _streams(session: Session) -> dict[str, Any]:
    """Tokens of every stream: as measured, where the run was explained, or as expected."""
    record = session.record
    tokens: dict[str, float] = {}
    cycles: list[int] = []
    measured = record is not None
    for number in _regions(session):
        run = record.run.regions[number] if record is not None else None
        if run is not None:
            cycles.append(run.cycles)
        if run is not None and run.channels is not None:
            for row in run.channels:
                tokens[key_of(session, number, row["stream"], "e")] = row["tokens"]
            continue
        measured = False
        nodes = session.estimate.regions[number].nodes
        for start, _, stream in session.regions[number].graph.edges():
            tokens[key_of(session, number, stream.id, "e")] = round(float(nodes[start].tokens), 1)
    return {"streams": tokens, "measured": measured, "cycles": max(cycles, default=0)}


def _critical(session: Session) -> dict[str, Any]:
    if session.record is None:
        return {}
    nodes: dict[str, float] = {}
    edges: list[str] = []
    for number in _regions(session):
        path = session.record.run.regions[number].path
        if path is None:
            return {}
        for node, share in path["shares"].items():
            nodes[key_of(session, number, int(node))] = share * path["cycles"]
        streams = {s.id for s in session.regions[number].graph.streams}
        edges += [key_of(session, number, s, "e") for s in path["streams"] if s in streams]
    return {"nodes": nodes, "edges": edges}
