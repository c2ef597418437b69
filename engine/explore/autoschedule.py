"""The best schedule of a program on data and a machine: with a proof, and the reasons in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from engine.dataflow.compiler import Compilation, compile_program
from engine.dataflow.cost.estimate import Known, estimate_region
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.method import Dataflow
from engine.dataflow.orders import best_orders
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.program_runs import Run, simulate
from engine.dataflow.sim.reports import Limits
from engine.dataflow.stores import with_dense_levels
from engine.errors import FuseloomError
from engine.explore.certificate import Certificate
from engine.explore.search import Best, Progress, Search
from engine.program.types import Program
from engine.results.method import Budget, Part

NEAR = 0.02
"""Share by which estimates of what is worth a run may be above the best."""
GAP, TIME_LIMIT = 0.05, 10.0
"""What may be missed, as a share of the cycles, and the seconds a search takes, by default."""


@dataclass(frozen=True)
class Autoscheduled:
    """A schedule that was found.

    Attributes
    ----------
    schedule : str
        Its text: ``fl.compile(program, schedule)`` gives it again.
    cycles : float
        Simulated; expected if nothing was simulated.
    certificate : Certificate
    reasons : tuple of str
        Why it is as it is, in words.
    run : Run or None
    """

    schedule: str
    cycles: float
    certificate: Certificate
    reasons: tuple[str, ...]
    run: Run | None = field(default=None, repr=False)
    best: Best | None = field(default=None, repr=False)
    _method: Dataflow | None = field(default=None, repr=False)

    def why(self, schedule: str) -> str:
        """Why not this one: the rule, bound or rival that removed a schedule.

        Parameters
        ----------
        schedule : str
            Text of the scheduling language.
        """
        if self._method is None:
            raise FuseloomError("nothing is known of other schedules")
        return why_not(self._method, self.cycles, schedule)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "schedule": self.schedule,
            "cycles": self.cycles,
            "certificate": self.certificate.to_dict(),
            "reasons": list(self.reasons),
        }


def autoschedule(
    program: Program,
    data: Mapping[str, Any],
    *,
    machine: Machine | None = None,
    base: Schedule | str | None = None,
    presets: Mapping[str, str] | None = None,
    lanes: int = 1,
    on_chip: float | None = None,
    gap: float = GAP,
    time_limit: float = TIME_LIMIT,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Autoscheduled:
    """Find the schedule that takes the fewest cycles.

    Cuts, dataflow orders, look-ups and lanes are searched, as
    :class:`engine.dataflow.method.Dataflow` has them; what is found is simulated, and how much
    better another one could be is proved (:mod:`engine.explore.search`).  Then complete levels
    between regions are stored dense where that takes less, and the presets are compared as every
    other command takes them; the proof does not cover these.

    Parameters
    ----------
    data : mapping
        Every input by name.
    base : Schedule or str, optional
        Whose ``block``, ``global``, ``strict`` and ``repeat`` hold for every schedule.
    presets : mapping of str to str, optional
        Schedules whose cuts are looked at first.
    lanes : int
        Lanes that a region may have.
    on_chip : float, optional
        Bytes that a region may hold on chip, as estimated.
    gap : float
        Share of the cycles by which a better one may be missed; 0 searches until none is left.
    time_limit : float
        Seconds after which the best so far is taken.

    Raises
    ------
    FuseloomError
        If no schedule fits the budget, the data do not fit, or a value is out of bounds.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from engine.models import load
    >>> model, data = load("spmv", "random")
    >>> found = autoschedule(model.program, data)
    >>> found.cycles == fl.simulate(fl.compile(model.program, found.schedule), data).cycles
    True
    """
    _check(lanes, on_chip, gap, time_limit)
    base = Schedule.parse(base) if isinstance(base, str) else base
    method = Dataflow(program, data, machine, base=base, presets=presets, limits=limits)
    budget = Budget(lanes, on_chip)
    best = Search(method, budget, gap=gap, time_limit=time_limit, progress=progress).run()
    schedule, told, proof = best.schedule, reasons(method, best), best.certificate
    run = simulate(compile_program(program, schedule), method.data, method.machine, limits=limits)
    rivals = [] if lanes > 1 or on_chip is not None else [*_outside(method, program, presets or {})]
    for name, compiled, expected in [*_stored(method, program, schedule), *rivals]:
        if expected >= run.cycles * (1 + NEAR):
            continue
        other = simulate(compiled, method.data, method.machine, limits=limits)
        if (other.cycles, other.work.bytes) < (run.cycles, run.work.bytes):
            told.append(
                f"{name}: {other.cycles:,} cycles and {other.work.bytes:,} bytes instead of "
                f"{run.cycles:,} and {run.work.bytes:,}"
            )
            schedule, run = str(compiled.resolved), other
    proof = replace(proof, cycles=run.cycles, bound=min(proof.bound, run.cycles))
    return Autoscheduled(schedule, run.cycles, proof, tuple(told), run, best, method)


def _stored(
    method: Dataflow, program: Program, schedule: str
) -> Iterator[tuple[str, Compilation, float]]:
    """The same schedule, with complete levels between regions stored dense where that helps."""
    if not method.machine.has_searchers:
        return
    compiled = compile_program(program, schedule)
    made = with_dense_levels(compiled, method.known, [r.name for r in compiled.regions])
    if made is not compiled:
        names = ", ".join(made.dense_levels)
        yield f"{names} stored dense", made, _expected(method, made)


def _outside(
    method: Dataflow, program: Program, presets: Mapping[str, str]
) -> Iterator[tuple[str, Compilation, float]]:
    """The presets, as every other command takes them."""
    for name, text in presets.items():
        try:
            compiled = compile_program(program, text)
            made = best_orders(compiled, method.data, machine=method.machine).compilation
        except FuseloomError:
            continue
        yield f"the preset {name}", made, _expected(method, made)


def _expected(method: Dataflow, compiled: Compilation) -> float:
    known = Known.shared(compiled.program, method.data, machine=method.machine)
    return sum(estimate_region(region, known).cycles for region in compiled.regions)


def _check(lanes: int, on_chip: float | None, gap: float, time_limit: float) -> None:
    if not 1 <= lanes <= 1 << 16:
        raise FuseloomError(f"a budget of {lanes:,} lanes", hint="from 1 to 65,536")
    if on_chip is not None and not on_chip >= 0:
        raise FuseloomError(f"a budget of {on_chip} bytes on chip", hint="0 or more")
    if not 0 <= gap < 1:
        raise FuseloomError(f"a gap of {gap}", hint="a share from 0 to below 1, e.g. 0.05")
    if not time_limit > 0:
        raise FuseloomError(f"a time limit of {time_limit} s", hint="some seconds, e.g. 10")


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
        name = f"{method.units[left.begin]}..{method.units[right.end - 1]}"
        both = left.expected.cycles + right.expected.cycles
        rivals = best.rivals(left.begin, right.end)
        if rivals:
            cycles = rivals[0].expected.cycles
            told.append(
                f"cut before {method.units[right.begin]}: {name} as one region takes "
                f"{cycles:,.0f} cycles instead of {both:,.0f}, under the best order looked at"
            )
        elif right.begin in method.ends(left.begin) and right.end in method.ends(left.begin):
            told.append(f"cut before {method.units[right.begin]}: {name} has no way as one region")
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
    """
    try:
        compiled = compile_program(method.program, Schedule.parse(schedule))
        made = best_orders(compiled, method.data, machine=method.machine)
    except FuseloomError as reason:
        return f"not legal: {reason}"
    found = [method.estimate(region) for region in made.compilation.regions]
    least = sum(region.least or 0.0 for region in found)
    dearest = max(found, key=lambda region: region.cycles, default=None)
    where = f"; {dearest.name} alone takes {dearest.cycles:,.0f}" if dearest else ""
    if least > cycles:
        return (
            f"removed by its bound: no run takes fewer than {least:,.0f} cycles, "
            f"and the best takes {cycles:,.0f}{where}"
        )
    run = simulate(made.compilation, method.data, method.machine, limits=method.limits)
    if run.cycles > cycles:
        return (
            f"removed by its rival: it takes {run.cycles:,} cycles, the best {cycles:,.0f}{where}"
        )
    if run.cycles == cycles:
        return f"as good as the best: it takes {run.cycles:,} cycles, too"
    return f"better than what was found: {run.cycles:,} cycles instead of {cycles:,.0f}"
