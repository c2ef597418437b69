"""The machine and the schedule that are best together, under budgets, with a proof.

Each machine of a space has its own search (:mod:`fuseloom.exploration.design_search`).  For half of
the time the one with the best design so far goes on; then it and the one whose bound is lowest do,
by turns, until the lowest bound of all is no better than the best design that was run: no machine
of the space has a better schedule.  The cut of the best design so far is looked at on each machine
that begins or goes on; where that gives no design, a machine begins with the first cuts of all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine.space import (
    MachinePoint,
    MachineSpace,
    parse_machine_space,
)
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import CancelledError, FuseloomError
from fuseloom.exploration.design_search import DesignSearch
from fuseloom.exploration.designs import Codesign, MachineDesign, ParameterEffect, SearchedMachine
from fuseloom.exploration.found import Sight
from fuseloom.exploration.objective import DesignBudget, Objective, objective_of
from fuseloom.exploration.search import Progress
from fuseloom.program.types import Program
from fuseloom.results.method import Budget, Cost, Part
from fuseloom.results.order_ideals import Units
from fuseloom.wording import counted

TIME_LIMIT = 60.0
"""Seconds of a search by default."""
FRONT = ("cycles", "energy", "area")
"""The costs in which designs of a front are compared."""

DesignWatcher = Callable[[Sight, MachineDesign | None], None]
"""Called with what a search has found so far, with the objective in the place of cycles, and the
best design; None before the first."""


@check_arguments
def codesign(
    program: Program,
    data: Mapping[str, Any],
    space: MachineSpace | str,
    *,
    objective: str = "edp",
    area: float | None = None,
    energy: float | None = None,
    bandwidth: float | None = None,
    copies: int = 0,
    base: Schedule | str | None = None,
    requirements: Sequence[str] = (),
    presets: Mapping[str, str] | None = None,
    sized: bool = False,
    pareto: bool = False,
    every: bool = False,
    gap: float = 0.0,
    time_limit: float = TIME_LIMIT,
    limits: Limits | None = None,
    progress: Progress | None = None,
    watch: DesignWatcher | None = None,
) -> Codesign:
    """Find the machine and the schedule that are best together.

    Parameters
    ----------
    data : mapping
        Every input by name.
    space : MachineSpace or str
        Machines, or the text of their file (:mod:`fuseloom.dataflow.machine.space`).
    objective : str
        ``cycles``, ``time``, ``energy``, ``edp`` (energy times time) or ``area``.
    area : float, optional
        Lookup tables that the hardware of a region may take.
    energy : float, optional
        Joules that a run may take.
    bandwidth : float, optional
        Bytes per second that the memory may give.
    copies : int
        Tensors that a region may read in another mode order, too.
    base : Schedule or str, optional
        Whose settings of all regions hold for every schedule.
    requirements : sequence of str
        Rules that every region keeps (:mod:`fuseloom.dataflow.space.requirements`).
    presets : mapping of str to str, optional
        Schedules whose cuts are looked at first.
    sized : bool
        Whether channels have the capacities that no data can deadlock.
    pareto : bool
        Whether to look, in the time that is left, for all designs that no other beats in time and
        energy; and in area, where that has a budget or is the objective.
    every : bool
        Whether to find the best schedule of every machine, as the effects of parameters need to be
        exact.
    gap : float
        Share of the objective by which a better design may be missed.
    time_limit : float
        Seconds after which the best so far is taken.
    progress : callable, optional
        Told the objective of the best so far and the machine that is looked at now; False ends the
        search.
    watch : callable, optional
        Told what was found, each time that the best design, or the bound, improves.

    Raises
    ------
    FuseloomError
        If no design keeps the budget, the data do not fit, or a value is out of bounds.

    Examples
    --------
    >>> import fuseloom as fl
    >>> spmv, data = fl.load("spmv")
    >>> space = 'base = "hbm2"\\n[parameters]\\nlanes = [1, 2]\\n"memory.channels" = [1, 8]'
    >>> found = codesign(spmv.program, data, space, objective="cycles")
    >>> found.design.settings["memory.channels"], found.gap
    (8, 0.0)
    """
    goal, budget = objective_of(objective), DesignBudget(area, energy, bandwidth)
    _check(gap, time_limit)
    if isinstance(space, str):
        space = parse_machine_space(space)
    base = Schedule.parse(base or "") if isinstance(base, str | None) else base
    points = list(space.points())
    found = _Machines(points, goal, budget, gap, time.monotonic() + time_limit, progress, watch)
    found.run(
        lambda point: machine_search(
            program, data, point, goal, budget, copies=copies, base=base,
            requirements=requirements, presets=presets, sized=sized, limits=limits,
        ),
        every,
    )  # fmt: skip
    return found.result(space, pareto)


def machine_search(
    program: Program,
    data: Mapping[str, Any],
    point: MachinePoint,
    goal: Objective,
    budget: DesignBudget,
    *,
    copies: int = 0,
    base: Schedule | None = None,
    requirements: Sequence[str] = (),
    presets: Mapping[str, str] | None = None,
    sized: bool = False,
    limits: Limits | None = None,
) -> DesignSearch:
    """Return the search of one machine's schedules, which has not begun.

    The parameters are those of :func:`codesign`.  Areas are found where they are the objective or
    have a budget.

    Raises
    ------
    FuseloomError
        If the data do not fit, or a requirement names what the program has not.
    """
    method = Dataflow(
        program, data, point.machine, base=base, presets=presets, limits=limits, sized=sized,
        requirements=requirements, energy=True,
        area="area" in goal.axes or budget.area is not None,
    )  # fmt: skip
    part_budget = Budget(point.lanes, point.on_chip, copies, budget.area)
    return DesignSearch(point, method, part_budget, goal, budget)


class _Machines:
    """The searches of all machines, and which of them goes on."""

    def __init__(
        self,
        points: Sequence[MachinePoint],
        goal: Objective,
        budget: DesignBudget,
        gap: float,
        until: float,
        progress: Progress | None,
        watch: DesignWatcher | None,
    ) -> None:
        self.points = points
        self.goal = goal
        self.gap = gap
        self.until = until
        self.began = time.monotonic()
        self.half = (self.began + until) / 2
        self.progress = progress
        self.watch = watch
        self.told = (inf, -inf)
        self.beyond = {k: why for k, p in enumerate(points) if (why := budget.refuses(p.machine))}
        self.searches: dict[int, DesignSearch] = {}

    def over(self) -> bool:
        """Return whether time is up; a first design is waited for."""
        return self.best is not None and time.monotonic() > self.until

    @property
    def best(self) -> int | None:
        """The number of the machine whose schedule is the best so far."""
        found = [(s.best.value, k) for k, s in self.searches.items() if s.best is not None]
        return min(found)[1] if found else None

    def value(self) -> float:
        """The objective of the best so far."""
        return inf if self.best is None else self._best_of(self.best)

    def run(self, make: Callable[[MachinePoint], DesignSearch], every: bool) -> None:
        """Search until nothing better can be left, or time is up."""
        for number, point in enumerate(self.points):
            if number in self.beyond or self.over():
                continue
            self._tell(point)
            self.searches[number] = search = make(point)
            if cut := self._best_cut():
                search.begin(self.over, [cut])
            if search.best is None:
                search.begin(self.over)
            self._see()
        turn = 0
        while left := self._left(every):
            if self.over():
                break
            turn += 1
            hopeful = turn % 2 or time.monotonic() < self.half
            number = min(left, key=self._best_of if hopeful else lambda k: self.searches[k].bound)
            self._tell(self.points[number])
            search = self.searches[number]
            if number != self.best:
                search.consider(self._best_cut())
            search.step()
            self._see()

    def _best_cut(self) -> list[Units]:
        """The parts of the best design so far; none before the first."""
        if self.best is None:
            return []
        _, parts = self._cost_of(self.best)
        return [part.units for part in parts]

    def _left(self, every: bool) -> list[int]:
        """The machines of which a better schedule may be left."""
        return [
            number
            for number, search in self.searches.items()
            if not search.done
            and search.bound < (1.0 - self.gap) * (self._best_of(number) if every else self.value())
        ]

    def _best_of(self, number: int) -> float:
        best = self.searches[number].best
        return inf if best is None else best.value

    def _tell(self, point: MachinePoint) -> None:
        if self.progress is not None and self.progress(self.value(), str(point)) is False:
            raise CancelledError("the search was cancelled")

    def _see(self) -> None:
        """Tell whoever watches what was found, if it is new."""
        if self.watch is None:
            return
        best, value = self.best, self.value()
        bound = min(value, *(self.bound(k) for k in range(len(self.points))))
        if (value, bound) == self.told:
            return
        self.told = value, bound
        design = None if best is None else self._design(self.searches[best], *self._cost_of(best))
        schedule = "" if design is None else design.schedule
        counts = {"looked at": self.schedules, **self._refused(), "simulated": self.runs}
        seconds = time.monotonic() - self.began
        self.watch(Sight(seconds, value, bound, schedule, self.runs, counts), design)

    # Results --------------------------------------------------------------------------------

    @property
    def schedules(self) -> int:
        """Candidates of parts that were looked at."""
        return sum(search.tally.met for search in self.searches.values())

    @property
    def runs(self) -> int:
        """Parts that were simulated."""
        return sum(len(search.runs) for search in self.searches.values())

    def _refused(self) -> Counter[str]:
        """Candidates that there are not, by rule."""
        refused: Counter[str] = Counter()
        for search in self.searches.values():
            refused.update(search.tally.refused)
        return refused

    def bound(self, number: int) -> float:
        """The objective that no schedule of a machine is below; infinite if there is none."""
        if number in self.beyond:
            return inf
        if number not in self.searches:
            return 0.0
        search = self.searches[number]
        if search.best is None:
            return inf if search.done else search.bound
        return min(search.bound, search.best.value)

    def result(self, space: MachineSpace, pareto: bool) -> Codesign:
        """Return the results.

        Raises
        ------
        FuseloomError
            If there is no design.
        """
        best = self.best
        reasons: dict[str, str] = {}
        for search in self.searches.values():
            reasons.update(search.tally.reasons)
        if best is None:
            told = [*dict.fromkeys(self.beyond.values()), *reasons.values()]
            raise FuseloomError(
                f"no design was found among {counted(len(self.points), 'machine')}"
                + (f": {'; '.join(told[:3])}" if told else ""),
                hint="a larger budget, other machines, or fewer requirements",
            )
        bounds = [self.bound(k) for k in range(len(self.points))]
        value, bound = self.value(), min(bounds)
        machines = tuple(self._machine(k, best, bounds[k]) for k in range(len(self.points)))
        front, whole = self._front() if pareto else (None, False)
        return Codesign(
            self.goal.name, self.goal.unit, value, min(bound, value), bound >= value,
            self._design(self.searches[best], *self._cost_of(best)), machines,
            tuple(self._effects(space, machines)), front, whole,
            self.schedules, self.runs, dict(self._refused()),
        )  # fmt: skip

    def _cost_of(self, number: int) -> tuple[Cost, tuple[Part, ...]]:
        found = self.searches[number].best
        assert found is not None
        return found.cost, found.parts

    def _design(self, search: DesignSearch, cost: Cost, parts: Sequence[Part]) -> MachineDesign:
        ordered = {part.units: part for part in parts}
        chosen = [ordered[units] for units in search.method.ideals.sorted(ordered)]
        seconds = cost.cycles / search.point.machine.clock_hz
        return MachineDesign(
            dict(search.point.settings), search.method.schedule(chosen), cost.cycles, seconds,
            cost.energy, cost.area, cost.bytes,
        )  # fmt: skip

    def _machine(self, number: int, best: int, bound: float) -> SearchedMachine:
        settings = dict(self.points[number].settings)
        if number in self.beyond:
            return SearchedMachine(settings, None, 0.0, f"not searched: {self.beyond[number]}")
        if number not in self.searches:
            return SearchedMachine(settings, None, 0.0, "not searched: time was up")
        found = self.searches[number].best
        value = None if found is None else found.value
        if number == best:
            verdict = "the best"
        elif bound == inf:
            verdict = "none of its schedules keeps the budget"
        elif bound >= self.value():
            verdict = "none of its schedules is better"
        else:
            verdict = "not searched to the end"
            if bound > 0:
                verdict += f": none of its schedules is below {bound:.4g} {self.goal.unit}"
        return SearchedMachine(settings, value, bound if bound < inf else 0.0, verdict)

    def _effects(
        self, space: MachineSpace, machines: Sequence[SearchedMachine]
    ) -> list[ParameterEffect]:
        """Of each value of each parameter, the best design with it."""
        found = []
        for parameter, settings in space.parameters.items():
            for setting in settings:
                own = [k for k, m in enumerate(machines) if m.settings[parameter] == setting]
                values = [v for k in own if (v := machines[k].value) is not None]
                bound = min(self.bound(k) for k in own)
                value = min(values, default=None)
                found.append(
                    ParameterEffect(parameter, setting, value, bound if bound < inf else 0.0)
                )
        return found

    def _front(self) -> tuple[tuple[MachineDesign, ...], bool]:
        """Designs that no other one beats in time, energy and area, and whether these are all."""
        found: list[MachineDesign] = []
        whole = len(self.searches) + len(self.beyond) == len(self.points)
        for number, search in self.searches.items():
            self._tell(self.points[number])
            search.complete = True
            for parts in search.settle(FRONT, self.over):
                total = Cost()
                for part in parts:
                    total = total.then(search.expected(part))
                found.append(self._design(search, total, parts))
            whole = whole and search.complete
        kept = [one for one in found if not any(_beats(other, one) for other in found)]
        unique = {(d.seconds, d.energy, d.area): d for d in reversed(kept)}
        return tuple(sorted(unique.values(), key=lambda d: (d.seconds, d.energy, d.area))), whole


def _beats(one: MachineDesign, other: MachineDesign) -> bool:
    """Return whether one is no more in time, energy and area, and less in one of them."""
    mine, theirs = ((d.seconds, d.energy, d.area) for d in (one, other))
    return mine != theirs and all(a <= b for a, b in zip(mine, theirs, strict=True))


def _check(gap: float, time_limit: float) -> None:
    if not 0 <= gap < 1:
        raise FuseloomError(f"a gap of {gap}", hint="a share from 0 to below 1, e.g. 0.05")
    if not time_limit > 0:
        raise FuseloomError(f"a time limit of {time_limit} s", hint="some seconds, e.g. 60")
