"""A run as plain data, with every figure that a plot or the table shows; unknown ones are None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from fuseloom.dataflow.samml.display import TOKENS
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.errors import shortened
from fuseloom.results.record import RunRecord
from fuseloom_workbench.costs.choices import lanes, settings_of
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.machines import machine_label
from fuseloom_workbench.state.records import KeptRun, busy_by_family, standin_text, verdict
from fuseloom_workbench.state.shared import SharedRun

ALONE = "every statement alone"
LONGEST = 1_000
"""Characters of a schedule that are shown beside its run."""
Point = dict[str, Any]
_PRESETS = ("unfused", "partial", "full")


@dataclass(frozen=True)
class ProblemScope:
    """The scope of the store's runs: they are those of one design's problem."""

    model: str
    standin: str
    machine: str
    problem: str

    @classmethod
    def of(cls, built: BuiltDesign) -> ProblemScope:
        """The place of a design."""
        design, loaded = built.design, built.loaded
        return cls(
            f"{design.model} · {design.data}",
            standin_text(loaded.label) if loaded.standin else "",
            machine_label(design.machine),
            fingerprint(built.problem),
        )


def fingerprint(text: str) -> str:
    """A problem in few letters: it may hold a whole program."""
    return sha256(text.encode()).hexdigest()[:12]


def kind_of(run: KeptRun) -> str:
    """The kind of a run of the session, one of :mod:`~fuseloom_workbench.base.palette`."""
    if run.preset:
        return run.name if run.name in _PRESETS else "preset"
    return "searched" if run.searched else "own"


def own_point(number: int, kept: KeptRun, unfused: int | None) -> Point:
    """A run of the session; ``unfused`` are the cycles that its speed-up refers to."""
    run, expected, design = kept.run, kept.expected, kept.design
    memory = design.machine.memory
    bandwidth = None if memory is None else memory.peak_per_cycle(design.machine.clock_hz)
    point = {
        **record_point(run, kept.busy),
        "id": f"run:{number}",
        "number": number,
        "kind": kind_of(kept),
        "name": kept.name,
        "model": f"{design.model} · {design.data}",
        "standin": kept.standin,
        "machine": kept.machine,
        "problem": fingerprint(kept.problem),
        "estimated": max(kept.estimated, 1.0),
        "bandwidth": bandwidth if bandwidth is not None and bandwidth < float("inf") else None,
        "lanes": lanes(design.settings),
        "speedup": unfused / run.cycles if unfused and run.cycles else None,
        "check": kept.verdict,
    }
    if expected is not None:
        point |= {
            "low": expected.low,
            "high": expected.high,
            "basis": expected.basis,
            "on_chip": expected.on_chip,
            "bounded": expected.channels is not None,
            "peak": expected.peak or None,
        }
    return point


def kept_point(
    run: SharedRun, name: str, place: ProblemScope, estimated: float | None, unfused: int | None
) -> Point:
    """A run of the store."""
    base = None if run.engine else unfused
    point: Point = {**_UNKNOWN, "cycles": run.cycles, "schedule": _text(run.schedule)}
    if run.run is not None:
        point |= record_point(run.run, {})
    return {
        **point,
        "id": f"kept:{run.key}",
        "key": run.key,
        "kind": "kept",
        "name": name,
        "model": place.model,
        "standin": place.standin,
        "machine": place.machine,
        "problem": place.problem,
        "schedule": _text(run.schedule),
        "estimated": None if estimated is None else max(estimated, 1.0),
        "lanes": _lanes(run.schedule),
        "speedup": base / run.cycles if base and run.cycles else None,
        "check": run.trouble if run.run is None else verdict(run.run),
        "when": f"{datetime.fromtimestamp(run.changed, UTC):%Y-%m-%d %H:%M} UTC",
        "engine": run.engine,
    }


def record_point(run: RunRecord, busy: Mapping[Family, int] | None = None) -> Point:
    """Return the point of a run from its record alone, under the text of its schedule."""
    families: dict[str, int] = {}
    for family, cycles in (busy_by_family(run) if busy is None else busy).items():
        families[TOKENS[family]] = families.get(TOKENS[family], 0) + cycles
    stats = [region.memory for region in run.regions]
    moved = None
    if stats and all(stat is not None for stat in stats):
        moved = sum(int(stat["bytes"]) for stat in stats if stat is not None)
    return {
        **_UNKNOWN,
        "cycles": run.cycles,
        "flops": run.flops,
        "bytes": run.bytes,
        "moved": moved,
        "energy": None if run.energy is None else run.energy.joules,
        "area": None if run.area is None else run.area.luts,
        "no_area": "" if run.area is None else run.area.reason,
        "ok": None if run.check is None else run.ok,
        "check": verdict(run),
        "schedule": _text(run.schedule),
        "machine": run.machine.name,
        "model": run.name,
        "regions": [{"name": r.name, "cycles": r.cycles} for r in run.regions],
        "families": families,
    }


_UNKNOWN: Point = {
    "id": "",
    "number": None,
    "key": "",
    "kind": "own",
    "name": "",
    "model": "",
    "standin": "",
    "machine": "",
    "problem": "",
    "schedule": "",
    "estimated": None,
    "low": None,
    "high": None,
    "basis": "",
    "cycles": 0,
    "flops": None,
    "bytes": None,
    "moved": None,
    "energy": None,
    "area": None,
    "no_area": "",
    "on_chip": None,
    "bounded": False,
    "lanes": None,
    "peak": None,
    "bandwidth": None,
    "speedup": None,
    "ok": None,
    "check": "",
    "regions": [],
    "families": {},
    "when": "",
    "engine": "",
    "refused": "",
}


def _text(schedule: str) -> str:
    return shortened(schedule, LONGEST) or ALONE


def _lanes(schedule: str) -> int | None:
    """Lanes of a schedule of the store, if this engine reads it."""
    settings = settings_of(schedule)
    return None if settings is None else lanes(settings)
