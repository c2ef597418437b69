"""The difference of two runs: cycles by statement, by node and by cause, summing exactly."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from fuseloom.dataflow.why.attribution import (
    UNEXPLAINED,
    AttributedCycles,
    AttributionLevel,
    CauseCycles,
)
from fuseloom.results.declarations import Record


@dataclass(frozen=True)
class Change(Record):
    """Cycles of one statement, node or cause in two runs.

    Attributes
    ----------
    name : str
    within : str
        The statement that a node belongs to; empty otherwise.
    a, b : int or None
        Cycles in each run; None where it has no such part on its path.
    """

    name: str
    within: str
    a: int | None
    b: int | None

    @property
    def more(self) -> int:
        """Cycles that the second run takes more."""
        return (self.b or 0) - (self.a or 0)

    derived = ("more",)


@dataclass(frozen=True)
class Difference(Record):
    """The extra cycles of a second run over a first one; each of the three sums to ``more``."""

    a: int
    b: int
    statements: tuple[Change, ...]
    nodes: tuple[Change, ...]
    causes: tuple[Change, ...]

    @property
    def more(self) -> int:
        """Cycles that the second run takes more."""
        return self.b - self.a

    derived = ("more",)


def difference(a: AttributedCycles, b: AttributedCycles) -> Difference:
    """Return the extra cycles of run ``b`` over run ``a``, by their attributions.

    Statements go by the tensor that they assign, nodes by their statement, index and label, causes
    by their name; so runs of other schedules of a program can be compared, too.  What only one of
    them has counts whole.  Rows are those whose cycles differ, the largest difference first, and
    then the others.
    """

    def by(
        key: Callable[[CauseCycles], Hashable], name: Callable[[CauseCycles], tuple[str, str]]
    ) -> Any:
        return _changes(a, b, key, name)

    return Difference(
        a.cycles,
        b.cycles,
        by(
            lambda x: x.name(AttributionLevel.STATEMENT),
            lambda x: (x.name(AttributionLevel.STATEMENT), ""),
        ),
        by(
            lambda x: tuple(
                x.name(y)
                for y in (AttributionLevel.STATEMENT, AttributionLevel.INDEX, AttributionLevel.NODE)
            ),
            lambda x: (x.name(AttributionLevel.NODE), x.names.get(AttributionLevel.STATEMENT, "")),
        ),
        by(lambda x: _cause(x), lambda x: (_cause(x), "")),
    )


def _cause(leaf: CauseCycles) -> str:
    return leaf.names.get(AttributionLevel.CAUSE, UNEXPLAINED)


def _changes(
    a: AttributedCycles,
    b: AttributedCycles,
    key: Callable[[CauseCycles], Hashable],
    name: Callable[[CauseCycles], tuple[str, str]],
) -> tuple[Change, ...]:
    cycles: tuple[dict[Hashable, int], dict[Hashable, int]] = {}, {}
    names: dict[Hashable, tuple[str, str]] = {}
    for mine, run in zip(cycles, (a, b), strict=True):
        for leaf in run.leaves():
            own = key(leaf)
            names.setdefault(own, name(leaf))
            mine[own] = mine.get(own, 0) + leaf.cycles
    found = [Change(*names[k], cycles[0].get(k), cycles[1].get(k)) for k in names]
    shown = [c for c in found if c.a or c.b]
    return tuple(sorted(shown, key=lambda c: (-abs(c.more), -max(c.a or 0, c.b or 0))))
