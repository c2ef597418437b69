"""Dataflow orders of a region, one per nest class, by estimated cycles (``fusion.md`` §5.3)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from engine.dataflow.compiler import Compilation, CompiledRegion, compile_region
from engine.dataflow.cost import Mode
from engine.dataflow.cost.estimate import Known, estimate_region
from engine.dataflow.fusion.classes import NestClass, nest_classes
from engine.dataflow.fusion.region import FusedRegion
from engine.dataflow.sim.machine import Machine
from engine.errors import FuseloomError, OrderError
from engine.program.storage import check_data

MOST_CLASSES = 10_000
"""Nest classes of a region that are ranked, if there is time."""


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


@dataclass(frozen=True)
class BestOrders:
    """A program with its regions' best orders.

    Attributes
    ----------
    compilation : Compilation
    cut_short : tuple of str
        Regions of which not all nest classes were ranked, for lack of time.
    """

    compilation: Compilation
    cut_short: tuple[str, ...]


def best_orders(
    compilation: Compilation,
    data: Mapping[str, Any],
    *,
    seconds: float = 2.0,
    mode: Mode | str = Mode.AUTO,
    machine: Machine | None = None,
) -> BestOrders:
    """The same regions, each under the order with the fewest estimated cycles.

    Regions whose order the schedule names keep it.

    Parameters
    ----------
    data : mapping
        Every input by name; only its coordinates matter.
    seconds : float
        CPU time for ranking, shared out evenly among the regions that are left.  The first order
        that can be built is always among those ranked.

    Raises
    ------
    DataError
        If the data do not fit the program.
    """
    stored = check_data(compilation.program, data)
    known = Known.shared(compilation.program, stored, mode, machine)
    end = time.process_time() + seconds
    regions: list[CompiledRegion] = []
    cut: list[str] = []
    for number, compiled in enumerate(compilation.regions):
        left = max(end - time.process_time(), 0.0) / (len(compilation.regions) - number)
        best, whole = compiled, True
        if compiled.region.chosen is None:
            best, whole = _best(compiled, known, time.process_time() + left)
        if not whole:
            cut.append(compiled.name)
        estimate_region(best, known)  # notes what it writes, for the regions after it
        regions.append(best)
    return BestOrders(replace(compilation, regions=tuple(regions)), tuple(cut))


def _best(compiled: CompiledRegion, known: Known, end: float) -> tuple[CompiledRegion, bool]:
    """A region under its best order, and whether all of its nest classes were ranked."""
    least = estimate_region(compiled, known).cycles
    best = compiled
    for entry in rank(compiled.region, known, MOST_CLASSES):
        if entry.cycles < least:
            least, best = entry.cycles, compile_region(compiled.region, entry.order)
        if time.process_time() > end:
            return best, False
    return best, True
