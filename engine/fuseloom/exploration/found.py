"""The results of a search: candidates that it has examined, and the best schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from fuseloom.exploration.certificate import Certificate, Tally
from fuseloom.results.method import Cost, Deferred, Part, Refusal
from fuseloom.results.order_ideals import Ints, OrderIdeals, Units


@dataclass(eq=False)
class ExaminedSpan:
    """Some units, and the candidates for executing them as one that have been looked at.

    Attributes
    ----------
    at : pair of ndarray
        The ideals from which a part of these units leads on, and where to.
    """

    units: Units
    at: tuple[Ints, Ints]
    candidates: Iterator[Part | Refusal | Deferred] | None
    parts: list[Part] = field(default_factory=list)
    later: list[Deferred] = field(default_factory=list)
    least: float = 0.0
    seen: int = 0

    @property
    def open(self) -> bool:
        """True if there may be candidates that have not been examined."""
        return self.candidates is not None

    def note(self, candidate: Part | Refusal | Deferred, tally: Tally) -> None:
        """Keep a candidate that was looked at, or count its refusal."""
        tally.met += 1
        self.seen += 1
        match candidate:
            case Refusal(rule=rule, reason=reason):
                tally.refuse(rule, reason)
            case Part():
                self.parts.append(candidate)
            case Deferred():
                self.later.append(candidate)

    def turn(self) -> None:
        """Go on with those deferred candidates that have the lowest bound, if there are any."""
        self.candidates = None
        if self.later:
            lowest = min(self.later, key=lambda candidates: candidates.least)
            self.later.remove(lowest)
            self.least = max(self.least, lowest.least)
            self.candidates = lowest.open()


def untried_pairs(
    ideals: OrderIdeals, parts: Sequence[Part], spans: Container[Units]
) -> Iterator[tuple[float, Units]]:
    """Pairs of a schedule's parts that can be one and were not looked at as one.

    Yields
    ------
    (cycles, units)
        Cycles expected of the smaller part, and the units of both.
    """
    for a, b in ideals.joinable([part.units for part in parts]):
        both = tuple(sorted(parts[a].units + parts[b].units))
        if both not in spans and ideals.is_part(both):
            yield min(parts[a].expected.cycles, parts[b].expected.cycles), both


@dataclass(frozen=True)
class Sight:
    """The progress of a search, reported each time that the best, or the bound, improves.

    Attributes
    ----------
    seconds : float
        Since the search began.
    cycles : float
        Of the best schedule run so far; infinite before the first.
    bound : float
        Cycles that no schedule of the space is below, as far as that is known; 0 before.
    schedule : str
        The text of the best so far; empty before the first.
    runs : int
        Parts that were simulated.
    counts : mapping of str to int
        Candidates by what became of them, as :class:`fuseloom.exploration.certificate.Certificate`
        has them.
    """

    seconds: float
    cycles: float
    bound: float
    schedule: str
    runs: int
    counts: Mapping[str, int] = field(default_factory=dict, repr=False)


Watcher = Callable[[Sight], None]
"""Called with what a search has found so far."""


@dataclass(frozen=True)
class Best:
    """The best schedule that was found.

    Attributes
    ----------
    schedule : str
        Its text.
    parts : tuple of Part
        None if no schedule is better than the one that was to be beaten.
    cost : Cost
        Of its run, if it was run.
    runs : dict
        Of each part that was run what its run took.
    trace : tuple of (float, float, float)
        Each time something better or a better bound was found: seconds since the start, cycles of
        the best so far (expected ones before anything was run), and the bound.
    """

    schedule: str
    parts: tuple[Part, ...]
    cost: Cost
    certificate: Certificate
    spans: tuple[ExaminedSpan, ...] = field(repr=False)
    refusals: dict[str, str] = field(default_factory=dict, repr=False)
    runs: dict[Part, Cost] = field(default_factory=dict, repr=False)
    trace: tuple[tuple[float, float, float], ...] = field(default=(), repr=False)

    def rivals(self, units: Units) -> list[Part]:
        """The candidates of these units that were looked at, the fewest expected cycles first."""
        found = [part for span in self.spans if span.units == units for part in span.parts]
        return sorted(found, key=lambda part: part.expected.cycles)


class SpacesWatcher:
    """Reports the searches of several spaces, one after another, as one search.

    Parameters
    ----------
    watch : callable, optional
        Told each time that the best, or its bound, is better.
    """

    def __init__(self, watch: Watcher | None) -> None:
        self._watch = watch
        self._spaces: list[Sight] = []
        self._more = 0

    def begin(self, more: int) -> Watcher | None:
        """Return the callback for the search of the next space; ``more`` spaces follow it."""
        self._spaces.append(Sight(0.0, inf, 0.0, "", 0))
        self._more = more
        return None if self._watch is None else self._see

    def _see(self, sight: Sight) -> None:
        assert self._watch is not None
        self._spaces[-1] = sight
        every = self._spaces
        best = min(every, key=lambda s: s.cycles)
        counts: Counter[str] = Counter()
        for one in every:
            counts.update(one.counts)
        bound = 0.0 if self._more else min(s.bound for s in every)
        seconds, runs = sum(s.seconds for s in every), sum(s.runs for s in every)
        self._watch(Sight(seconds, best.cycles, bound, best.schedule, runs, counts))
