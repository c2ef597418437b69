"""The search for a schedule by another number than cycles, within budgets, or on several machines.

On one machine it is that of :mod:`fuseloom.exploration.codesign` in a space of that machine, told
step by step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine.space import MachineSpace
from fuseloom.errors import FuseloomError
from fuseloom.exploration.autoschedule import SpaceSize
from fuseloom.exploration.codesign import DesignWatcher, codesign, machine_search
from fuseloom.exploration.designs import Codesign
from fuseloom.exploration.found import Sight
from fuseloom.exploration.objective import DesignBudget
from fuseloom.results.method import SAME_GRAPH
from fuseloom_workbench.search.wishes import SearchSettings
from fuseloom_workbench.state.design import BuiltDesign

COUNTING = 0.1
"""Share of the time limit that counting the space may take."""
FIRST, NEXT = "looking at the first schedules", "looking for a better one"
REASONS = 3
"""Reasons why there is no design, of those that are told."""


@dataclass(frozen=True)
class SearchedDesign:
    """The best schedule of a search.

    Attributes
    ----------
    value, bound : float
        The objective of the schedule, and the one that no schedule searched is below.
    cycles : float
    space : SpaceSize
    reasons : dict of str to str
        Of each rule by which candidates were refused, the first reason.
    """

    schedule: str
    value: float
    bound: float
    cycles: float
    space: SpaceSize
    reasons: dict[str, str]


def searched_design(
    built: BuiltDesign,
    wishes: SearchSettings,
    see: Callable[[Sight, float | None], None],
    progress: Callable[[float, str], None],
) -> SearchedDesign:
    """Find the schedule of a design that is best by an objective and keeps the budgets and rules.

    Parameters
    ----------
    wishes : SearchSettings
        With the lanes of a region.
    see : callable
        Told what was found so far, with the objective in the place of cycles, and the cycles.
    progress : callable
        Told the objective of the best so far, and what is done now.

    Raises
    ------
    FuseloomError
        If no schedule keeps the budgets and rules, or a rule names what the program has not.
    """
    began, goal = time.monotonic(), wishes.goal
    (point,) = MachineSpace.of(built.design.machine, wishes.lanes).points()
    search = machine_search(
        built.program, built.data, point, goal, DesignBudget(wishes.area, wishes.energy),
        copies=wishes.copies, base=Schedule((), (), built.design.settings),
        requirements=wishes.rules, presets=built.model.presets,
    )  # fmt: skip
    method = search.method
    told = (inf, -inf)

    def over() -> bool:
        progress(told[0], FIRST if search.best is None else NEXT)
        return search.best is not None and time.monotonic() > began + wishes.seconds

    def tell() -> None:
        nonlocal told
        best = search.best
        value = inf if best is None else best.value
        if (value, search.bound) == told:
            return
        told = value, search.bound
        text, cycles = "", None
        if best is not None:
            text, cycles = method.schedule(best.parts), best.cost.cycles
        counts = {"looked at": search.tally.met, **search.tally.refused}
        counts["simulated"] = len(search.runs)
        seconds, bound = time.monotonic() - began, min(search.bound, value)
        see(Sight(seconds, value, bound, text, len(search.runs), counts), cycles)

    def left() -> bool:
        share = 0.0 if wishes.strategy == "exhaustive" else wishes.gap
        value = inf if search.best is None else search.best.value
        return not search.done and search.bound < (1.0 - share) * value and not over()

    search.begin(over)
    tell()
    while left():
        search.step()
        tell()
    best = search.best
    if best is None:
        every = {rule: why for rule, why in search.tally.reasons.items() if rule != SAME_GRAPH}
        reasons = "; ".join([*every.values()][:REASONS])
        raise FuseloomError(
            "no schedule was found that keeps the budget and the rules"
            + (f": {reasons}" if reasons else ""),
            hint="a larger budget, fewer rules, or another machine",
        )
    space = SpaceSize(*method.size(search.budget, COUNTING * wishes.seconds))
    return SearchedDesign(
        method.schedule(best.parts), best.value, min(search.bound, best.value), best.cost.cycles,
        space, dict(search.tally.reasons),
    )  # fmt: skip


def searched_machines(
    built: BuiltDesign,
    wishes: SearchSettings,
    space: MachineSpace,
    see: DesignWatcher,
    progress: Callable[[float, str], None],
) -> Codesign:
    """Find the machine of a space and the schedule of a design that are best together.

    Parameters
    ----------
    see : callable
        Told what was found so far.
    progress : callable
        Told the objective of the best so far, and the machine that is looked at now.

    Raises
    ------
    FuseloomError
        If no machine has a schedule that keeps the budgets and rules, or a rule names what the
        program has not.
    """
    return codesign(
        built.program, built.data, space, objective=wishes.objective, area=wishes.area,
        energy=wishes.energy, copies=wishes.copies, base=Schedule((), (), built.design.settings),
        requirements=wishes.rules, presets=built.model.presets, every=wishes.every,
        gap=0.0 if wishes.strategy == "exhaustive" else wishes.gap, time_limit=wishes.seconds,
        progress=lambda value, machine: progress(value, f"machine with {machine}"), watch=see,
    )  # fmt: skip
