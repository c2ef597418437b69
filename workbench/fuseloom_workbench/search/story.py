"""The progress of a search, as plain data: its curve, the best, and the reasons for refusals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fuseloom.dataflow.machine.space import ParameterValue
from fuseloom.exploration.autoschedule import SpaceSize
from fuseloom.exploration.designs import Codesign, ParameterEffect, SearchedMachine
from fuseloom.exploration.found import Sight
from fuseloom_workbench.search.parameters import setting_texts
from fuseloom_workbench.search.wishes import SearchSettings
from fuseloom_workbench.state.answered import digest

MOST_BESTS, MOST_POINTS = 30, 400
"""Of the schedules and points that are told."""
MEANING = {
    "looked at": "Ways of executing some statements as one region that the search has met.",
    "drawn": "Schedules that were drawn.",
    "cycle": "The statements would wait for each other in a circle: no region has all of them.",
    "cannot be fused": "The compiler refuses these statements as one region.",
    "cannot be built": "There is no dataflow graph for this order.",
    "copy does not fit": "The input that would be stored a second time leaves no legal order.",
    "same graph": "Another order gives the same dataflow graph, which was looked at once.",
    "look-up": "The levels chosen cannot be looked up there.",
    "lanes": "The index cannot be dealt to so many lanes.",
    "on-chip": "It holds more bytes on the chip than the budget has.",
    "requirement": "It breaks a rule that every region has to keep.",
    "area": "Its hardware takes more lookup tables than the budget has.",
    "no hardware": "One of its nodes has no hardware, or none that was measured.",
    "stored otherwise": "The region would keep a tensor inside that is to be stored.",
    "simulation": "Its simulation was refused, e.g. by a limit or a deadlock.",
    "bounded away": "Expected or proved to take more cycles than the best: not simulated.",
    "abandoned": "Its run was ended when it had taken more cycles than the best has in all.",
    "orders left for later": "Orders whose bound was too high to be looked at yet.",
    "parts with candidates not looked at": "Regions of which not every candidate was looked at; "
    "while any is left, the bound says how much better they could be.",
    "simulated": "Regions that were simulated.",
}
KEPT = frozenset({"simulated"})
REST = frozenset({"orders left for later", "parts with candidates not looked at"})


class Story:
    """The story of a search.

    Parameters
    ----------
    problem : str
        Program, data and machine of the design that is searched.
    lanes : int
        Lanes of a region at most.
    kept : str
        Settings that hold for every schedule, as a schedule's text.
    bounded : bool
        Whether bounds hold on this machine.
    machine : str
        Where several machines are searched: the text of the one that is shown.

    Attributes
    ----------
    points : list of [seconds, runs, value, bound]
        The objective of the best so far, None before the first, and what no schedule is below; both
        in the unit of the objective.
    bests : list of dict
        Each with its ``value``, the objective, and its ``cycles``; the best first.  Where several
        machines are searched, with its ``machine``.
    machines : Codesign or None
        What is known of all machines in the end, where several are searched.
    """

    def __init__(
        self,
        problem: str,
        wishes: SearchSettings,
        lanes: int,
        kept: str,
        bounded: bool,
        machine: str = "",
    ) -> None:
        self.about = {
            "problem": digest(problem),
            "wishes": wishes.to_dict(),
            "unit": wishes.goal.unit,
            "lanes": lanes,
            "copies": wishes.copies,
            "kept": kept,
            "machine": machine,
        }
        self.points: list[list[float | None]] = []
        self.bests: list[dict[str, Any]] = []
        self.counts: Mapping[str, int] = {}
        self.reasons: Mapping[str, str] = {}
        self.space: SpaceSize | None = None
        self.machines: Codesign | None = None
        self.end: dict[str, Any] = {}
        self._bounded = bounded

    def see(
        self, sight: Sight, cycles: float | None = None, machine: Mapping[str, Any] | None = None
    ) -> None:
        """Take over what a search has found so far.

        Parameters
        ----------
        sight : Sight
            With the objective in the place of cycles.
        cycles : float, optional
            Of the best so far, where the objective is another number.
        machine : mapping, optional
            Where several are searched: its ``settings``, these as ``texts`` for people, and the
            ``problem`` that is searched on it.
        """
        value = None if math.isinf(sight.cycles) else sight.cycles
        bound = sight.bound if self._bounded and math.isfinite(sight.bound) else 0.0
        if self.points:
            bound = max(bound, self.points[-1][3] or 0.0)
        self.points.append([round(sight.seconds, 3), sight.runs, value, bound])
        self.counts = sight.counts
        if value is not None:
            self._best(value, cycles, sight.schedule, sight.runs, sight.seconds, machine)
            del self.bests[MOST_BESTS:]

    def finish(
        self,
        seconds: float,
        schedule: str,
        value: float,
        bound: float,
        told: str,
        cycles: float | None = None,
        machine: Mapping[str, Any] | None = None,
    ) -> None:
        """The search is over: what it found in the end, outside of its space too."""
        runs = int(self.points[-1][1] or 0) if self.points else 0
        lower_bound = bound if self._bounded else 0.0
        self.points.append([round(seconds, 3), runs, value, lower_bound])
        self._best(value, cycles, schedule, runs, seconds, machine)
        self.end = {"told": told}

    def _best(
        self,
        value: float,
        cycles: float | None,
        schedule: str,
        runs: int,
        seconds: float,
        machine: Mapping[str, Any] | None,
    ) -> None:
        """Keep a schedule if it is better than those before it."""
        if not self.bests or value < self.bests[0]["value"]:
            own = {"value": value, "cycles": value if cycles is None else cycles}
            found = {**own, "schedule": schedule, "runs": runs, "seconds": round(seconds, 3)}
            if machine is not None:
                found["machine"] = machine
            self.bests.insert(0, found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: finite numbers and texts."""
        step = max(1, math.ceil(len(self.points) / MOST_POINTS))
        points = self.points[::-step][::-1] if self.points else []
        return {
            **self.about,
            "points": points,
            "bests": self.bests,
            "space": _space(self.space),
            "machines": self._machines(),
            "funnel": funnel(self.counts, self.reasons),
            "over": bool(self.end),
            **self.end,
        }

    def _machines(self) -> dict[str, Any] | None:
        """The effects of parameters and the best machines, as plain data; None of one machine."""
        found = self.machines
        if found is None:
            return None
        own = found.design.settings
        ranked = sorted(found.machines, key=lambda m: (m.value is None, m.value or 0.0))
        return {
            "number": len(found.machines),
            "effects": [
                {
                    **self._known(effect, {effect.parameter: effect.setting}),
                    "best": own[effect.parameter] == effect.setting,
                }
                for effect in found.effects
            ],
            "ranked": [
                {
                    **self._known(machine, machine.settings),
                    "verdict": machine.verdict if self._bounded else "",
                    "best": machine.settings == own,
                }
                for machine in ranked[:MOST_BESTS]
            ],
        }

    def _known(
        self, of: ParameterEffect | SearchedMachine, settings: Mapping[str, ParameterValue]
    ) -> dict[str, Any]:
        """The objective and the bound of a machine, or of all that have one value."""
        bound = of.bound if self._bounded else 0.0
        return {"texts": setting_texts(settings), "value": of.value, "bound": bound}


def _space(space: SpaceSize | None) -> dict[str, Any] | None:
    if space is None:
        return None
    log = math.log10(space.schedules) if space.schedules > 0 else 0.0
    exact = "" if space.exact else "at least "
    return {
        "text": f"{exact}{space.schedules:,}" if log < 15 else f"{exact}{_power(space.schedules)}",
        "digits": f"{space.schedules:,}" if log < 60 else "",
        "log": log,
        "exact": space.exact,
    }


def _power(number: int) -> str:
    digits = str(number)
    return f"{digits[0]}.{digits[1:4]}e{len(digits) - 1}"


def funnel(counts: Mapping[str, int], reasons: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the counts of a search: met, refused by reason, simulated, and left."""
    first = [name for name in ("drawn", "looked at") if name in counts]
    last = [name for name in MEANING if name in KEPT | REST and name in counts]
    fell = sorted((n for n in counts if n not in {*first, *last}), key=lambda n: -counts[n])
    return [
        {
            "name": name,
            "count": counts[name],
            "kind": "met" if name in first else "kept" if name in KEPT
            else "left" if name in REST else "fell",
            "meaning": MEANING.get(name, f"Refused by the rule {name}."),
            "example": reasons.get(name, ""),
        }
        for name in (*first, *fell, *last)
        if counts[name] or name in first or name in KEPT
    ]  # fmt: skip
