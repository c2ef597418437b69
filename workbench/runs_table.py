"""Every configuration run so far, as a table to go back from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.palette import MARKERS, OKABE_ITO
from workbench.quantities import ratio
from workbench.records import KeptRun

_SIGNS = {"square": "■", "diamond": "◆", "triangle": "▲", "hex": "⬢", "circle": "●"}


def series(record: KeptRun) -> str:
    """The series of the cost plot that a run belongs to."""
    if not record.preset:
        return "yours"
    return record.name if record.name in OKABE_ITO else "other preset"


class RunsTable(SessionComponent):
    """Runs with cycles, speed-up, work and check; a click goes back to a configuration."""

    _esm = script("runs_table")
    _stylesheets = [style("runs_table")]

    def _follow(self) -> None:
        super()._follow()
        self.session.param.watch(lambda *_: self.refresh(), "records")

    def make_view(self) -> dict[str, Any]:
        session = self.session
        current = session.configuration
        return {
            "runs": [
                self._row(number, record, record.configuration == current)
                for number, record in enumerate(session.records.values())
            ]
        }

    def _row(self, number: int, record: KeptRun, current: bool) -> dict[str, Any]:
        run, base = record.run, self.session.baseline_of(record.problem)
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

    def handle(self, request: Mapping[str, Any]) -> None:
        number = request.get("number")
        runs = list(self.session.records)
        if request["kind"] == "recall" and isinstance(number, int) and 0 <= number < len(runs):
            self.session.recall(runs[number])
