"""Dataflow orders of a region, one per nest class, by estimated cycles (``fusion.md`` §5.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from engine.dataflow.compiler import compile_region
from engine.dataflow.cost.estimate import Known, estimate_region
from engine.dataflow.fusion.classes import NestClass, nest_classes
from engine.dataflow.fusion.region import FusedRegion
from engine.errors import FuseloomError, OrderError


@dataclass(frozen=True)
class RankedOrder:
    """An order that stands for its nest class.

    Attributes
    ----------
    stands_for : NestClass
        The orders that give the same graph.
    cycles : float
        Estimated cycles of the region; infinite if the machine cannot realise the order.
    reason : str
        Why it cannot.
    """

    stands_for: NestClass
    cycles: float
    reason: str = ""

    @property
    def order(self) -> tuple[str, ...]:
        return self.stands_for.order

    def covers(self, order: Sequence[str]) -> bool:
        """Whether an order gives the same graph."""
        try:
            self.stands_for.constraints.check(order)
        except OrderError:
            return False
        return True


def rank(region: FusedRegion, known: Known, limit: int) -> Iterator[RankedOrder]:
    """Estimate the first ``limit`` nest classes of a region, one at a time.

    Parameters
    ----------
    known : Known
        Statistics of everything that the region reads.
    """
    for found in islice(nest_classes(region), limit):
        try:
            cycles = estimate_region(compile_region(region, found.order), known).cycles
        except FuseloomError as reason:
            yield RankedOrder(found, float("inf"), str(reason))
        else:
            yield RankedOrder(found, float(cycles))


def ranked(found: list[RankedOrder]) -> list[RankedOrder]:
    """Cheapest first; equal ones stay as they were found."""
    return sorted(found, key=lambda entry: entry.cycles)
