"""Reasons why a schedule is not the best: a rule, its lower bound, its estimate, or its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.cost.estimate import Estimate
from fuseloom.dataflow.fusion.directives import Permute, Span
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.method import KEPT
from fuseloom.results.method import Budget
from fuseloom.wording import counted


class ScheduleFate(Enum):
    """The fate of a schedule; each is decided by one number."""

    REFUSED = "not legal"
    BOUNDED = "removed by its bound"
    ESTIMATED = "expected to be slower"
    HOPED = "expected to be faster"
    SLOWER = "removed by its rival"
    EQUAL = "as good as the best"
    BETTER = "better than what was found"


@dataclass(frozen=True)
class ScheduleVerdict:
    """Why a schedule is not the best.

    Attributes
    ----------
    fate : ScheduleFate
    text : str
        The same in a sentence, with the number that decides.
    outside : tuple of str
        What keeps it from being in the space that was searched.
    least, expected, cycles : float or None
        Clock cycles: what no run of it is below, what is expected of it, what its run took.
    best : float
        Clock cycles of the best that was found.
    """

    fate: ScheduleFate
    text: str
    outside: tuple[str, ...] = ()
    least: float | None = None
    expected: float | None = None
    cycles: float | None = None
    best: float = 0.0


def refused(reason: str, best: float) -> ScheduleVerdict:
    """The verdict on what the compiler refuses."""
    return ScheduleVerdict(
        ScheduleFate.REFUSED, f"{ScheduleFate.REFUSED.value}: {reason}", best=best
    )


def judged(
    expected: Estimate, best: float, cycles: float | None = None, outside: tuple[str, ...] = ()
) -> ScheduleVerdict:
    """The verdict on a schedule that can be built.

    Parameters
    ----------
    expected : Estimate
        Of the schedule, on the data and machine of the search.
    best : float
        Clock cycles of the best that was found.
    cycles : float, optional
        Of its run, if there was one; then that decides, unless the lower bound does.
    """
    least = sum(region.least or 0.0 for region in expected.regions)
    dearest = max(expected.regions, key=lambda region: region.cycles, default=None)
    where = f"; {dearest.name} alone takes {dearest.cycles:,.0f}" if dearest else ""
    fate = _fate(least, expected.cycles, cycles, best)
    took = expected.cycles if cycles is None else cycles
    takes = "is expected to take" if cycles is None else "takes"
    told = {
        ScheduleFate.BOUNDED: f"no run takes fewer than {counted(least, 'cycle')}, "
        f"and the best takes {best:,.0f}{where}",
        ScheduleFate.SLOWER: f"it takes {counted(took, 'cycle')}, the best {best:,.0f}{where}",
        ScheduleFate.EQUAL: f"it {takes} {counted(took, 'cycle')}, too",
        ScheduleFate.BETTER: f"{counted(took, 'cycle')} instead of {best:,.0f}",
        ScheduleFate.ESTIMATED: f"it is expected to take {counted(took, 'cycle')}, the best takes "
        f"{best:,.0f}; at least {least:,.0f} are sure{where}",
        ScheduleFate.HOPED: f"it is expected to take {counted(took, 'cycle')}, the best takes "
        f"{best:,.0f}; only its run can tell",
    }[fate]
    mark = " than the best" if fate in (ScheduleFate.ESTIMATED, ScheduleFate.HOPED) else ""
    text = f"{fate.value}{mark}: {told}"
    return ScheduleVerdict(fate, text, outside, least, expected.cycles, cycles, best)


def _fate(least: float, expected: float, cycles: float | None, best: float) -> ScheduleFate:
    if cycles is None:
        if least > best:
            return ScheduleFate.BOUNDED
        if round(expected) == round(best):
            return ScheduleFate.EQUAL
        return ScheduleFate.ESTIMATED if expected >= best else ScheduleFate.HOPED
    if cycles > best:
        return ScheduleFate.BOUNDED if least > best else ScheduleFate.SLOWER
    return ScheduleFate.EQUAL if cycles == best else ScheduleFate.BETTER


def outside(compiled: Compilation, base: Schedule, budget: Budget) -> tuple[str, ...]:
    """Return the settings of a schedule that no schedule of a space has.

    Parameters
    ----------
    compiled : Compilation
        Under the schedule.
    base : Schedule
        Whose settings hold throughout the space.
    budget : Budget
        Of the space.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from fuseloom.models import load
    >>> model, data = load("spmv", "random")
    >>> made = fl.compile(model.program, "parallel i by 4")
    >>> outside(made, Schedule(), Budget())
    ('4 lanes (parallel y: i by 4); it has regions of at most 1',)
    """
    return tuple(_outside(compiled, base, budget))


def _outside(compiled: Compilation, base: Schedule, budget: Budget) -> Iterator[str]:
    settings = compiled.schedule.settings
    kept = {str(s) for s in base.settings}
    for setting in settings:
        if isinstance(setting, KEPT) and str(setting) not in kept:
            yield f"{setting}; it has no schedule with that"
    for setting in base.settings:
        if isinstance(setting, KEPT) and setting not in settings:
            yield f"not {setting}, which all its schedules have"
    copies: Counter[Span | None] = Counter()
    for region in compiled.regions:
        lanes = region.region.options.lanes
        most = max((number for _, number in lanes), default=1)
        spread = ", ".join(f"{index} by {number}" for index, number in lanes)
        if most > budget.lanes:
            yield (
                f"{counted(most, 'lane')} (parallel {region.name}: {spread}); "
                f"it has regions of at most {budget.lanes}"
            )
        elif len(lanes) > 1:
            yield f"several indices in lanes (parallel {region.name}: {spread}); it has one"
    for setting in settings:
        if isinstance(setting, Permute):
            copies[setting.region] += 1
    for number in copies.values():
        if number > budget.copies:
            yield f"{counted(number, 'input')} stored a second time; it has at most {budget.copies}"
