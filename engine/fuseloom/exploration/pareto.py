"""Schedules that no other beats in cycles, bytes, memory on chip and lanes together.

Cycles, bytes and joules of parts add; of memory on chip, lanes and area a sequence needs the most
that one of its parts does.  All only grow when both sequences are continued alike; so of two
sequences that lead to the same ideal, one that takes no less in any respect is in no better
schedule, and is dropped.  Sets of what is left are joined, from the empty ideal to the full one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fuseloom.results.method import Cost, Part
from fuseloom.results.order_ideals import OrderIdeals, Units

AXES = ("cycles", "bytes", "on_chip", "lanes")
"""The fields of a cost that are compared by default."""
MOST = 400
"""Sequences of the same units that are kept; of more, so many that lie apart."""


@dataclass(frozen=True)
class Front:
    """Schedules none of which is beaten, the fewest cycles first.

    Attributes
    ----------
    costs : tuple of Cost
    parts : tuple of tuple of Part
    thinned : bool
        Whether some were left out, because there are too many.
    """

    costs: tuple[Cost, ...]
    parts: tuple[tuple[Part, ...], ...]
    thinned: bool


@dataclass(frozen=True)
class _Step:
    """A sequence of parts: the last of them, and what is before it."""

    cost: Cost
    part: Part | None = None
    before: _Step | None = None


def front(
    ideals: OrderIdeals,
    parts: Iterable[Part],
    runs: Mapping[Part, Cost],
    most: int = MOST,
    axes: Sequence[str] = AXES,
) -> Front:
    """The front of all schedules that these parts make.

    Parameters
    ----------
    ideals : OrderIdeals
        Of the program.
    runs : mapping
        Of parts that were run what they took; of others, what is expected counts.
    axes : sequence of str
        Fields of :class:`~fuseloom.results.method.Cost` in which one beats another.

    Examples
    --------
    >>> fast, small = Cost(1.0, 9.0), Cost(2.0, 8.0)
    >>> parts = [Part((0,), fast, 0.0), Part((0,), small, 0.0)]
    >>> front(OrderIdeals.chain(1), parts, {}).costs == (fast, small)
    True
    """
    spans: dict[Units, list[_Step]] = {}
    for part in parts:
        step = _Step(runs.get(part, part.expected), part)
        spans.setdefault(part.units, []).append(step)
    starting: list[list[tuple[int, _Step]]] = [[] for _ in range(len(ideals))]
    for units, own in spans.items():
        kept = undominated(own, axes)
        for begin, end in zip(*ideals.edges(units), strict=True):
            starting[begin] += [(int(end), step) for step in kept]
    reached: list[list[_Step]] = [[] for _ in range(len(ideals))]
    reached[0] = [_Step(Cost())]
    thinned = False
    for ideal in range(len(ideals)):
        reached[ideal] = undominated(reached[ideal], axes)
        if len(reached[ideal]) > most:
            reached[ideal], thinned = _apart(reached[ideal], most, axes), True
        for before in reached[ideal]:
            for end, step in starting[ideal]:
                reached[end].append(_Step(before.cost.then(step.cost), step.part, before))
    found = sorted(reached[-1], key=lambda step: step.cost.cycles)
    return Front(tuple(s.cost for s in found), tuple(map(_parts, found)), thinned)


def undominated(steps: Sequence[_Step], axes: Sequence[str]) -> list[_Step]:
    """Those that no other one is as good as in every respect; of equal ones the first."""
    if len(steps) < 2:
        return list(steps)
    numbers = _numbers(steps, axes)
    order = np.lexsort(numbers.T[::-1])
    kept: list[int] = []
    held = np.empty((0, numbers.shape[1]))
    for k in order:
        if not (held <= numbers[k]).all(axis=1).any():
            kept.append(int(k))
            held = np.vstack([held, numbers[k]])
    return [steps[k] for k in kept]


def _numbers(steps: Sequence[_Step], axes: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.array([[getattr(s.cost, axis) for axis in axes] for s in steps], dtype=float)


def _apart(steps: Sequence[_Step], most: int, axes: Sequence[str]) -> list[_Step]:
    """So many that lie apart: the best in each respect, and evenly by cycles."""
    numbers = _numbers(steps, axes)
    best = {int(k) for k in numbers.argmin(axis=0)}
    order = np.argsort(numbers[:, 0], kind="stable")
    evenly = order[np.linspace(0, len(order) - 1, most - len(best)).astype(int)]
    return [steps[k] for k in sorted(best | {int(k) for k in evenly})]


def _parts(step: _Step) -> tuple[Part, ...]:
    found: list[Part] = []
    at: _Step | None = step
    while at is not None and at.part is not None:
        found.append(at.part)
        at = at.before
    return tuple(reversed(found))
