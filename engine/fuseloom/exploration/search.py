"""The search for the schedule with the fewest cycles, with a proof of how good it is.

A schedule is a path through the ideals of a program (:mod:`fuseloom.results.order_ideals`): an
ideal is what has been carried out so far, an edge from one to the next is a part, and cycles add
along the candidate. That is every cut of the program into convex parts without a circle between
them; where statements form a chain, every cut into runs of neighbours.  Two facts make the shortest
path the best schedule:

* **Parts are independent.**  Parts run one after another, and all that one leaves to the next is
  tensors in memory.  Their coordinates are those the program means, whatever parts made them, and
  they are stored in the format the program declares; so what a part takes depends on its own units
  and candidate alone, not on the ideals that it leads from and to: the same units are looked at,
  and run, once, whatever was carried out before.  A candidate that takes no fewer cycles than
  another one of the same units is therefore in no better schedule: exchanging the two gives a
  schedule that takes no more.  The same holds of traffic, which adds, and of lanes and memory on
  chip, of which a sequence needs the maximum.
* **Bounds hold for paths.**  Give every edge a number that no run of it is below: cycles of its
  run where there was one, its lower bound where it was only looked at, and the lower bound of its
  units where candidates are still unseen.  The shortest path in these numbers is no longer than any
  schedule takes: each schedule is a candidate, and no edge of it counts more than its run.  A run
  that was abandoned takes more cycles than it had been given, which is a lower bound like any
  other.

So the search takes the shortest path in these numbers and looks at what is least known on it:
candidates not seen yet are looked at, parts not run yet are run.  Every step raises some edge.
Once the shortest path consists of runs alone, or is within the tolerance of the best schedule run
so far, nothing that is left can be better by more than that.

Between two steps for the bound there is one for the schedule: where two parts of the candidate that
is expected to be the best can be one and have not been tried together yet, they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from fuseloom.errors import CancelledError, FuseloomError, SimulationError
from fuseloom.exploration.certificate import Certificate, Tally
from fuseloom.exploration.found import Best, ExaminedSpan, Sight, Watcher, untried_pairs
from fuseloom.exploration.shortest import shortest
from fuseloom.results.method import (
    SAME_GRAPH,
    Budget,
    Cost,
    Floats,
    Method,
    Part,
    name_of,
)
from fuseloom.results.order_ideals import Units

SOME = 8
"""Candidates of the same units that are looked at in one step."""
FEW = 3
"""Candidates of two parts as one that are looked at to see whether that is worth it."""
SMALL = 64
"""Units of a program of which there is a bound even if time is up before it was asked for."""
PATIENT = 6
"""Looks for a better schedule without any, before there is one for the bound after each."""
PATIENCE = 3
"""Times the time limit that a search goes on without any schedule at all."""
LOOKS = 4
"""Candidates per unit that a search without a schedule examines, however slowly."""

Progress = Callable[[float, str], bool | None]
"""Called with the cycles of the best so far and what is done now; False ends the search."""


class Search:
    """A search under way.

    Parameters
    ----------
    gap : float
        Share of the best schedule's cycles by which a better one may be missed; 0 for none.
    time_limit : float
        Seconds after which the best so far is taken.
    simulate : bool
        Whether parts are run; otherwise what is expected of them counts, and nothing is proved
        beyond the bounds.
    beat : float
        Cycles of a schedule of another space; only what takes fewer is wanted.
    most_runs : int, optional
        Runs of parts after which the best so far is taken.
    watch : callable, optional
        Told each time that the best, or the bound, is better.
    """

    def __init__(
        self,
        method: Method,
        budget: Budget | None = None,
        *,
        gap: float = 0.0,
        time_limit: float = inf,
        simulate: bool = True,
        beat: float = inf,
        most_runs: int | None = None,
        progress: Progress | None = None,
        watch: Watcher | None = None,
    ) -> None:
        self.method = method
        self.budget = budget or Budget()
        self.gap = gap
        self.simulate = simulate
        self.beat = beat
        self.most_runs = most_runs
        self.progress = progress
        self.watch = watch
        self.tally = Tally()
        self.runs: dict[Part, Cost] = {}
        self._began = time.monotonic()
        self._ends = self._began + time_limit
        self._patient = self._began + PATIENCE * time_limit
        self._spans: dict[Units, ExaminedSpan] = {}
        self._failed: set[Part] = set()
        self._above: dict[Part, float] = {}
        self._tried = 0
        self._stale = 0
        self._cancelled = False
        self._bound = 0.0
        self._best: tuple[Part, ...] = ()
        self._cost = Cost(beat)
        self._trace: list[tuple[float, float, float]] = []
        self.ideals = method.ideals
        size = len(self.ideals)
        self._known = np.full((size, size), inf)
        self._hoped = np.full((size, size), inf)
        self._all: Floats = np.zeros((0, 0))
        self._lower_bounds = self._all
        self._near: set[Units] = set()
        self._expected: tuple[float, list[Units]] | None = None

    def run(self) -> Best:
        """Search until nothing better can be left, or time is up.

        Raises
        ------
        FuseloomError
            If there is no schedule at all, or none was found in time.
        """
        for cut in self.method.starts():
            for units in cut:
                span = self._span(units)
                while span is not None and span.open and not span.parts and not self._over():
                    self._look(span, 1)
            expected = self._hopeful()[0]
            if expected < min(self._cost.cycles, self._trace[-1][1] if self._trace else inf):
                self._trace.append((time.monotonic() - self._began, expected, 0.0))
        self._take()
        bound = 0.0
        while not self._over():
            bound = max(bound, shortest(self.ideals, self._least())[0])
            self._note(bound)
            if bound >= self._cost.cycles * (1.0 - self.gap) or bound == inf:
                break
            if not self._step():
                break
        if self._lower_bounds.size or (len(self.method.units) <= SMALL and not self._cancelled):
            bound = max(bound, min(shortest(self.ideals, self._least())[0], self._cost.cycles))
        return self._result(bound)

    # What edges count -----------------------------------------------------------------------

    def _least(self) -> Floats:
        """Per edge, cycles that no run of it is below.

        ``_all`` has what holds of every candidate, ``_lower_bounds`` of those that were not looked
        at.
        """
        if not self._lower_bounds.size:
            lower_bounds = np.full(self._known.shape, inf)
            given = self.method.lower_bounds(self.budget)
            for ideal in range(len(lower_bounds) - 1):
                ends = list(self.ideals.ends(ideal))
                lower_bounds[ideal, ends] = given[ideal, ends]
            self._all, self._lower_bounds = lower_bounds, lower_bounds.copy()
            for span in self._spans.values():
                self._update(span)
        found: Floats = np.minimum(self._lower_bounds, self._known)
        return found

    def _of(self, part: Part) -> tuple[float, float]:
        """Cycles that no run of a part is below, and those that are expected."""
        if part in self._failed:
            return inf, inf
        if part in self.runs:
            return self.runs[part].cycles, self.runs[part].cycles
        above = self._above.get(part, 0.0)
        lower_bound = float(self._all[self._edge(part.units)]) if self._all.size else 0.0
        return max(part.least, above, lower_bound), max(part.expected.cycles, above)

    def _update(self, span: ExaminedSpan) -> None:
        """Note what its parts take at least, and are expected to."""
        numbers = [self._of(part) for part in span.parts]
        at = span.at
        if self._lower_bounds.size:
            self._lower_bounds[at] = np.maximum(
                self._lower_bounds[at], span.least if span.open else inf
            )
        self._known[at] = min((least for least, _ in numbers), default=inf)
        self._hoped[at] = min((hoped for _, hoped in numbers), default=inf)
        self._expected = None

    def _hopeful(self) -> tuple[float, list[Part]]:
        """The parts of the path that is expected to be the best."""
        if self._expected is None:
            self._expected = shortest(self.ideals, self._hoped)
        cycles, path = self._expected
        parts = [min(self._spans[at].parts, key=lambda p: self._of(p)[1]) for at in path]
        return cycles, parts

    # Steps ----------------------------------------------------------------------------------

    def _span(self, units: Units) -> ExaminedSpan | None:
        """A span, made when it is looked at first; None where there is none."""
        if not self.ideals.is_part(units):
            return None
        if units not in self._spans:
            candidates = self.method.candidates(units, self.budget)
            self._spans[units] = ExaminedSpan(units, self.ideals.edges(units), candidates)
        return self._spans[units]

    def _step(self) -> bool:
        """Look at what is least known on the two paths; False if there is nothing to do."""
        before, parts = self._hopeful()
        done = self._better(parts)
        self._take()
        self._stale = 0 if self._hopeful()[0] < before else self._stale + 1
        if done and self._stale < PATIENT:
            return True
        _, path = shortest(self.ideals, self._least())
        unseen = [units for units in path if self._low(units) < self._known[self._edge(units)]]
        if unknown := [units for units in unseen if units not in self._near]:
            for units in unknown:
                self._near.add(units)
                at, closer = self.ideals.edges(units), self.method.lower_bound(units, self.budget)
                for lower_bounds in (self._all, self._lower_bounds):
                    lower_bounds[at] = np.maximum(lower_bounds[at], closer)
                if units in self._spans:
                    self._update(self._spans[units])
            return True
        if unseen:
            span = self._span(max(unseen, key=self._low))
            assert span is not None
            self._look(span)
            self._take()
            return True
        parts = [min(self._spans[at].parts, key=lambda p: self._of(p)[0]) for at in path]
        if not self.simulate:
            return done
        before = self._tried
        if self._run(parts):
            self._adopt(parts)
        self._take()
        return done or self._tried > before

    def _edge(self, units: Units) -> tuple[int, int]:
        """One of the edges of a part; what is known of it is the same for all."""
        begin, end = self.ideals.edges(units)
        return int(begin[0]), int(end[0])

    def _low(self, units: Units) -> float:
        """Cycles that no candidate of these units is below that has not been looked at."""
        return float(self._lower_bounds[self._edge(units)])

    def _better(self, parts: Sequence[Part]) -> bool:
        """Look at two parts of a candidate as one, or at more candidates of one part.

        Where most may be gained by the next look: cycles count, divided by the looks before.
        """
        untried = [*untried_pairs(self.ideals, parts, self._spans)]
        for part in parts:
            span = self._spans[part.units]
            if span.open and span.least < part.expected.cycles:
                untried.append((part.expected.cycles / (1 + span.seen / FEW), part.units))
        if not untried:
            return False
        found = self._span(max(untried)[1])
        assert found is not None
        self._look(found, FEW)
        return True

    def _look(self, span: ExaminedSpan, number: int = SOME) -> None:
        """Look at some more candidates of a span's units."""
        if span.candidates is None:
            return
        self._tell(name_of(self.method.units, span.units))
        for _ in range(number):
            candidate = next(span.candidates, None)
            if candidate is None:
                span.turn()
                break
            span.note(candidate, self.tally)
            if self._over():
                break
        self._update(span)

    def _run(self, parts: Sequence[Part]) -> bool:
        """Run a path; whether all of it could be run, and as far as it can be the best."""
        for number, part in enumerate(parts):
            if part in self.runs:
                continue
            behind = sum(self._of(p)[0] for p in parts[number + 1 :])
            done = sum(self.runs[p].cycles for p in parts[:number])
            within = self._cost.cycles - done - behind
            if self._of(part)[0] >= within:  # runs so far are above what was expected
                return False
            if self._best and self._over():
                return False
            self._tell(f"simulating {part.text}")
            span = self._spans[part.units]
            self._tried += 1
            try:
                cost = self.method.measure(parts[: number + 1], within)
            except SimulationError as reason:
                self._failed.add(part)
                self._update(span)
                self.tally.refuse("simulation", str(reason))
                return False
            if cost is None:
                self._above[part] = within
                self._update(span)
                return False
            self.runs[part] = cost
            self._update(span)
        return True

    def _take(self) -> None:
        """Take over the path that is expected to be the best, run if there are runs."""
        cycles, parts = self._hopeful()
        if self._cancelled or not parts or cycles >= self._cost.cycles:
            return
        if not self.simulate or self._run(parts):
            self._adopt(parts)

    def _adopt(self, parts: Sequence[Part]) -> None:
        """Take over a path, if it is better than what there is."""
        cost = Cost()
        for part in parts:
            cost = cost.then(self.runs[part] if self.simulate else part.expected)
        if cost.cycles < self._cost.cycles:
            self._best, self._cost = tuple(parts), cost
            self._show()

    def _ordered(self) -> tuple[Part, ...]:
        """The best so far, in an order in which it can be carried out."""
        of_units = {part.units: part for part in self._best}
        return tuple(of_units[units] for units in self.ideals.sorted(of_units))

    # Ends -----------------------------------------------------------------------------------

    def _over(self) -> bool:
        """Return whether to stop; a slow machine without a schedule is given more time."""
        if self._cancelled:
            return True
        now = time.monotonic()
        if not self._best and self.beat == inf:
            return now > self._patient and self.tally.met >= LOOKS * len(self.method.units)
        enough = self.most_runs is not None and len(self.runs) >= self.most_runs
        return enough or now > self._ends

    def _tell(self, text: str) -> None:
        if self.progress is not None and self.progress(self._cost.cycles, text) is False:
            self._cancelled = True

    def _note(self, bound: float) -> None:
        now = (self._cost.cycles, bound)
        if not self._trace or self._trace[-1][1:] != now:
            self._trace.append((time.monotonic() - self._began, *now))
            self._bound = bound
            self._show()

    def _show(self) -> None:
        """Tell whoever watches how far this is."""
        if self.watch is not None:
            seconds, best = time.monotonic() - self._began, self._ordered()
            text = self.method.schedule(best) if best else ""
            bound = min(self._bound, self._cost.cycles)
            cycles, runs = self._cost.cycles, len(self.runs)
            self.watch(Sight(seconds, cycles, bound, text, runs, self._counts()))

    def _result(self, bound: float) -> Best:
        if not self._best and self.beat == inf:
            if self._cancelled:
                raise CancelledError("the search was cancelled before it had a schedule")
            told = {r: text for r, text in self.tally.reasons.items() if r != SAME_GRAPH}
            reasons = "; ".join(f"{rule}: {text}" for rule, text in told.items())
            raise FuseloomError(
                "no schedule was found" + (f" ({reasons})" if reasons else ""),
                hint="a larger budget, or more time",
            )
        cost = self._cost.cycles
        certificate = Certificate(
            cost,
            min(bound, cost),
            self.simulate,
            bound >= cost or not self._unseen(),
            self._counts(),
            tuple(self.method.unsearched),
        )
        best = self._ordered()
        return Best(
            self.method.schedule(best) if best else "",
            best,
            self._cost,
            certificate,
            tuple(self._spans.values()),
            dict(self.tally.reasons),
            dict(self.runs),
            tuple(self._trace),
        )

    def _unseen(self) -> int:
        """Parts of which not every candidate was examined."""
        return self.ideals.number_of_parts - sum(not span.open for span in self._spans.values())

    def _counts(self) -> dict[str, int]:
        counts = dict(self.tally.refused)
        parts = [part for span in self._spans.values() for part in span.parts]
        counts["looked at"] = self.tally.met
        counts["simulated"] = len(self.runs)
        counts["abandoned"] = sum(part not in self.runs for part in self._above)
        counts["bounded away"] = sum(
            p not in self.runs and p not in self._failed and p not in self._above
            and p not in self._best for p in parts
        )  # fmt: skip
        counts["orders left for later"] = sum(len(s.later) for s in self._spans.values())
        counts["parts with candidates not looked at"] = self._unseen()
        return counts
