"""Why a schedule is as it is, and why another one is not the best, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.estimate import estimate
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.exploration.found import Best
from fuseloom.exploration.verdict import ScheduleFate, ScheduleVerdict, judged, outside, refused
from fuseloom.results.method import Budget, Part, name_of
from fuseloom.wording import counted


def reasons(method: Dataflow, best: Best) -> list[str]:
    """Why the schedule is as it is: of each region, what its rivals take."""
    told: list[str] = []
    parts = [part for part in best.parts if part.choice is not None]
    for part in parts:
        rivals = best.rivals(part.units)
        alone = _alone(best, part)
        text = f"{part.text}: {counted(part.expected.cycles, 'cycle')} expected"
        if alone is not None:
            text += f"; its {len(part.units)} statements one by one take {alone:,.0f}"
        others = [rival.expected.cycles for rival in rivals if rival is not part]
        if others:
            text += f"; the next of {counted(len(rivals), 'candidate')} takes {min(others):,.0f}"
        told.append(text)
    told += [_cut(method, best, left, right) for left, right in _neighbours(method, best.parts)]
    return told


def _neighbours(method: Dataflow, parts: Sequence[Part]) -> Iterator[tuple[Part, Part]]:
    """Parts one after the other that could be one, where one reads what the other one does."""
    ideals, pairs = method.ideals, list(pairwise(range(len(parts))))
    if not ideals.linear:
        joinable = list(ideals.joinable([part.units for part in parts]))
        pairs = [(a, b) for a, b in joinable if _related(method, parts[a], parts[b])]
    for a, b in pairs:
        both = tuple(sorted(parts[a].units + parts[b].units))
        if parts[a].choice is not None and parts[b].choice is not None and ideals.is_part(both):
            yield parts[a], parts[b]


def _related(method: Dataflow, left: Part, right: Part) -> bool:
    """Return whether one part reads a tensor that the other one writes."""
    written = {method.units[k] for k in left.units}
    return any(a.tensor in written for k in right.units for a in method.statements[k].operands)


def _cut(method: Dataflow, best: Best, left: Part, right: Part) -> str:
    """Why two parts are not one."""
    units = tuple(sorted(left.units + right.units))
    name = name_of(method.units, units)
    both = left.expected.cycles + right.expected.cycles
    cut = f"cut before {name_of(method.units, right.units[:1])}: {name}"
    if rivals := best.rivals(units):
        return (
            f"{cut} as one region takes {counted(rivals[0].expected.cycles, 'cycle')} instead of "
            f"{both:,.0f}, under the best order looked at"
        )
    span = next((s for s in best.spans if s.units == units), None)
    if span is None or span.open:
        return f"{cut} as one region was not looked at"
    return f"{cut} has no candidate as one region"


def _alone(best: Best, part: Part) -> float | None:
    """Return the cycles of a part's statements one by one; None if unknown or only one."""
    if len(part.units) == 1:
        return None
    total = 0.0
    for unit in part.units:
        rivals = best.rivals((unit,))
        if not rivals:
            return None
        total += rivals[0].expected.cycles
    return total


def why_not(method: Dataflow, cycles: float, schedule: str) -> str:
    """Return the reason that excludes a schedule, given the cycles of another one.

    The rule that refuses it; or its bound, if that is above; or what a run of it takes.

    Parameters
    ----------
    schedule : str
        Of the program as it was given, with whatever settings.
    """
    return verdict_on(method, cycles, schedule).text


def verdict_on(
    method: Dataflow, cycles: float, schedule: str, budget: Budget | None = None
) -> ScheduleVerdict:
    """Return what removes a schedule and whether it is in the space; run it if its bound does not.

    Parameters
    ----------
    cycles : float
        Clock cycles of the best that was found.
    schedule : str
        Of the program as it was given, with whatever settings.
    """
    try:
        compiled = compile_program(method.source, Schedule.parse(schedule))
        made = best_orders(compiled, method.given, machine=method.machine).compilation
    except FuseloomError as reason:
        return refused(str(reason), cycles)
    if method.sized:
        made = made.sized()
    found = estimate(made, method.given, machine=method.machine)
    without = outside(made, method.base, budget or Budget())
    told = judged(found, cycles, outside=without)
    if told.fate is ScheduleFate.BOUNDED:
        return told
    run = simulate(made, method.given, method.machine, limits=method.limits)
    return judged(found, cycles, run.cycles, without)
