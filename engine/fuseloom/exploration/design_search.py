"""The search for the schedule that is best on one machine by an objective of several costs.

It takes the shortest path through the ideals of a program as :mod:`fuseloom.exploration.search`
does, with labels in place of lengths: each edge has a cost that no run of it is below in any
respect, and of the labels that reach the last ideal those are kept that no other beats
(:mod:`fuseloom.exploration.pareto`).  The objective of none is above that of a schedule that it
stands for, as the objective only grows with each cost; so the lowest is a bound, and once its
parts are all runs, it is the best schedule.  Where labels had to be thinned, the bound is the
objective of the least of each cost by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from fuseloom.dataflow.machine.space import MachinePoint
from fuseloom.errors import GraphError, SimulationError
from fuseloom.exploration.certificate import Tally
from fuseloom.exploration.found import ExaminedSpan, untried_pairs
from fuseloom.exploration.objective import DesignBudget, Objective
from fuseloom.exploration.pareto import Front, front
from fuseloom.results.method import Budget, Cost, Method, Part
from fuseloom.results.order_ideals import Units

SOME = 8
"""Candidates of the same units that are looked at in one step."""
FEW = 3
"""Candidates of two parts as one that are looked at to see whether that is worth it."""
_UNSEEN = object()
"""The choice of a part that stands, in a bound, for candidates that were not looked at."""


@dataclass(frozen=True)
class FoundDesign:
    """A schedule that was run on the machine of a search.

    Attributes
    ----------
    value : float
        The objective.
    parts : tuple of Part
        In an order in which they can be run.
    """

    value: float
    cost: Cost
    parts: tuple[Part, ...]


class DesignSearch:
    """The search of one machine's schedules under way.

    Parameters
    ----------
    method : Method
        The schedules of the program on the machine.
    budget : Budget
        What a part may have.
    limits : DesignBudget
        What a schedule may take.

    Attributes
    ----------
    bound : float
        The objective that no schedule is below.
    best : FoundDesign or None
        The best that was run.
    done : bool
        Whether nothing better can be left.
    complete : bool
        Whether no label was thinned.
    """

    def __init__(
        self,
        point: MachinePoint,
        method: Method,
        budget: Budget,
        objective: Objective,
        limits: DesignBudget,
    ) -> None:
        self.point = point
        self.method = method
        self.budget = budget
        self.objective = objective
        self.limits = limits
        self.tally = Tally()
        self.runs: dict[Part, Cost] = {}
        self.bound = 0.0
        self.best: FoundDesign | None = None
        self.done = False
        self.complete = True
        self._failed: set[Part] = set()
        self._spans: dict[Units, ExaminedSpan] = {}
        self._low: dict[Units, float] = {}
        self._considered: set[frozenset[Units]] = set()
        ideals = method.ideals
        given = method.lower_bounds(budget)
        for units in ideals.parts():
            begins, ends = ideals.edges(units)
            self._low[units] = float(given[begins[0], ends[0]])
        axes = dict.fromkeys(objective.axes)
        if limits.energy is not None:
            axes["energy"] = None
        self.axes = tuple(axes)

    # Steps ----------------------------------------------------------------------------------

    def begin(
        self, over: Callable[[], bool], cuts: Iterable[Sequence[Units]] | None = None
    ) -> None:
        """Run the best, as expected, of the cuts worth looking at first, as far as there is time.

        Of several statements as one few candidates are looked at, because a budget may refuse all.

        Parameters
        ----------
        over : callable
            Whether time is up.
        cuts : iterable of sequence of units, optional
            The cuts to look at; by default those with which the method starts.
        """
        for cut in self.method.starts() if cuts is None else cuts:
            for units in cut:
                if self.method.ideals.is_part(units) and not over():
                    span, most = self._span(units), SOME if len(units) > 1 else inf
                    while span.open and not span.parts and span.seen < most:
                        self._look(span, 1)
        self._run_expected()

    def consider(self, cut: Sequence[Units]) -> None:
        """Look at some candidates of the parts of a cut that is good elsewhere, once."""
        key = frozenset(cut)
        if key in self._considered:
            return
        self._considered.add(key)
        for units in cut:
            if self.method.ideals.is_part(units):
                self._look(self._span(units), SOME)
        self._run_expected()

    def step(self) -> None:
        """Find out what is least known on the path of the lowest bound."""
        found = self._front(self._least)
        value, parts = self._lowest(found)
        if found.thinned:
            self.complete = False
            value = min(value, self._apart())
        self.bound = max(self.bound, value)
        if not parts or (self.best is not None and self.bound >= self.best.value):
            self.done = True
            return
        if not self._resolve(parts):
            self.done = True
        self._join()
        self._run_expected()

    def settle(self, axes: Sequence[str], over: Callable[[], bool]) -> Iterator[tuple[Part, ...]]:
        """The schedules that no other beats in these costs, each run; those known, if time is up.

        Parameters
        ----------
        over : callable
            Whether time is up.
        """
        self.axes = tuple(dict.fromkeys((*self.axes, *axes)))
        while not over():
            found = self._front(self._least)
            self.complete = self.complete and not found.thinned
            if not [self._resolve(parts) for parts in found.parts if self._open(parts)]:
                break
        else:
            self.complete = False
        yield from self._front(self._run_cost).parts

    def expected(self, part: Part) -> Cost:
        """The cost of a part's run, or the expected one."""
        return self.runs.get(part, part.expected)

    # Inside ---------------------------------------------------------------------------------

    def _least(self, part: Part) -> Cost | None:
        """A cost that no run of a part is below; None if it cannot be run."""
        if part in self._failed:
            return None
        if part in self.runs:
            return self.runs[part]
        return replace(part.expected, cycles=part.least, bytes=0.0, energy=part.least_energy)

    def _hoped(self, part: Part) -> Cost | None:
        return None if part in self._failed else self.expected(part)

    def _run_cost(self, part: Part) -> Cost | None:
        return self.runs.get(part)

    def _front(self, of: Callable[[Part], Cost | None]) -> Front:
        """The labels of whole schedules, by costs of parts; unseen ones count in bounds only."""
        costs: dict[Part, Cost] = {}
        for span in self._spans.values():
            for part in span.parts:
                if (cost := of(part)) is not None:
                    costs[part] = cost
        if of == self._least:
            for units, low in self._low.items():
                seen = self._spans.get(units)
                if low < inf and (seen is None or seen.open):
                    low = max(low, seen.least if seen is not None else 0.0)
                    costs[Part(units, Cost(), low, choice=_UNSEEN)] = Cost(low)
        return front(self.method.ideals, costs, costs, axes=self.axes)

    def _value(self, cost: Cost) -> float:
        return self.objective.of(cost, self.point.machine.clock_hz)

    def _lowest(self, found: Front) -> tuple[float, tuple[Part, ...]]:
        """The lowest objective within the budget, and its parts; infinite if there is none."""
        kept = [
            (self._value(cost), number)
            for number, cost in enumerate(found.costs)
            if self.limits.energy is None or cost.energy <= self.limits.energy
        ]
        if not kept:
            return inf, ()
        value, number = min(kept)
        return value, found.parts[number]

    def _apart(self) -> float:
        """The objective of the least of each cost by itself."""
        least: dict[str, Any] = {}
        axes = self.axes
        for axis in axes:
            self.axes = (axis,)
            costs = self._front(self._least).costs
            least[axis] = min((getattr(cost, axis) for cost in costs), default=inf)
        self.axes = axes
        return self._value(Cost(**least))

    def _open(self, parts: Sequence[Part]) -> bool:
        return any(part not in self.runs for part in parts)

    def _resolve(self, parts: Sequence[Part]) -> bool:
        """Look at what is unseen on a path, or run it; whether anything became known."""
        unseen = [part.units for part in parts if part.choice is _UNSEEN]
        for units in unseen:
            closer = self.method.lower_bound(units, self.budget)
            if closer > self._low[units] and units not in self._spans:
                self._low[units] = closer
            else:
                self._look(self._span(units), SOME)
        return bool(unseen) or self._run(parts)

    def _join(self) -> None:
        """Look at two parts of the schedule expected to be the best as one, the largest first."""
        _, parts = self._lowest(self._front(self._hoped))
        if untried := [*untried_pairs(self.method.ideals, parts, self._spans)]:
            self._look(self._span(max(untried)[1]), FEW)

    def _span(self, units: Units) -> ExaminedSpan:
        if units not in self._spans:
            candidates = self.method.candidates(units, self.budget)
            self._spans[units] = ExaminedSpan(units, self.method.ideals.edges(units), candidates)
        return self._spans[units]

    def _look(self, span: ExaminedSpan, number: int) -> None:
        """Look at some more candidates of the same units."""
        for _ in range(number):
            if span.candidates is None:
                return
            candidate = next(span.candidates, None)
            if candidate is None:
                span.turn()
                continue
            span.note(candidate, self.tally)

    def _run(self, parts: Sequence[Part]) -> bool:
        """Run a path's parts; whether any was run, or failed to."""
        before = len(self.runs) + len(self._failed)
        for number, part in enumerate(parts):
            if part in self.runs:
                continue
            try:
                cost = self.method.measure(parts[: number + 1])
            except (GraphError, SimulationError) as reason:
                self._failed.add(part)
                self.tally.refuse("simulation", str(reason))
                return True
            assert cost is not None
            if self.budget.area is not None and cost.area > self.budget.area:
                told = f"{part.text} takes {cost.area:,.0f} LUTs of {self.budget.area:,.0f}"
                self._failed.add(part)
                self.tally.refuse("area", told)
                return True
            self.runs[part] = cost
        total = Cost()
        for part in parts:
            total = total.then(self.runs[part])
        value = self._value(total)
        within = self.limits.energy is None or total.energy <= self.limits.energy
        if within and (self.best is None or value < self.best.value):
            self.best = FoundDesign(value, total, tuple(parts))
        return len(self.runs) + len(self._failed) > before

    def _run_expected(self) -> None:
        """Run the schedule that is expected to be the best, if that is better than the best."""
        value, parts = self._lowest(self._front(self._hoped))
        if parts and (self.best is None or value < self.best.value):
            self._run(parts)
