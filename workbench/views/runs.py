"""Every configuration that was run, as plain data."""

from __future__ import annotations

from typing import Any

from workbench.palette import MARKERS, OKABE_ITO
from workbench.quantities import ratio
from workbench.records import KeptRun
from workbench.session import Session

_SIGNS = {"square": "■", "diamond": "◆", "triangle": "▲", "hex": "⬢", "circle": "●"}


def series(record: KeptRun) -> str:
    """The series of the cost plot that a run belongs to."""
    if not record.preset:
        return "yours"
    return record.name if record.name in OKABE_ITO else "other preset"


def view(session: Session) -> dict[str, Any]:
    """A row per run, for the table."""
    current = session.configuration
    return {
        "runs": [
            _row(session, number, record, record.configuration == current)
            for number, record in enumerate(session.records.values())
        ]
    }


def costs(session: Session) -> list[dict[str, Any]]:
    """A point per run, for the plot."""
    return [
        {
            "series": series(record),
            "estimated": max(record.estimated, 1.0),
            "simulated": max(record.run.cycles, 1),
            "name": record.name,
            "problem": f"{record.design.model} · {record.standin or record.data}",
            "machine": record.machine,
            "schedule": record.run.schedule or "every statement alone",
            "check": record.verdict,
            "regions": len(record.run.regions),
        }
        for record in session.records.values()
    ]


def _row(session: Session, number: int, record: KeptRun, current: bool) -> dict[str, Any]:
    run, base = record.run, session.baseline_of(record.problem)
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
        "schedule": run.schedule or "every statement alone",
        "estimated": f"{round(record.estimated):,}",
        "cycles": f"{run.cycles:,}",
        "speedup": ratio(base.run.cycles / run.cycles) if base and run.cycles else "—",
        "flops": f"{round(run.flops):,}",
        "bytes": f"{round(run.bytes):,}",
        "ok": run.ok,
        "check": record.verdict,
    }
