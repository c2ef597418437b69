"""Searches that know nothing: at random, and a sampler that learns from runs alone (Optuna's TPE).

They draw schedules of the same space, run them, and keep the best: what a search must beat with as
many runs.  A part that was run before is not run again, and does not count.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from fuseloom.errors import FuseloomError, SimulationError
from fuseloom.exploration.found import Sight, Watcher
from fuseloom.exploration.shortest import shortest
from fuseloom.results.method import Budget, Cost, Method, Part, every
from fuseloom.results.order_ideals import Units

EMPTY = 20
"""Draws in a row without anything new to run after which a space counts as exhausted."""


@dataclass(frozen=True)
class DrawnSchedules:
    """The best of some schedules that were drawn.

    Attributes
    ----------
    parts : tuple of Part
        None if no schedule could be run.
    cycles : float
        Of its run.
    draws : int
        Schedules that were drawn.
    runs : int
        Runs of parts that they took.
    """

    parts: tuple[Part, ...]
    cycles: float
    draws: int
    runs: int


class _Space:
    """Schedules drawn from a space, and what the runs of their parts took."""

    def __init__(
        self, method: Method, budget: Budget, runs: int, watch: Watcher | None = None
    ) -> None:
        self.method = method
        self.budget = budget
        self.most = runs
        self.costs: dict[Part, float] = {}
        self.parts: tuple[Part, ...] = ()
        self.cycles = inf
        self.draws = self.runs = self.idle = 0
        self._watch = watch
        self._began = time.monotonic()
        self._bound = (
            0.0 if watch is None else shortest(method.ideals, method.lower_bounds(budget))[0]
        )
        self._candidates: dict[Units, list[Part]] = {}

    def candidates(self, units: Units) -> list[Part]:
        """Every candidate of these units as one; none if they are no part."""
        if units not in self._candidates:
            legal = self.method.ideals.is_part(units)
            found = every(self.method.candidates(units, self.budget)) if legal else ()
            self._candidates[units] = [
                candidate for candidate in found if isinstance(candidate, Part)
            ]
        return self._candidates[units]

    @property
    def over(self) -> bool:
        return self.runs >= self.most or self.idle >= EMPTY

    def judge(self, parts: Sequence[Part]) -> float:
        """Run what was not run yet of a schedule; infinite if it cannot be run, or runs are up."""
        self.draws += 1
        self.idle += 1
        for number, part in enumerate(parts):
            if part in self.costs:
                continue
            if self.runs >= self.most:
                return inf
            self.runs += 1
            self.idle = 0
            try:
                cost = self.method.measure(parts[: number + 1]) or Cost(inf)
                self.costs[part] = cost.cycles
            except SimulationError:
                self.costs[part] = inf
                return inf
        cycles = sum(self.costs[part] for part in parts)
        if cycles < self.cycles:
            self.cycles, self.parts = cycles, tuple(parts)
            self._show()
        return cycles

    def _show(self) -> None:
        """Tell whoever watches what was found."""
        if self._watch is not None:
            seconds, text = time.monotonic() - self._began, self.method.schedule(self.parts)
            bound = min(self._bound, self.cycles)
            counts = {"drawn": self.draws, "simulated": self.runs}
            self._watch(Sight(seconds, self.cycles, bound, text, self.runs, counts))

    def drawn(
        self,
        first: Callable[[Sequence[int]], int],
        cut: Callable[[int], bool],
        which: Callable[[Units, int], int],
    ) -> float:
        """Judge the schedule that some choices make.

        Infinite if it cannot be run, as one of its units has no candidate.

        Parameters
        ----------
        first : callable
            Which of some units is carried out next.
        cut : callable
            Whether there is a cut before the so-manieth unit.
        which : callable
            Which of so many candidates some units have.
        """
        order = self._order(first)
        parts: list[Part] = []
        size, begin = len(order), 0
        while begin < size:
            end = next((e for e in range(begin + 1, size) if cut(e)), size)
            while not (candidates := self.candidates(units := tuple(sorted(order[begin:end])))):
                if end == begin + 1:
                    self.idle += 1
                    return inf
                end -= 1  # no such region
            parts.append(candidates[which(units, len(candidates))])
            begin = end
        return self.judge(parts)

    def _order(self, first: Callable[[Sequence[int]], int]) -> list[int]:
        """Units in an order in which each comes after those that it needs."""
        ideals, ideal, order = self.method.ideals, 0, list[int]()
        while steps := dict(ideals.steps(ideal)):
            unit = first(sorted(steps)) if len(steps) > 1 else next(iter(steps))
            order.append(unit)
            ideal = steps[unit]
        return order

    def result(self) -> DrawnSchedules:
        return DrawnSchedules(self.parts, self.cycles, self.draws, self.runs)


def at_random(
    method: Method,
    budget: Budget,
    runs: int,
    seed: int = 0,
    *,
    time_limit: float = inf,
    watch: Watcher | None = None,
) -> DrawnSchedules:
    """The best of schedules whose cuts and candidates are drawn, each with the same probability.

    Parameters
    ----------
    runs : int
        Runs of parts, after which the best so far is taken.
    time_limit : float
        Seconds after which it is taken, too.
    watch : callable, optional
        Told each time that something better was drawn.
    """
    until = time.monotonic() + time_limit
    space, rng = _Space(method, budget, runs, watch), random.Random(seed)
    while not space.over and time.monotonic() < until:
        space.drawn(rng.choice, lambda _: rng.random() < 0.5, lambda _, count: rng.randrange(count))
    return space.result()


def by_tpe(method: Method, budget: Budget, runs: int, seed: int = 0) -> DrawnSchedules:
    """The best that Optuna's tree-structured Parzen estimator finds, told the cycles of runs.

    Raises
    ------
    FuseloomError
        If Optuna is not installed.
    """
    try:
        import optuna
    except ImportError:
        raise FuseloomError(
            "Optuna is not installed", hint="pip install 'fuseloom[optuna]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    space = _Space(method, budget, runs)
    while not space.over:
        trial: Any = study.ask()

        def cut(ideal: int, trial: Any = trial) -> bool:
            return bool(trial.suggest_categorical(f"cut {ideal}", [False, True]))

        def which(units: Units, count: int, trial: Any = trial) -> int:
            return int(trial.suggest_int(f"candidate {units}", 0, count - 1))

        def first(units: Sequence[int], trial: Any = trial) -> int:
            return min(units, key=lambda unit: trial.suggest_float(f"rank {unit}", 0.0, 1.0))

        cycles = space.drawn(first, cut, which)
        if cycles < inf:
            study.tell(trial, cycles)
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return space.result()
