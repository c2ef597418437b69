"""Why a schedule is as it is, and why another one is not the best, in words and numbers."""

from __future__ import annotations

from itertools import pairwise

from engine.dataflow.compiler import compile_program
from engine.dataflow.cost.estimate import estimate
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.method import Dataflow
from engine.dataflow.orders import best_orders
from engine.dataflow.sim.program_runs import simulate
from engine.errors import FuseloomError
from engine.explore.found import Best
from engine.results.method import Part


def reasons(method: Dataflow, best: Best) -> list[str]:
    """Why the schedule is as it is: of each region, what its rivals take."""
    told: list[str] = []
    parts = [part for part in best.parts if part.choice is not None]
    for part in parts:
        rivals = best.rivals(part.begin, part.end)
        alone = _alone(best, part)
        text = f"{part.text}: {part.expected.cycles:,.0f} cycles expected"
        if alone is not None:
            text += f"; its {part.end - part.begin} statements one by one take {alone:,.0f}"
        others = [rival.expected.cycles for rival in rivals if rival is not part]
        if others:
            text += f"; the next of {len(rivals)} ways takes {min(others):,.0f}"
        told.append(text)
    for left, right in pairwise(parts):
        if right.begin != left.end or right.end not in method.ends(left.begin):
            continue
        name = f"{method.units[left.begin]}..{method.units[right.end - 1]}"
        both = left.expected.cycles + right.expected.cycles
        cut = f"cut before {method.units[right.begin]}: {name}"
        span = next((s for s in best.spans if (s.begin, s.end) == (left.begin, right.end)), None)
        rivals = best.rivals(left.begin, right.end)
        if rivals:
            cycles = rivals[0].expected.cycles
            told.append(
                f"{cut} as one region takes {cycles:,.0f} cycles instead of {both:,.0f}, under "
                "the best order looked at"
            )
        elif span is None or span.open:
            told.append(f"{cut} as one region was not looked at")
        else:
            told.append(f"{cut} has no way as one region")
    return told


def _alone(best: Best, part: Part) -> float | None:
    """What the statements of a part take one by one, if they are several and that is known."""
    if part.end - part.begin == 1:
        return None
    total = 0.0
    for unit in range(part.begin, part.end):
        rivals = best.rivals(unit, unit + 1)
        if not rivals:
            return None
        total += rivals[0].expected.cycles
    return total


def why_not(method: Dataflow, cycles: float, schedule: str) -> str:
    """What removes a schedule, where another takes so many cycles.

    The rule that refuses it; or its bound, if that is above; or what a run of it takes.

    Parameters
    ----------
    schedule : str
        Of the program as it was given, with whatever settings.
    """
    try:
        compiled = compile_program(method.source, Schedule.parse(schedule))
        made = best_orders(compiled, method.given, machine=method.machine).compilation
    except FuseloomError as reason:
        return f"not legal: {reason}"
    if method.sized:
        made = made.sized()
    found = estimate(made, method.given, machine=method.machine)
    least = sum(region.least or 0.0 for region in found.regions)
    dearest = max(found.regions, key=lambda region: region.cycles, default=None)
    where = f"; {dearest.name} alone takes {dearest.cycles:,.0f}" if dearest else ""
    if least > cycles:
        return (
            f"removed by its bound: no run takes fewer than {least:,.0f} cycles, "
            f"and the best takes {cycles:,.0f}{where}"
        )
    run = simulate(made, method.given, method.machine, limits=method.limits)
    if run.cycles > cycles:
        return (
            f"removed by its rival: it takes {run.cycles:,} cycles, the best {cycles:,.0f}{where}"
        )
    if run.cycles == cycles:
        return f"as good as the best: it takes {run.cycles:,} cycles, too"
    return f"better than what was found: {run.cycles:,} cycles instead of {cycles:,.0f}"
