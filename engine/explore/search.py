"""The search for the schedule with the fewest cycles, with a proof of how good it is.

A schedule is a path through the chain of a program's units: node ``p`` is the place before unit
``p``, an edge is a part, and cycles add along the path.  Two facts make the path with the fewest
cycles the best schedule:

* **Parts are independent.**  Parts run one after another, and all that one leaves to the next is
  tensors in memory.  Their coordinates are those the program means, whatever parts made them, and
  they are stored in the format the program declares; so what a part takes depends on its own units
  and way alone.  A way that takes no fewer cycles than another one of the same units is therefore
  in no better schedule: exchanging the two gives a schedule that takes no more.  The same holds of
  traffic, which adds, and of lanes and memory on chip, of which a sequence needs the maximum.
* **Bounds hold for paths.**  Give every edge a number that no run of it is below: cycles of its
  run where there was one, its lower bound where it was only looked at, and the floor of its units
  where ways are still unseen.  The shortest path in these numbers is no longer than any schedule
  takes: each schedule is a path, and no edge of it counts more than its run.

So the search takes the shortest path in these numbers and looks at what is least known on it:
ways not seen yet are looked at, parts not run yet are run.  Every step raises some edge.  Once the
shortest path consists of runs alone, or is within the tolerance of the best schedule run so far,
nothing that is left can be better by more than that.

Between two steps for the bound there is one for the schedule: where neighbouring parts of the
path that is expected to be the best have not been tried together yet, they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from math import inf

from engine.errors import CancelledError, FuseloomError, SimulationError
from engine.explore.certificate import Certificate, Tally
from engine.results.method import Budget, Cost, Method, Part, Refusal

SOME = 8
"""Ways of the same units that are looked at in one step."""

PATIENCE = 3
"""Times the time limit that a search goes on without any schedule at all."""

Progress = Callable[[float, str], bool | None]
"""Called with the cycles of the best so far and what is done now; False ends the search."""


@dataclass(eq=False)
class Span:
    """Consecutive units, and the ways of executing them as one that have been looked at."""

    begin: int
    end: int
    floor: float
    ways: Iterator[Part | Refusal] | None
    parts: list[Part] = field(default_factory=list)
    seen: int = 0

    @property
    def open(self) -> bool:
        """Whether there may be ways that have not been looked at."""
        return self.ways is not None


@dataclass(frozen=True)
class Best:
    """The best schedule that was found.

    Attributes
    ----------
    schedule : str
        Its text.
    parts : tuple of Part
    cost : Cost
        Of its run, if it was run.
    trace : tuple of (float, float, float)
        Each time something better or a better bound was found: seconds since the start, cycles of
        the best so far, and the bound.
    """

    schedule: str
    parts: tuple[Part, ...]
    cost: Cost
    certificate: Certificate
    spans: tuple[Span, ...] = field(repr=False)
    refusals: dict[str, str] = field(default_factory=dict, repr=False)
    trace: tuple[tuple[float, float, float], ...] = field(default=(), repr=False)

    def rivals(self, begin: int, end: int) -> list[Part]:
        """The ways of these units that were looked at, the fewest expected cycles first."""
        found = [p for s in self.spans if (s.begin, s.end) == (begin, end) for p in s.parts]
        return sorted(found, key=lambda part: part.expected.cycles)


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
    """

    def __init__(
        self,
        method: Method,
        budget: Budget | None = None,
        *,
        gap: float = 0.0,
        time_limit: float = inf,
        simulate: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self.method = method
        self.budget = budget or Budget()
        self.gap = gap
        self.simulate = simulate
        self.progress = progress
        self.tally = Tally()
        self.runs: dict[Part, Cost] = {}
        self._began = time.monotonic()
        self._ends = self._began + time_limit
        self._patient = self._began + PATIENCE * time_limit
        self._spans: dict[tuple[int, int], Span] = {}
        self._failed: set[Part] = set()
        self._cancelled = False
        self._best: tuple[Part, ...] = ()
        self._cost = Cost(inf)
        self._trace: list[tuple[float, float, float]] = []
        size = len(method.units)
        for begin in range(size):
            for end in method.ends(begin):
                ways = method.ways(begin, end, self.budget)
                self._spans[begin, end] = Span(begin, end, method.floor(begin, end), ways)
        self._from = [
            [span for span in self._spans.values() if span.begin == p] for p in range(size)
        ]

    def run(self) -> Best:
        """Search until nothing better can be left, or time is up.

        Raises
        ------
        FuseloomError
            If there is no schedule at all, or none was found in time.
        """
        for cut in self.method.starts():
            for begin, end in zip((0, *cut), cut, strict=False):
                span = self._spans.get((begin, end))
                while span is not None and span.open and not span.parts and not self._over():
                    self._look(span, 1)
        self._take()
        bound = 0.0
        while not self._over():
            bound = max(bound, self._path(self._least)[0])
            self._note(bound)
            if bound >= self._cost.cycles * (1.0 - self.gap) or bound == inf:
                break
            if not self._step():
                break
        return self._result(max(bound, min(self._path(self._least)[0], self._cost.cycles)))

    # What edges count -----------------------------------------------------------------------

    def _least(self, edge: Part | Span) -> float:
        """Cycles that no run of an edge is below."""
        if isinstance(edge, Span):
            return edge.floor if edge.open else inf
        if edge in self._failed:
            return inf
        return self.runs[edge].cycles if edge in self.runs else edge.least

    def _expected(self, edge: Part | Span) -> float:
        """Cycles that an edge is expected to take; what was not looked at does not count."""
        if isinstance(edge, Span) or edge in self._failed:
            return inf
        return self.runs.get(edge, edge.expected).cycles

    def _path(self, count: Callable[[Part | Span], float]) -> tuple[float, list[Part | Span]]:
        """The shortest path from begin to end, and its length."""
        size = len(self.method.units)
        length = [inf] * size + [0.0]
        first: list[Part | Span | None] = [None] * size
        for begin in range(size - 1, -1, -1):
            for span in self._from[begin]:
                edges: list[Part | Span] = [span, *span.parts]
                for edge in edges:
                    total = count(edge) + length[span.end]
                    if total < length[begin]:
                        length[begin], first[begin] = total, edge
        path: list[Part | Span] = []
        place = 0
        while place < size:
            chosen = first[place]
            if chosen is None:
                return inf, []
            path.append(chosen)
            place = chosen.end
        return length[0], path

    # Steps ----------------------------------------------------------------------------------

    def _step(self) -> bool:
        """Look at what is least known on the two paths; False if there is nothing to do."""
        _, hopeful = self._path(self._expected)
        done = self._better([part for part in hopeful if isinstance(part, Part)])
        self._take()
        _, path = self._path(self._least)
        unseen = [edge for edge in path if isinstance(edge, Span)]
        if unseen:
            self._look(max(unseen, key=lambda span: (span.end - span.begin, -span.begin)))
            self._take()
            return True
        parts = [edge for edge in path if isinstance(edge, Part)]
        if not self.simulate:
            return done
        before = len(self.runs) + len(self._failed)
        if self._run(parts):
            self._adopt(parts)
        self._take()
        return done or len(self.runs) + len(self._failed) > before

    def _better(self, parts: Sequence[Part]) -> bool:
        """Look at two parts of a path as one, and at more ways of its parts, costly ones first."""
        pairs = [
            (a.expected.cycles + b.expected.cycles, self._spans.get((a.begin, b.end)))
            for a, b in pairwise(parts)
        ]
        own = [(p.expected.cycles, self._spans[p.begin, p.end]) for p in parts]
        untried = [(c, s) for c, s in pairs if s is not None and s.open and not s.seen]
        untried = untried or [(c, s) for c, s in own if s.open]
        if not untried:
            return False
        self._look(max(untried, key=lambda pair: pair[0])[1])
        return True

    def _look(self, span: Span, number: int = SOME) -> None:
        """Look at some more ways of a span's units."""
        if span.ways is None:
            return
        self._tell(f"{self.method.units[span.begin]} to {self.method.units[span.end - 1]}")
        found = 0
        for way in islice(span.ways, number):
            found += 1
            self.tally.met += 1
            match way:
                case Refusal(rule=rule, reason=reason):
                    self.tally.refuse(rule, reason)
                case Part():
                    span.parts.append(way)
            span.seen += 1
            if self._over():
                return
        if found < number:
            span.ways = None

    def _run(self, parts: Sequence[Part]) -> bool:
        """Run a path; whether all of it could be run, and as far as it can be the best."""
        for number, part in enumerate(parts):
            if part in self.runs:
                continue
            left = sum(self._least(p) for p in parts[number:])
            done = sum(self.runs[p].cycles for p in parts[:number])
            if done + left >= self._cost.cycles:  # runs so far are above what was expected
                return False
            self._tell(f"simulating {part.text}")
            try:
                self.runs[part] = self.method.measure(parts[: number + 1])
            except SimulationError as reason:
                self._failed.add(part)
                self.tally.refuse("simulation", str(reason))
                return False
        return True

    def _take(self) -> None:
        """Take over the path that is expected to be the best, run if there are runs."""
        cycles, path = self._path(self._expected)
        parts = tuple(part for part in path if isinstance(part, Part))
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

    # Ends -----------------------------------------------------------------------------------

    def _over(self) -> bool:
        ends = self._ends if self._best else self._patient
        return self._cancelled or time.monotonic() > ends

    def _tell(self, text: str) -> None:
        if self.progress is not None and self.progress(self._cost.cycles, text) is False:
            self._cancelled = True

    def _note(self, bound: float) -> None:
        now = (self._cost.cycles, bound)
        if not self._trace or self._trace[-1][1:] != now:
            self._trace.append((time.monotonic() - self._began, *now))

    def _result(self, bound: float) -> Best:
        if not self._best:
            if self._cancelled:
                raise CancelledError("the search was cancelled before it had a schedule")
            reasons = "; ".join(f"{rule}: {text}" for rule, text in self.tally.reasons.items())
            raise FuseloomError(
                "no schedule was found" + (f" ({reasons})" if reasons else ""),
                hint="a larger budget, or more time",
            )
        counts = dict(self.tally.refused)
        parts = [part for span in self._spans.values() for part in span.parts]
        cost = self._cost.cycles
        counts["looked at"] = self.tally.met
        counts["simulated"] = len(self.runs)
        counts["bounded away"] = sum(
            p not in self.runs and p not in self._failed and p not in self._best for p in parts
        )
        unseen = [span for span in self._spans.values() if span.open]
        counts["parts with ways not looked at"] = len(unseen)
        certificate = Certificate(
            cost, min(bound, cost), self.simulate, not unseen or bound >= cost, counts
        )
        return Best(
            self.method.schedule(self._best),
            self._best,
            self._cost,
            certificate,
            tuple(self._spans.values()),
            dict(self.tally.reasons),
            tuple(self._trace),
        )
