"""The timeline of a run as it comes with the record: rows, bins, the critical path, totals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.results.record import RegionRecord
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.state.look import ACTIVITIES
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline.rows import Place, TimelineRow, begins, rows_of, shown_runs
from fuseloom_workbench.timeline.windows import has_events

EMPTY = "Run to see what each node does"
KEPT = "Of a kept run the cycles are known. Run to see what each node does"
NO_EVENTS = "This run kept no events: what is shown is counted per {width}."
WORKS = tuple(ACTIVITIES)[:4]
"""Activities that are drawn; what is left of a node's cycles it is idle."""


@page_part("timeline")
def view(session: Session) -> dict[str, Any]:
    """Rows and coarse bins of the run shown and of the pinned one; a note without a run."""
    here, there = shown_runs(session)
    if here is None:
        return {"empty": EMPTY if session.record is None else KEPT}
    made = rows_of(session)
    runs = {"b": _run(here)} if there is None else {"a": _run(there), "b": _run(here)}
    missing = not has_events(here)
    owned = {unit.name: " ".join(unit.statements) for unit in session.built.units}
    return {
        "empty": "",
        "runs": runs,
        "groups": [{"name": name, "statements": owned.get(name, "")} for name in made.groups],
        "rows": [_row(row, here, there) for row in made.rows],
        "activities": [ACTIVITIES[name] for name in WORKS],
        "selected": next(
            (k for k, row in enumerate(made.rows) if row.here == (session.region, session.node)), -1
        ),
        "events": not missing,
        "note": NO_EVENTS.format(width=_widths(here)) if missing else "",
    }


def _widths(kept: KeptRun) -> str:
    """Describe the width of the bins of a run's regions."""
    widths = sorted({r.timeline["width"] for r in kept.run.regions if r.timeline is not None})
    if len(widths) == 1:
        return count(widths[0], "cycle" if widths[0] == 1 else "cycles")
    return f"{widths[0]:,} to {count(widths[-1], 'cycles')}"


def _run(kept: KeptRun) -> dict[str, Any]:
    """Name and regions of a run, and its critical path."""
    starts = begins(kept.run)
    return {
        "name": kept.name,
        "cycles": kept.run.cycles,
        "events": has_events(kept),
        "regions": [
            {
                "name": region.name,
                "begins": start,
                "cycles": region.cycles,
                "width": (region.timeline or {})["width"],
            }
            for region, start in zip(kept.run.regions, starts, strict=True)
        ],
        "path": [
            [number, segment["node"], start + segment["start"], start + segment["stop"]]
            for number, (region, start) in enumerate(zip(kept.run.regions, starts, strict=True))
            for segment in (region.path or {}).get("segments", ())
        ],
        "pieces": sum((region.path or {}).get("pieces", 0) for region in kept.run.regions),
    }


def _row(row: TimelineRow, here: KeptRun, there: KeptRun | None) -> dict[str, Any]:
    """A line, with its bins and totals in both runs."""
    return {
        "label": row.label,
        "group": row.group,
        "b": _node(here, row.here),
        "a": None if there is None else _node(there, row.there),
    }


def _node(kept: KeptRun, place: Place | None) -> dict[str, Any] | None:
    """A node's region and number, its cycles in each activity, and those per bin."""
    if place is None:
        return None
    region: RegionRecord = kept.run.regions[place[0]]
    told: Mapping[str, Any] = region.rows[place[1]]
    cycles = (region.timeline or {})["cycles"]
    return {
        "region": place[0],
        "node": place[1],
        "totals": [told[name] for name in WORKS],
        "bins": [_sparse(cycles[name][place[1]]) for name in WORKS],
    }


def _sparse(bins: list[int]) -> list[int]:
    """Bins, or nothing where all are empty: most rows wait for one reason only."""
    return bins if any(bins) else []
