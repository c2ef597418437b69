"""Every configuration that was run, here or by others who kept it, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from engine.errors import shortened
from workbench.machines import machine_label
from workbench.palette import MARKERS, OKABE_ITO
from workbench.quantities import ratio
from workbench.records import KeptRun, standin_text, verdict
from workbench.session import Session
from workbench.shared import FASTEST, LATEST, Shared, SharedRun

_SIGNS = {
    "square": "■",
    "diamond": "◆",
    "triangle": "▲",
    "hex": "⬢",
    "circle": "●",
    "inverted_triangle": "▼",
}
KEPT = "kept"
"""The series of runs that others have kept."""
ALONE = "every statement alone"
LONGEST = 1_000
"""Characters of a schedule of the store that are shown beside its run."""


def series(record: KeptRun) -> str:
    """The series of the cost plot that a run belongs to."""
    if not record.preset:
        return "yours"
    return record.name if record.name in OKABE_ITO else "other preset"


def view(session: Session) -> dict[str, Any]:
    """A row per run, for the table; those of the run store apart, of the fewest cycles first."""
    current = session.configuration
    others = sorted(session.others, key=lambda run: (run.cycles, -run.changed))
    return {
        "runs": [
            _row(session, number, record, record.configuration == current)
            for number, record in enumerate(session.records.values())
        ],
        "kept": _kept_rows(session, others) if others else [],
        "note": _note(session, len(others)),
        "trouble": _shared_here(session).trouble,
    }


def _shared_here(session: Session) -> Shared:
    shared: Shared = session.shared
    return shared if shared.problem == session.built.problem else Shared()


def _note(session: Session, shown: int) -> str:
    """What part of the store is shown."""
    total = _shared_here(session).total
    if total <= LATEST:
        return ""
    return (
        f"showing {shown:,} of {total:,} kept runs: the last {LATEST} and the {FASTEST} of the "
        "fewest cycles, a schedule once; fuseloom runs list has all"
    )


def costs(session: Session) -> list[dict[str, Any]]:
    """A point per run, for the plot; ``target`` is what a click on it asks for."""
    own = [
        {
            "series": series(record),
            "estimated": max(record.estimated, 1.0),
            "simulated": max(record.run.cycles, 1),
            "name": record.name,
            "problem": f"{record.design.model} · {record.standin or record.data}",
            "machine": record.machine,
            "schedule": record.run.schedule or ALONE,
            "check": record.verdict,
            "regions": len(record.run.regions),
            "target": str(number),
        }
        for number, record in enumerate(session.records.values())
    ]
    others = session.others
    return [*own, *_kept_points(session, others)] if others else own


def _kept_points(session: Session, runs: Iterable[SharedRun]) -> Iterator[dict[str, Any]]:
    """Runs of the store as points, once it is known what they were expected to take."""
    loaded, design = session.built.loaded, session.design
    data = standin_text(loaded.label) if loaded.standin else loaded.label
    about = {
        "series": KEPT,
        "problem": f"{design.model} · {data}",
        "machine": machine_label(design.machine),
    }
    for run in runs:
        estimated = session.estimated_of(run)
        if estimated is not None:
            yield {**about, **_kept_point(run, session.name_of(run), estimated)}


def _kept_point(run: SharedRun, name: str, estimated: float) -> dict[str, Any]:
    return {
        "estimated": max(estimated, 1.0),
        "simulated": max(run.cycles, 1),
        "name": f"{name}, engine {run.engine}" if run.engine else name,
        "schedule": _text(run),
        "check": _check(run),
        "regions": 0 if run.run is None else len(run.run.regions),
        "target": run.key,
    }


def _text(run: SharedRun) -> str:
    return shortened(run.schedule, LONGEST) or ALONE


def _check(run: SharedRun) -> str:
    return run.trouble if run.run is None else verdict(run.run)


def _kept_rows(session: Session, runs: Iterable[SharedRun]) -> list[dict[str, Any]]:
    built, refusals = session.built, session.judged.refused
    base, machine = session.unfused_cycles(built.problem), machine_label(built.design.machine)
    return [
        {
            "current": not run.engine and run.schedule == built.resolved,
            "name": session.name_of(run),
            "machine": machine,
            **_kept_row(run, session.estimated_of(run), base, refusals.get(run.key, "")),
        }
        for run in runs
    ]


def _kept_row(
    run: SharedRun, estimated: float | None, unfused: int | None, refused: str
) -> dict[str, Any]:
    base, record = None if run.engine else unfused, run.run
    ok = None if record is None or record.check is None else record.ok
    return {
        "key": run.key,
        "sign": _SIGNS[MARKERS[KEPT]],
        "colour": OKABE_ITO[KEPT],
        "schedule": _text(run),
        "when": f"{datetime.fromtimestamp(run.changed, UTC):%Y-%m-%d %H:%M} UTC",
        "engine": run.engine,
        "refused": f"this engine does not take its schedule: {refused}" if refused else "",
        "estimated": "—" if estimated is None else f"{round(estimated):,}",
        "cycles": f"{run.cycles:,}",
        "speedup": ratio(base / run.cycles) if base and run.cycles else "—",
        "flops": "—" if record is None else f"{round(record.flops):,}",
        "bytes": "—" if record is None else f"{round(record.bytes):,}",
        "ok": ok,
        "check": _check(run),
    }


def _row(session: Session, number: int, record: KeptRun, current: bool) -> dict[str, Any]:
    run, base = record.run, session.unfused_cycles(record.problem)
    kind = series(record)
    return {
        "number": number,
        "current": current,
        "name": record.name,
        "sign": _SIGNS[MARKERS[kind]],
        "colour": OKABE_ITO[kind],
        "model": f"{record.design.model} · {record.design.data}",
        "standin": record.standin,
        "machine": record.machine,
        "schedule": run.schedule or ALONE,
        "estimated": f"{round(record.estimated):,}",
        "cycles": f"{run.cycles:,}",
        "speedup": ratio(base / run.cycles) if base and run.cycles else "—",
        "flops": f"{round(run.flops):,}",
        "bytes": f"{round(run.bytes):,}",
        "ok": run.ok,
        "check": record.verdict,
    }
