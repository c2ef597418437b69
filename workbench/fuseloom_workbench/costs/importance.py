"""The importance of each choice for the cycles: one choice at a time, adjusted for chance.

Runs are grouped by the value of a choice.  What the groups explain of the variance of log cycles
is told as epsilon squared (T. L. Kelley, "An unbiased correlation ratio measure", PNAS 21, 1935):
one minus the ratio of the mean squares within the groups to that of all runs.  A choice that has
nothing to do with the cycles gets 0 on average, however many values it has; shares of several
choices do not add up.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from fuseloom.results.declarations import Record

LEAST = 8
"""Runs below which nothing is said."""


@dataclass(frozen=True)
class ChoiceValue(Record):
    """One value of a choice: how many runs have it, and the geometric mean of their cycles."""

    text: str
    runs: int
    cycles: float


@dataclass(frozen=True)
class ChoiceImportance(Record):
    """The importance of a choice.

    Attributes
    ----------
    choice : str
        Its name.
    share : float
        Of the variance of log cycles, 0 to 1.
    runs : int
        How many it rests on: those in which the choice is there.
    values : tuple of ChoiceValue
        The fastest first.
    """

    choice: str
    share: float
    runs: int
    values: tuple[ChoiceValue, ...]


def importance(runs: Iterable[tuple[float, Mapping[str, str]]]) -> list[ChoiceImportance]:
    """Shares of choices, the largest first; empty for fewer than :data:`LEAST` runs.

    Left out is a choice of which there is one value only, or which fewer than :data:`LEAST` runs
    have, or whose values have fewer than two runs each on average, or without two values that have
    two runs each.

    Parameters
    ----------
    runs : iterable of (float, mapping)
        Cycles, and values of choices by name; runs of no cycles are left out.
    """
    logs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    counted = [(math.log(cycles), chosen) for cycles, chosen in runs if cycles > 0]
    if len(counted) < LEAST:
        return []
    for log, chosen in counted:
        for choice, value in chosen.items():
            logs[choice][value].append(log)
    shares = [share for choice, groups in logs.items() if (share := _share(choice, groups))]
    return sorted(shares, key=lambda s: (-s.share, s.choice))


def _share(choice: str, groups: Mapping[str, Sequence[float]]) -> ChoiceImportance | None:
    every = [log for group in groups.values() for log in group]
    runs, values = len(every), len(groups)
    told = sum(len(group) > 1 for group in groups.values())
    if runs < LEAST or told < 2 or runs < 2 * values:
        return None
    middle = fmean(every)
    total = sum((log - middle) ** 2 for log in every)
    within = sum((log - fmean(group)) ** 2 for group in groups.values() for log in group)
    explained = 1.0 - (within / (runs - values)) / (total / (runs - 1)) if total > 1e-12 else 0.0
    found = [
        ChoiceValue(text, len(group), math.exp(fmean(group))) for text, group in groups.items()
    ]
    ordered = tuple(sorted(found, key=lambda v: (v.cycles, v.text)))
    return ChoiceImportance(choice, min(max(explained, 0.0), 1.0), runs, ordered)
