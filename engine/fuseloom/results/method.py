"""The interface of methods to exploration: a program's cuts, the cost of each part, its runs.

A program is a number of units, some of which need others.  A *part* is some units that are executed
as one, in one candidate.  A schedule is a sequence of parts that has every unit once, each after
what it needs: a path through the *ideals* of the program (:mod:`fuseloom.results.order_ideals`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fuseloom.results.order_ideals import OrderIdeals, Units

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cost:
    """The cost of a part, or of a sequence of parts.

    Attributes
    ----------
    cycles : float
        Clock cycles, of parts one after another.
    bytes : float
        Bytes to and from memory.
    on_chip : float
        Bytes held on the chip at once.
    lanes : int
        The most copies of a node side by side.
    energy : float
        Joules of all actions.
    area : float
        Lookup tables of the hardware, which is configured for one part after another; 0 where it
        was not asked for.
    """

    cycles: float = 0.0
    bytes: float = 0.0
    on_chip: float = 0.0
    lanes: int = 1
    energy: float = 0.0
    area: float = 0.0

    def then(self, other: Cost) -> Cost:
        """This, and the other after it: time, traffic and energy add, what is held is shared."""
        return Cost(
            self.cycles + other.cycles,
            self.bytes + other.bytes,
            max(self.on_chip, other.on_chip),
            max(self.lanes, other.lanes),
            self.energy + other.energy,
            max(self.area, other.area),
        )

    def no_worse(self, other: Cost) -> bool:
        """Return whether this cost is no more than the other, in every respect."""
        return (
            self.cycles <= other.cycles
            and self.bytes <= other.bytes
            and self.on_chip <= other.on_chip
            and self.lanes <= other.lanes
            and self.energy <= other.energy
            and self.area <= other.area
        )


@dataclass(frozen=True)
class Budget:
    """The limits of a part; None is no limit.

    Attributes
    ----------
    lanes : int
        Lanes side by side.
    on_chip : float, optional
        Bytes on the chip, as estimated.
    copies : int
        Inputs that may be stored a second time, in another mode order.
    area : float, optional
        Lookup tables of a part's hardware.
    """

    lanes: int = 1
    on_chip: float | None = None
    copies: int = 0
    area: float | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """Some units with one candidate.

    Attributes
    ----------
    units : tuple of int
        Their positions in the program, ascending.
    least : float
        Cycles that no run of it is below.
    text : str
        The candidate, for people.
    choice : object
        Whatever the method needs to run it.
    least_energy : float
        Joules that no run of it is below.
    """

    units: Units
    expected: Cost
    least: float
    text: str = ""
    choice: Any = field(default=None, repr=False)
    least_energy: float = 0.0


SAME_GRAPH = "same graph"
"""The rule by which a candidate is left out that others are, too: nothing is lost by that."""


@dataclass(frozen=True)
class Refusal:
    """A candidate that there is not, and why.

    Attributes
    ----------
    rule : str
        In a word or two, the same for all that fall by it: ``cycle``, ``on-chip``.
    """

    rule: str
    reason: str


@dataclass(frozen=True)
class Deferred:
    """Candidates that have a high bound together, to be looked at when that matters.

    Attributes
    ----------
    least : float
        Cycles that no run of any of them is below.
    open : callable
        Looks at them.
    """

    least: float
    open: Callable[[], Iterator[Part | Refusal]]


def every(candidates: Iterable[Part | Refusal | Deferred]) -> Iterator[Part | Refusal]:
    """All candidates, deferred ones among them."""
    for candidate in candidates:
        if isinstance(candidate, Deferred):
            yield from candidate.open()
        else:
            yield candidate


class Method(Protocol):
    """A method of executing programs, as exploration sees it."""

    @property
    def units(self) -> Sequence[str]:
        """Names of the units, in program order."""

    @property
    def ideals(self) -> OrderIdeals:
        """Between which ideals parts lead."""

    @property
    def unsearched(self) -> Sequence[str]:
        """The alternatives besides the listed candidates, in words."""

    def lower_bounds(self, budget: Budget) -> Floats:
        """Cycles that no part is below, known without looking at any.

        Returns
        -------
        ndarray of shape (p, p)
            ``[ideal, end]`` is that of the part between these ideals; what is no part does not
            matter.
        """

    def lower_bound(self, units: Units, budget: Budget) -> float:
        """Cycles that no part of these units is below, looked at more closely than all at once."""

    def candidates(self, units: Units, budget: Budget) -> Iterator[Part | Refusal | Deferred]:
        """Every candidate of executing these units as one, the most promising first."""

    def starts(self) -> Sequence[Sequence[Units]]:
        """Cuts worth looking at first: of each, the units of its parts."""

    def measure(self, parts: Sequence[Part], within: float = inf) -> Cost | None:
        """Run the last of these parts, after those before it, and return its cost.

        None if it takes more cycles than ``within``: a run may be abandoned once it does.

        Raises
        ------
        FuseloomError
            If it cannot be run.
        """

    def schedule(self, parts: Sequence[Part]) -> str:
        """The schedule's text, which gives these parts whatever the data."""


def name_of(names: Sequence[str], units: Units) -> str:
    """Return the name of some units: runs of neighbours by their ends.

    Examples
    --------
    >>> name_of("ABCDE", (0, 1, 2, 4))
    'A..C + E'
    """
    runs: list[list[int]] = []
    for unit in units:
        if not runs or unit != runs[-1][-1] + 1:
            runs.append([])
        runs[-1].append(unit)
    return " + ".join(
        names[run[0]] if len(run) == 1 else f"{names[run[0]]}..{names[run[-1]]}" for run in runs
    )
