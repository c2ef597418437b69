"""The causes of a run's cycles, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import about, count
from fuseloom_workbench.state import machines
from fuseloom_workbench.state.session import Session

CHANNELS = 12
"""Fullest channels listed."""


@page_part("path")
def view(session: Session) -> dict[str, Any]:
    """The critical path of the region shown, what it could save, and its channels."""
    record = session.record
    region = record.run.regions[session.region] if record else None
    path = region.path if region else None
    view: dict[str, Any] = {
        "region": session.current.name,
        "ready": bool(record),
        "at_once": session.built.tokens <= machines.SMALL,
        "takes": _takes(session),
        "too_long": _expected(session) > session.run_limit,
        "node": session.node,
        "path": {},
        "channels": [],
    }
    if record is None or region is None or path is None:
        return view
    view["path"] = {
        "head": _head(path),
        "start": start_text(path),
        "rows": [_row(row, path["cycles"]) for row in path["summary"]],
        "hidden": path["summaries"] - len(path["summary"]),
        "gains": [_gain(guess) for guess in path["what_if"]],
        "segments": [
            {**_row(s, path["cycles"]), "from": f"{s['start']:,}", "to": f"{s['stop']:,}"}
            for s in path["segments"]
        ],
        "left_out": max(0, path["pieces"] - len(path["segments"])),
    }
    channels = region.channels or ()
    view["channels"] = [_channel(row) for row in channels[:CHANNELS]]
    view["more"] = max(0, len(channels) - CHANNELS)
    return view


def _expected(session: Session) -> float:
    """Seconds that a run with a log of every wait may take, very roughly."""
    return machines.expected_seconds(session.built.tokens, session.machine, True)


def _takes(session: Session) -> str:
    """Describe the time that Explain may take, and the part of the run that it may miss."""
    expected, limit = _expected(session), session.run_limit
    if expected > limit:
        return (
            f"may take {about(expected)}, more than the limit of {about(limit)} for a run "
            "here; use smaller data, or fuseloom simulate --explain"
        )
    part = (
        "; of so long a run only the end may be known"
        if session.built.tokens > machines.LONG
        else ""
    )
    return (
        f"simulates once more with a log of every wait, {about(expected)}; the path then "
        f"shows which nodes determine the last cycle{part}"
    )


def _head(path: Mapping[str, Any]) -> str:
    """The bottleneck in a sentence."""
    if not path["what_if"]:
        return f"{count(path['cycles'], 'cycles')}; no node works on the path."
    first, most = path["what_if"][0], path["summary"][0]
    share = first["own"] / max(path["cycles"], 1)
    largest = ""
    if most["cycles"] > first["own"]:
        part = most["cycles"] / max(path["cycles"], 1)
        largest = f" But most of the path, {part:.0%}: {most['what']}."
    return (
        f"Bottleneck: {first['label']} works for {count(first['own'], 'cycles')} of "
        f"{count(path['cycles'], 'cycles')} ({share:.0%}). Twice as fast, it would save at "
        f"most {count(first['gain'], 'cycles')}.{largest}"
    )


def start_text(path: Mapping[str, Any]) -> str:
    """Describe the missing part of a path that is known in part only."""
    if not path["start"]:
        return ""
    known = 1 - path["start"] / max(path["cycles"], 1)
    return (
        f"The log holds the end of this long run only: the path is known from "
        f"{count(path['start'], 'cycles')} on, the last {known:.2%}. What is said of it "
        "holds for that part."
    )


def _row(row: Mapping[str, Any], cycles: int) -> dict[str, Any]:
    return {
        "node": row["owner"],
        "name": row["label"],
        "why": row["why"],
        "what": row["what"],
        "cycles": f"{row['cycles']:,}",
        "times": f"{row.get('segments', 1):,}",
        "share": row["cycles"] / max(cycles, 1),
    }


def _gain(guess: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "node": guess["owner"],
        "name": guess["label"],
        "own": f"{guess['own']:,}",
        "gain": f"{guess['gain']:,}",
        "cycles": f"{guess['cycles']:,}",
    }


def _channel(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "node": row["consumer"]["owner"],
        "stream": row["label"],
        "ends": f"{row['producer']['label']} → {row['consumer']['label']}",
        "mean": f"{row['mean']:,.1f}",
        "most": f"{row['most']:,}",
        "capacity": "unbounded" if row["capacity"] is None else f"{row['capacity']:,}",
        "full": row["capacity"] is not None and row["most"] >= row["capacity"],
    }
